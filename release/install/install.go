// Package install renders deploy/ into one file, for all kinds or for some.
package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/resid"
	"sigs.k8s.io/yaml"
)

// Options are what may be different to deploy/. The zero value changes nothing.
type Options struct {
	// Kinds are the kinds to install, as in the paths of their hooks; none stands for
	// all. The server serves no others then.
	Kinds []string
	// Image and Tag are those of the server; "" leaves what deploy/ says.
	Image, Tag string
}

// perKind are the folders of deploy/ that have a file for each kind.
var perKind = []string{"crds", "rbac", "controllers"}

// Render returns the objects of a deploy folder as a YAML stream, as kubectl
// kustomize does.
func Render(deploy string, options Options) ([]byte, error) {
	files, err := load(deploy)
	if err != nil {
		return nil, err
	}
	if err := chooseKinds(files, options.Kinds); err != nil {
		return nil, err
	}
	if err := setImage(files, options); err != nil {
		return nil, err
	}
	objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, "/")
	if err != nil {
		return nil, err
	}
	return objects.AsYaml()
}

// Kinds returns the kinds that a deploy folder has.
func Kinds(deploy string) ([]string, error) {
	files, err := load(deploy)
	if err != nil {
		return nil, err
	}
	return kinds(files)
}

// load returns a copy of a folder in memory, in which files can be changed.
func load(folder string) (filesys.FileSystem, error) {
	files := filesys.MakeFsInMemory()
	err := fs.WalkDir(os.DirFS(folder), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || path.Ext(name) != ".yaml" {
			return err
		}
		content, err := os.ReadFile(path.Join(folder, name))
		if err != nil {
			return err
		}
		return files.WriteFile(path.Join("/", name), content)
	})
	return files, err
}

// kinds reads them from the list of CRDs.
func kinds(files filesys.FileSystem) ([]string, error) {
	var names []string
	err := edit(files, "/crds", func(k *types.Kustomization) {
		for _, file := range k.Resources {
			names = append(names, strings.TrimSuffix(file, ".yaml"))
		}
	})
	return names, err
}

// chooseKinds leaves out the files of the other kinds, and has the server serve
// these only.
func chooseKinds(files filesys.FileSystem, chosen []string) error {
	if len(chosen) == 0 {
		return nil
	}
	known, err := kinds(files)
	if err != nil {
		return err
	}
	for _, kind := range chosen {
		if !slices.Contains(known, kind) {
			return fmt.Errorf("there is no kind %q: write some of %s", kind, strings.Join(known, ","))
		}
	}
	chosen = slices.Compact(slices.Sorted(slices.Values(chosen)))
	for _, folder := range perKind {
		if err := edit(files, "/"+folder, func(k *types.Kustomization) {
			k.Resources = slices.DeleteFunc(k.Resources, func(file string) bool {
				return !slices.Contains(chosen, strings.TrimSuffix(file, ".yaml"))
			})
		}); err != nil {
			return err
		}
	}
	return edit(files, "/", func(k *types.Kustomization) {
		k.Patches = append(k.Patches, types.Patch{
			Target: &types.Selector{ResId: resid.ResId{Gvk: resid.Gvk{Kind: "Deployment"}, Name: "operetta"}},
			Patch:  "- {op: add, path: /spec/template/spec/containers/0/args/-, value: '--kinds=" + strings.Join(chosen, ",") + "'}",
		})
	})
}

// setImage changes name and tag of the only image.
func setImage(files filesys.FileSystem, options Options) error {
	var found int
	err := edit(files, "/", func(k *types.Kustomization) {
		found = len(k.Images)
		for i := range k.Images {
			if options.Image != "" {
				k.Images[i].NewName = options.Image
			}
			if options.Tag != "" {
				k.Images[i].NewTag = options.Tag
			}
		}
	})
	if err == nil && found != 1 {
		err = errors.New("the kustomization sets not one image")
	}
	return err
}

// edit changes the kustomization of a folder.
func edit(files filesys.FileSystem, folder string, change func(*types.Kustomization)) error {
	name := path.Join(folder, "kustomization.yaml")
	text, err := files.ReadFile(name)
	if err != nil {
		return err
	}
	var k types.Kustomization
	if err := yaml.UnmarshalStrict(text, &k); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	change(&k)
	if text, err = yaml.Marshal(k); err != nil {
		return err
	}
	return files.WriteFile(name, text)
}
