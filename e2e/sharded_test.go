package e2e

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/e2e/cluster"
)

// rendered returns the objects of a kustomization by kind, namespace and name.
func rendered(t *testing.T, folder string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, document := range strings.Split(kubectl(t, "kustomize", folder), "\n---\n") {
		var object metav1.PartialObjectMetadata
		require.NoError(t, yaml.Unmarshal([]byte(document), &object))
		key := object.Kind + "/" + object.Namespace + "/" + object.Name
		require.NotContains(t, found, key)
		found[key] = strings.TrimSuffix(document, "\n") + "\n"
	}
	return found
}

// onlyIn returns the keys of what another does not have as it is.
func onlyIn(one, other map[string]string) []string {
	var keys []string
	for key, text := range one {
		if other[key] != text {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// TestShardsDifferFromDeployInTheirControllersOnly, and these are what operetta manifests
// --shards prints.
func TestShardsDifferFromDeployInTheirControllersOnly(t *testing.T) {
	whole, sharded := rendered(t, "../deploy"), rendered(t, "../deploy/overlays/sharded")
	var first, all []string
	for key := range whole {
		if strings.HasPrefix(key, "CompositeController/") {
			first, all = append(first, key), append(all, key, key+"-shard-1")
		}
	}
	slices.Sort(first)
	slices.Sort(all)
	require.Len(t, first, len(atTheTerminal))
	require.Equal(t, first, onlyIn(whole, sharded))
	require.Equal(t, all, onlyIn(sharded, whole))

	printed, err := exec.Command("../bin/operetta", "manifests", "--shards=2").Output()
	require.NoError(t, err)
	for _, document := range strings.Split(string(printed), "\n---\n") {
		var want, got map[string]any
		require.NoError(t, yaml.Unmarshal([]byte(document), &want))
		metadata := want["metadata"].(map[string]any)
		metadata["labels"].(map[string]any)["app.kubernetes.io/part-of"] = "operetta"
		key := fmt.Sprint("CompositeController//", metadata["name"])
		require.NoError(t, yaml.Unmarshal([]byte(sharded[key]), &got))
		require.Equal(t, want, got)
		all = slices.DeleteFunc(all, func(other string) bool { return other == key })
	}
	require.Empty(t, all, "they are not printed")
}

// TestEachShardHasItsMetacontroller compares them with the one without shards: they differ
// in names, selectors, labels and arguments.
func TestEachShardHasItsMetacontroller(t *testing.T) {
	deploy := t.TempDir()
	require.NoError(t, cluster.CopyWithoutNetwork("../deploy", deploy))
	whole, sharded := rendered(t, deploy+"/metacontroller"), rendered(t, deploy+"/overlays/sharded/metacontroller")
	const one, first, second = "StatefulSet/metacontroller/metacontroller", "StatefulSet/metacontroller/metacontroller", "StatefulSet/metacontroller/metacontroller-shard-1"
	const role = "Role/metacontroller/metacontroller-leader-election"
	require.Equal(t, []string{role, first}, onlyIn(whole, sharded))
	require.Equal(t, []string{role, first, second}, onlyIn(sharded, whole))
	require.Equal(t, whole[role], strings.Replace(sharded[role], "  - metacontroller-shard-1\n", "", 1), "the lease of the second")

	decode := func(text string) (set appsv1.StatefulSet) {
		require.NoError(t, yaml.UnmarshalStrict([]byte(text), &set))
		return set
	}
	var policy networkingv1.NetworkPolicy
	require.NoError(t, yaml.Unmarshal([]byte(rendered(t, deploy)["NetworkPolicy/operetta-system/operetta"]), &policy))
	pods, err := metav1.LabelSelectorAsSelector(policy.Spec.Ingress[0].From[0].PodSelector)
	require.NoError(t, err)
	for i, test := range []struct {
		key       string
		arguments []string
	}{
		{first, []string{"--target-label-selector=operetta.dev/shard notin (1)"}},
		{second, []string{"--target-label-selector=operetta.dev/shard=1", "--leader-election-id=metacontroller-shard-1"}},
	} {
		want, got := decode(whole[one]), decode(sharded[test.key])
		selector, err := metav1.LabelSelectorAsSelector(got.Spec.Selector)
		require.NoError(t, err)
		require.True(t, selector.Matches(labels.Set(got.Spec.Template.Labels)), "the API server refuses it")
		require.True(t, pods.Matches(labels.Set(got.Spec.Template.Labels)), "the server admits it")
		container := &want.Spec.Template.Spec.Containers[0]
		require.Contains(t, container.Args, "--leader-election")
		container.Args = append(container.Args, test.arguments...)
		shard := fmt.Sprint(i)
		if i > 0 { // that of the first cannot be changed where it is installed
			want.Name, want.Spec.Selector.MatchLabels["operetta.dev/shard"] = "metacontroller-shard-1", shard
		}
		want.Labels["operetta.dev/shard"], want.Spec.Template.Labels["operetta.dev/shard"] = shard, shard
		require.Equal(t, want, got)
	}
}
