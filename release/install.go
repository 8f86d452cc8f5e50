package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/resid"
	"sigs.k8s.io/yaml"
)

// ownImage is the name of the server's image in deploy/.
const ownImage = "ghcr.io/operetta-dev/operetta"

// makeInstall writes deploy/ as one file, and the Helm chart as an archive.
func makeInstall(_ context.Context, f flags) error {
	var kinds []string
	if f.kinds != "" {
		kinds = strings.Split(f.kinds, ",")
	}
	text, err := install(filepath.Join(f.root, "deploy"), kinds, f.image, f.source.version)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		return err
	}
	file := filepath.Join(f.out, "install.yaml")
	header := "# Operetta without Metacontroller, whose CRDs must be there before: kubectl apply -f install.yaml\n"
	if err := os.WriteFile(file, append([]byte(header), text...), 0o644); err != nil {
		return err
	}
	packaged, err := packageChart(filepath.Join(f.root, "deploy/charts/operetta"), f.source.version, f.out)
	if err != nil {
		return fmt.Errorf("the chart: %w", err)
	}
	fmt.Fprintf(os.Stdout, "%s\n%s\n", file, packaged)
	return nil
}

// install returns the objects of a deploy folder as kubectl kustomize does, for some kinds only and with
// another name or tag of the image, where these are given.
func install(deploy string, kinds []string, image, tag string) ([]byte, error) {
	files := filesys.MakeFsInMemory()
	if err := fs.WalkDir(os.DirFS(deploy), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || path.Ext(name) != ".yaml" {
			return err
		}
		content, err := os.ReadFile(filepath.Join(deploy, name))
		if err != nil {
			return err
		}
		return files.WriteFile(path.Join("/deploy", name), content)
	}); err != nil {
		return nil, err
	}
	wanted := types.Kustomization{Resources: []string{"../deploy"}, Images: []types.Image{{Name: ownImage, NewName: image, NewTag: tag}}}
	if image == "" && tag == "" {
		wanted.Images = nil
	}
	if len(kinds) > 0 {
		kinds = slices.Compact(slices.Sorted(slices.Values(kinds)))
		for _, folder := range []string{"crds", "rbac", "controllers"} {
			if err := choose(files, "/deploy/"+folder+"/kustomization.yaml", kinds); err != nil {
				return nil, err
			}
		}
		wanted.Patches = []types.Patch{{ // the server serves no others then
			Target: &types.Selector{ResId: resid.ResId{Gvk: resid.Gvk{Kind: "Deployment"}, Name: "operetta"}},
			Patch:  "- {op: add, path: /spec/template/spec/containers/0/args/-, value: '--kinds=" + strings.Join(kinds, ",") + "'}",
		}}
	}
	text, err := yaml.Marshal(wanted)
	if err != nil {
		return nil, err
	}
	if err := files.WriteFile("/wanted/kustomization.yaml", text); err != nil {
		return nil, err
	}
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionLegacy // kubectl's order
	objects, err := krusty.MakeKustomizer(options).Run(files, "/wanted")
	if err != nil {
		return nil, err
	}
	return objects.AsYaml()
}

// choose has a kustomization with a file for each kind name those of some kinds.
func choose(files filesys.FileSystem, name string, kinds []string) error {
	text, err := files.ReadFile(name)
	if err != nil {
		return err
	}
	var all types.Kustomization
	if err := yaml.UnmarshalStrict(text, &all); err != nil {
		return err
	}
	known := all.Resources
	all.Resources = nil
	for _, kind := range kinds {
		if !slices.Contains(known, kind+".yaml") {
			return fmt.Errorf("there is no kind %q: write some of %s", kind, strings.ReplaceAll(strings.Join(known, ","), ".yaml", ""))
		}
		all.Resources = append(all.Resources, kind+".yaml")
	}
	if text, err = yaml.Marshal(all); err != nil {
		return err
	}
	return files.WriteFile(name, text)
}

// packageChart writes a chart as an archive into a folder, and returns its path. The version, as in v1.2.3,
// becomes that of the chart and of the image. The same chart gives the same bytes.
func packageChart(folder, version, to string) (string, error) {
	chart, err := loader.Load(folder)
	if err != nil {
		return "", err
	}
	if version != "" {
		chart.Metadata.Version, chart.Metadata.AppVersion = strings.TrimPrefix(version, "v"), version
	}
	if err := chart.Validate(); err != nil {
		return "", err
	}
	// Or Helm takes the times of the checkout's files, and the same chart differs.
	epoch := time.Unix(0, 0)
	chart.ModTime, chart.SchemaModTime = epoch, epoch
	for _, files := range [][]*common.File{chart.Raw, chart.Templates, chart.Files} {
		for _, file := range files {
			file.ModTime = epoch
		}
	}
	return chartutil.Save(chart, to)
}
