package deploy_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/operetta-dev/operetta/deploy/images"
)

type kustomization struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Namespace  string   `json:"namespace"`
	Resources  []string `json:"resources"`
	Components []string `json:"components"`
	Patches    []struct {
		Path   string         `json:"path"`
		Patch  string         `json:"patch"`
		Target map[string]any `json:"target"`
	} `json:"patches"`
	Images []struct {
		Name   string `json:"name"`
		NewTag string `json:"newTag"`
	} `json:"images"`
	Labels       []any  `json:"labels"`
	NameSuffix   string `json:"nameSuffix"`
	Replacements []any  `json:"replacements"`
}

// What a kustomization.yaml does not list is not installed, and nobody notices.
func TestEveryFileIsListed(t *testing.T) {
	var files []string
	for _, pattern := range []string{"*/kustomization.yaml", "overlays/*/kustomization.yaml", "overlays/*/*/kustomization.yaml", "overlays/*/*/*/kustomization.yaml", "components/*/kustomization.yaml"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, found)
		files = append(files, found...)
	}
	for _, file := range files {
		folder := filepath.Dir(file)
		k := read[kustomization](t, file)
		listed := slices.Clone(k.Resources)
		for _, patch := range k.Patches {
			if patch.Path != "" {
				listed = append(listed, patch.Path)
			}
		}
		for _, name := range listed {
			if !strings.Contains(name, "://") {
				_, err := os.Stat(filepath.Join(folder, name))
				require.NoError(t, err, file)
			}
		}
		present, err := filepath.Glob(folder + "/*.yaml")
		require.NoError(t, err)
		for _, path := range present {
			if path != file {
				require.Contains(t, listed, filepath.Base(path), file)
			}
		}
	}
	for _, folder := range read[kustomization](t, "kustomization.yaml").Resources {
		_, err := os.Stat(folder)
		require.NoError(t, err)
	}
}

func TestTheImageHasOneTagAndItIsARelease(t *testing.T) {
	images := read[kustomization](t, "kustomization.yaml").Images
	require.Len(t, images, 1)
	require.Regexp(t, `^v\d+\.\d+\.\d+$`, images[0].NewTag)
	require.Equal(t, images[0].Name, deployment(t).Spec.Template.Spec.Containers[0].Image)
}

func TestMetacontrollerIsPinnedAndHasNoWildcard(t *testing.T) {
	k := read[kustomization](t, "metacontroller/kustomization.yaml")
	_, ref, found := strings.Cut(k.Resources[0], "?ref=")
	require.True(t, found)
	require.Regexp(t, "^[0-9a-f]{40}$", ref, "a commit, for a tag can be moved")
	text, err := os.ReadFile("metacontroller/kustomization.yaml")
	require.NoError(t, err)
	_, version, _ := strings.Cut(string(text), ref+" # ")
	version, _, _ = strings.Cut(version, "\n")
	image, _, _ := strings.Cut(images.Of("metacontroller"), "@")
	require.Equal(t, "ghcr.io/metacontroller/metacontroller:"+version, image, "the commit's version is the image's")

	role := read[rbacv1.ClusterRole](t, "metacontroller/clusterrole.yaml")
	require.Equal(t, "metacontroller", role.Name, "the name of the one that it replaces")
	require.NotEmpty(t, role.Rules)
	for _, rule := range role.Rules {
		for _, list := range [][]string{rule.APIGroups, rule.Resources, rule.Verbs} {
			require.NotContains(t, list, "*")
		}
		require.NotContains(t, rule.Resources, "secrets")
	}
	requireRestricted(t, read[appsv1.StatefulSet](t, "metacontroller/statefulset.yaml").Spec.Template.Spec)
}
