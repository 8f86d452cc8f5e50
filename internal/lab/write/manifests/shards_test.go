package manifests

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"
)

// A custom resource that no shard selects would not be reconciled, and one that two select
// would be twice. The same holds for the CompositeControllers of each shard, and for one of
// somebody else.
func TestEachObjectHasOneShard(t *testing.T) {
	for n := 2; n <= 4; n++ {
		for _, label := range []string{"none", "", "0", "1", "2", "3", "4", "01", "x"} {
			set := labels.Set{ShardLabel: label}
			if label == "none" {
				set = labels.Set{"other": "label"}
			}
			var parents, controllers []int
			for _, s := range shardsOf(n) {
				selector, err := metav1.LabelSelectorAsSelector(s.parents())
				require.NoError(t, err)
				if selector.Matches(set) {
					parents = append(parents, s.Number)
				}
				if selector, err = labels.Parse(s.Controllers()); err == nil && selector.Matches(set) {
					controllers = append(controllers, s.Number)
				}
			}
			require.Len(t, parents, 1, "%d shards, label %q", n, label)
			require.Equal(t, parents, controllers, "%d shards, label %q", n, label)
			if number := slices.Index([]string{"0", "1", "2", "3"}[:n], label); number > 0 {
				require.Equal(t, []int{number}, parents)
			} else {
				require.Equal(t, []int{0}, parents)
			}
		}
	}
}

// TestShardsDifferInNothingElse compares the CompositeControllers of shards with the one
// without. The first has its name, which is part of the finalizers that there are.
func TestShardsDifferInNothingElse(t *testing.T) {
	whole, err := Operetta().CompositeController(full(), "")
	require.NoError(t, err)
	for _, n := range []int{0, 1} {
		none, err := Operetta().CompositeControllers(full(), "", n)
		require.NoError(t, err)
		require.Equal(t, string(whole), string(none))
	}
	stream, err := Operetta().CompositeControllers(full(), "", 3)
	require.NoError(t, err)
	var names []string
	for i, text := range bytes.Split(stream, []byte("---\n")) {
		var object unstructured.Unstructured
		require.NoError(t, yaml.UnmarshalStrict(text, &object.Object))
		names = append(names, object.GetName())
		require.Equal(t, fmt.Sprint(i), object.GetLabels()[ShardLabel])
		object.SetName("operetta-tune")
		unstructured.RemoveNestedField(object.Object, "metadata", "labels", ShardLabel)
		_, isThere, _ := unstructured.NestedMap(object.Object, "spec", "parentResource", "labelSelector")
		require.True(t, isThere)
		unstructured.RemoveNestedField(object.Object, "spec", "parentResource", "labelSelector")
		text, err := document(object.Object)
		require.NoError(t, err)
		require.Equal(t, string(whole), string(text))
	}
	require.Equal(t, []string{"operetta-tune", "operetta-tune-shard-1", "operetta-tune-shard-2"}, names)
}

func TestOverlayOfThreeShards(t *testing.T) {
	const whole = "resources: [namespace.yaml, crds, controllers, server]\nimages: [{name: a, newTag: v1}]\n"
	files, beside, err := Operetta().Overlay([]byte(whole), 3)
	require.NoError(t, err)
	require.Equal(t, []string{"namespace.yaml"}, beside)
	var root map[string]any
	require.NoError(t, yaml.UnmarshalStrict(files["kustomization.yaml"], &root))
	require.Equal(t, map[string]any{
		"resources": []any{"namespace.yaml", "../../crds", "shard-0", "shard-1", "shard-2", "../../server"},
		"images":    []any{map[string]any{"name": "a", "newTag": "v1"}},
	}, root)
	for _, path := range []string{"shard-0/", "shard-1/", "shard-2/", "metacontroller/", "metacontroller/copies/"} {
		var parsed map[string]any
		require.NoError(t, yaml.UnmarshalStrict(files[path+"kustomization.yaml"], &parsed), path)
		require.NotEmpty(t, parsed["resources"], path)
	}
	metacontrollers := string(files["metacontroller/kustomization.yaml"])
	for _, want := range []string{
		"--target-label-selector=operetta.dev/shard notin (1,2)", "--target-label-selector=operetta.dev/shard=1", "--target-label-selector=operetta.dev/shard=2",
		"--leader-election-id=metacontroller-shard-1", "--leader-election-id=metacontroller-shard-2",
		"value: metacontroller-shard-1\n", "value: metacontroller-shard-2\n",
	} {
		require.Equal(t, 1, strings.Count(metacontrollers, want), want)
	}
	require.Equal(t, 2, strings.Count(string(files["metacontroller/copies/statefulsets.yaml"]), "kind: StatefulSet\n"))
	_, _, err = Operetta().Overlay([]byte("["), 2)
	require.ErrorContains(t, err, "reading deploy/kustomization.yaml")
}

func TestCheckShards(t *testing.T) {
	for n, ok := range map[int]bool{-1: false, 0: true, 1: true, MaxShards: true, MaxShards + 1: false} {
		require.Equal(t, ok, CheckShards(n) == nil, n)
	}
}
