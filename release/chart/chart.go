// Package chart renders and packages the Helm chart, with Helm's own code.
package chart

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	v2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"
)

// Render returns what helm template prints for a chart, which is a folder or an
// archive, without its notes.
func Render(chart, namespace string, values map[string]any) ([]byte, error) {
	loaded, err := load(chart)
	if err != nil {
		return nil, err
	}
	release := common.ReleaseOptions{Name: "operetta", Namespace: namespace, IsInstall: true, Revision: 1}
	all, err := util.ToRenderValues(loaded, values, release, nil)
	if err != nil {
		return nil, err
	}
	rendered, err := engine.Engine{Strict: true}.Render(loaded, all)
	if err != nil {
		return nil, err
	}
	var stream strings.Builder
	for _, name := range slices.Sorted(maps.Keys(rendered)) {
		if path.Ext(name) == ".yaml" {
			fmt.Fprintf(&stream, "---\n%s\n", rendered[name])
		}
	}
	return []byte(stream.String()), nil
}

// Package writes a chart as an archive into a folder, and returns its path. The
// version, as in v1.2.3, becomes that of the chart and of the image, unless it is "". The
// same chart gives the same bytes.
func Package(chart, version, folder string) (string, error) {
	loaded, err := load(chart)
	if err != nil {
		return "", err
	}
	if version != "" {
		loaded.Metadata.Version, loaded.Metadata.AppVersion = strings.TrimPrefix(version, "v"), version
	}
	if err := loaded.Validate(); err != nil {
		return "", err
	}
	// Or Helm takes the times of the checkout's files, and the same chart differs.
	epoch := time.Unix(0, 0)
	loaded.ModTime, loaded.SchemaModTime = epoch, epoch
	for _, files := range [][]*common.File{loaded.Raw, loaded.Templates, loaded.Files} {
		for _, file := range files {
			file.ModTime = epoch
		}
	}
	return chartutil.Save(loaded, folder)
}

func load(path string) (*v2.Chart, error) { return loader.Load(path) }
