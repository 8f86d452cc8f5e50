package operettatest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/internal/lab/kube"
	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/internal/testenv"
)

// strangers are the ways in which an application of somebody else may have the names of children.
var strangers = []struct {
	name                   string
	sameSelector, hasOwner bool
}{
	{name: "another selector"},
	{name: "the same selector", sameSelector: true},
	{name: "another selector and an owner", hasOwner: true},
	{name: "the same selector and an owner", sameSelector: true, hasOwner: true},
}

// whatBelongsTogether runs an application of somebody else before each sample, with the names of a
// workload and of what points at its Pods or is mounted by them. All of it is taken over or none:
// a Service that is taken over alone leads to no Pod any more.
func (k kind) whatBelongsTogether(t *testing.T) {
	k.eachSample(t, func(t *testing.T, sample corpus.Sample) {
		for _, together := range applications(t, sample, k.world(player.DynamicApply, "v2")) {
			for _, apply := range strategies {
				for _, stranger := range strangers {
					name := fmt.Sprintf("%s/%s with %s", apply, together[0].GetName(), stranger.name)
					if !testenv.Often(sample.Name+name, 5) {
						continue
					}
					t.Run(name, func(t *testing.T) {
						t.Parallel()
						world := k.world(apply, "v2")
						owner := ownerIn(t, world, together[0].GetNamespace())
						var objects [][]byte
						for _, child := range together {
							strange := strangeObject(t, child, stranger.sameSelector)
							if stranger.hasOwner {
								strange.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(owner, owner.GroupVersionKind())})
							}
							text, err := strange.MarshalJSON()
							require.NoError(t, err)
							objects = append(objects, text)
						}
						requireTogether(t, sample, world, objects)
					})
				}
			}
		}
	})
}

// applications returns the workloads that come of a sample, each with what belongs to it.
func applications(t *testing.T, sample corpus.Sample, world *player.World) (all [][]Object) {
	for _, text := range sample.Objects() {
		require.NoError(t, world.Apply(text))
	}
	require.NoError(t, world.Play())
	var children []Object
	for _, parent := range world.Parents() {
		children = append(children, world.Owned(parent)...)
	}
	for _, workload := range children {
		pods, runsPods, _ := unstructured.NestedMap(workload.Object, "spec", "template")
		if _, selects, _ := unstructured.NestedMap(workload.Object, "spec", "selector"); !runsPods || !selects {
			continue
		}
		together := []Object{workload}
		for _, child := range children {
			if child != workload && belongsTo(child, pods) {
				together = append(together, child)
			}
		}
		if len(together) > 1 {
			all = append(all, together)
		}
	}
	return all
}

// belongsTo reports whether an object selects the Pods of a template, or is mounted by them.
func belongsTo(child Object, template object) bool {
	wanted, _, _ := unstructured.NestedStringMap(template, "metadata", "labels")
	if _, selector := selectorOf(child); len(selector) > 0 {
		return labels.SelectorFromSet(selector).Matches(labels.Set(wanted))
	}
	volumes, _, _ := unstructured.NestedSlice(template, "spec", "volumes")
	return child.GetKind() == "ConfigMap" && slices.ContainsFunc(volumes, func(volume any) bool {
		name, _, _ := unstructured.NestedString(volume.(object), "configMap", "name")
		return name == child.GetName()
	})
}

// selectorOf returns the labels of the Pods that an object selects, and where it has them: as a
// Service, a PodDisruptionBudget or a NetworkPolicy.
func selectorOf(child Object) (path []string, selector map[string]string) {
	for _, path := range [][]string{{"spec", "selector", "matchLabels"}, {"spec", "podSelector", "matchLabels"}, {"spec", "selector"}} {
		if selector, found, err := unstructured.NestedStringMap(child.Object, path...); found && err == nil {
			return path, selector
		}
	}
	return nil, nil
}

// ownerIn returns an object that somebody else's may belong to.
func ownerIn(t *testing.T, world *player.World, namespace string) Object {
	ref := kube.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: namespace, Name: "of-somebody-else"}
	require.NoError(t, world.Apply([]byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"of-somebody-else","namespace":"`+namespace+`"}}`)))
	return world.Get(ref)
}

// strangeObject returns an object of the kind and name of a child that somebody else has written.
func strangeObject(t *testing.T, child Object, sameSelector bool) Object {
	strange := child.DeepCopy()
	delete(strange.Object, "status")
	strange.Object["metadata"] = object{"name": child.GetName(), "namespace": child.GetNamespace()}
	for _, chosen := range []string{"clusterIP", "clusterIPs", "healthCheckNodePort"} {
		if value, _, _ := unstructured.NestedString(strange.Object, "spec", chosen); value != "None" {
			unstructured.RemoveNestedField(strange.Object, "spec", chosen)
		}
	}
	if path, _ := selectorOf(child); path != nil && !sameSelector {
		other := object{"app": "of-somebody-else"}
		require.NoError(t, unstructured.SetNestedMap(strange.Object, other, path...))
		if _, runsPods, _ := unstructured.NestedMap(strange.Object, "spec", "template"); runsPods {
			require.NoError(t, unstructured.SetNestedMap(strange.Object, runtime.DeepCopyJSON(other), "spec", "template", "metadata", "labels"))
		}
	}
	return strange
}

// requireTogether plays a sample where somebody else's objects are, and deletes it.
func requireTogether(t *testing.T, sample corpus.Sample, world *player.World, strange [][]byte) {
	for _, text := range strange {
		require.NoError(t, world.Apply(text))
	}
	require.NoError(t, world.Play())
	for _, text := range sample.Objects() {
		require.NoError(t, world.Apply(text))
	}
	require.NoError(t, world.Play())
	var taken, left []kube.Ref
	for _, text := range strange {
		object, err := kube.ParseObject(text)
		require.NoError(t, err)
		if ref := kube.RefOf(object); world.IsChild(world.Get(ref)) {
			taken = append(taken, ref)
		} else {
			left = append(left, ref)
		}
	}
	require.True(t, len(taken) == 0 || len(left) == 0, "%s of somebody else is taken over, and %s is not", taken, left)
	world.DeleteParents()
	require.NoError(t, world.Play())
	for _, ref := range left {
		require.NotNil(t, world.Get(ref), "%s of somebody else is deleted", ref)
	}
}
