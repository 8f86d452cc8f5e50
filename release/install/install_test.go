package install_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/operetta-dev/operetta/release/install"
	"github.com/operetta-dev/operetta/release/objects"
)

const deploy = "../../deploy"

// kustomized are the objects of `kubectl apply -k deploy/`.
func kustomized(t *testing.T) map[string]objects.Object {
	t.Helper()
	rendered, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), deploy)
	require.NoError(t, err)
	text, err := rendered.AsYaml()
	require.NoError(t, err)
	return parse(t, text)
}

func render(t *testing.T, options install.Options) map[string]objects.Object {
	t.Helper()
	text, err := install.Render(deploy, options)
	require.NoError(t, err)
	return parse(t, text)
}

func parse(t *testing.T, text []byte) map[string]objects.Object {
	t.Helper()
	parsed, err := objects.Parse(text)
	require.NoError(t, err)
	require.NotEmpty(t, parsed)
	return parsed
}

func TestTheFileHasTheObjectsOfTheKustomization(t *testing.T) {
	want := kustomized(t)
	got := render(t, install.Options{})
	require.Equal(t, keys(want), keys(got))
	for key := range want {
		require.Equal(t, want[key], got[key], key)
	}
	require.Contains(t, got, "Deployment/operetta-system/operetta")
}

func TestAKindThatIsNotChosenHasNoObject(t *testing.T) {
	all := render(t, install.Options{})
	known, err := install.Kinds(deploy)
	require.NoError(t, err)
	require.Len(t, known, 6)
	for _, kind := range known {
		some := render(t, install.Options{Kinds: []string{kind}})
		count := map[string]int{}
		for key, object := range some {
			count[object.Kind()]++
			if object.Kind() != "Deployment" {
				require.Equal(t, all[key], object, key)
			}
			for _, other := range known {
				require.False(t, other != kind && strings.Contains(key, other), key)
			}
		}
		require.Equal(t, 1, count["CustomResourceDefinition"])
		require.Equal(t, 1, count["CompositeController"])
		require.Equal(t, 1, count["ClusterRoleBinding"])
		require.Equal(t, 3, count["ClusterRole"], "Metacontroller's, to view and to edit")
		require.Equal(t, 1, count["Service"])
		require.Equal(t, append(args(all), "--kinds="+kind), args(some))
	}
	two := render(t, install.Options{Kinds: []string{"podset", "build", "podset"}})
	require.Equal(t, append(args(all), "--kinds=build,podset"), args(two))
	require.Contains(t, two, "CompositeController//operetta-build")
	require.Contains(t, two, "CompositeController//operetta-podset")
}

func TestTheImageCanBeAnother(t *testing.T) {
	want := render(t, install.Options{})
	got := render(t, install.Options{Image: "registry.example.com/operetta", Tag: "v9.9.9"})
	container(got)["image"] = container(want)["image"]
	require.Equal(t, want, got, "the image is all that differs")
	got = render(t, install.Options{Image: "registry.example.com/operetta", Tag: "v9.9.9"})
	require.Equal(t, "registry.example.com/operetta:v9.9.9", container(got)["image"])
}

func TestAnUnknownKindIsRefused(t *testing.T) {
	_, err := install.Render(deploy, install.Options{Kinds: []string{"podset", "podsets"}})
	require.EqualError(t, err, `there is no kind "podsets": write some of build,dataservice,modelbox,myjob,podbuggertool,podset`)
}

func keys(all map[string]objects.Object) []string {
	var found []string
	for key := range all {
		found = append(found, key)
	}
	slices.Sort(found)
	return found
}

func container(all map[string]objects.Object) map[string]any {
	return all["Deployment/operetta-system/operetta"].Container()
}

func args(all map[string]objects.Object) []any { return slices.Clone(container(all)["args"].([]any)) }
