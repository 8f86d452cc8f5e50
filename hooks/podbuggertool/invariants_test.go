package podbuggertool_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/hooks/podbuggertool"
	"github.com/operetta-dev/operetta/metacontroller"
)

// TestAnAdoptionIsNoWriteOfTheHook: Metacontroller adopts a RoleBinding that has its label
// again before it asks the hook, which has it deleted.
func TestAnAdoptionIsNoWriteOfTheHook(t *testing.T) {
	binding := func(owned bool, subject string) *unstructured.Unstructured {
		object := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
			"metadata": map[string]any{"name": "podbuggertool-toolbox", "namespace": "default"},
			"subjects": []any{map[string]any{"kind": "ServiceAccount", "name": subject}},
		}}
		if owned {
			isController := true
			object.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "apps.jicki.cn/v1alpha1", Kind: "PodBuggerTool", Name: "toolbox", UID: "u", Controller: &isController}})
		}
		return object
	}
	watch := podbuggertool.Controller().Invariants.Watch
	for name, c := range map[string]struct {
		before, after *unstructured.Unstructured
		isBroken      bool
	}{
		"adopted":             {binding(false, "a"), binding(true, "a"), false},
		"adopted and changed": {binding(false, "a"), binding(true, "b"), true},
		"changed":             {binding(true, "a"), binding(true, "b"), true},
		"created":             {nil, binding(true, "a"), true},
	} {
		t.Run(name, func(t *testing.T) {
			said := watch()(metacontroller.Write{
				Before: c.before, After: c.after, By: "the hook",
				Cached: func(string, string, string, string) *unstructured.Unstructured { return nil },
			})
			require.Equal(t, c.isBroken, said != "", said)
		})
	}
}
