package metacontroller

import (
	"encoding/json"
	"reflect"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// mostForeign is how much larger than four times its desired form an observed child may be
// and is still updated. Its own annotations and managed fields need less.
const mostForeign = 256 << 10

// isSurelyRefused reports whether the API server would refuse each update of an observed
// child to its desired form, or might refuse it with a message as large as what others have
// written into the child: it quotes that, and Metacontroller keeps the message as an event.
func isSurelyRefused(observed, desired []byte) bool {
	if isTooLargeToUpdate(len(observed), len(desired)) {
		return true
	}
	apiVersion, _ := text(lookup(desired, "apiVersion"))
	return strings.HasPrefix(apiVersion, "apps/") && hasOtherSelector(observed, lookup(desired, "spec", "selector"))
}

// isTooLargeToUpdate reports whether an observed child of so many bytes is not updated, see
// [isSurelyRefused].
func isTooLargeToUpdate(observed, desired int) bool { return observed > 4*desired+mostForeign }

// hasOtherSelector reports whether an observed workload has another selector than is wanted.
// It cannot be changed, and Metacontroller merges the desired one into that of an object
// which it has adopted.
func hasOtherSelector(observed, wanted []byte) bool {
	was := lookup(observed, "spec", "selector")
	if was == nil || wanted == nil || string(was) == string(wanted) {
		return false
	}
	var before, after any
	return json.Unmarshal(was, &before) == nil && json.Unmarshal(wanted, &after) == nil && !reflect.DeepEqual(before, after)
}

// selectorOf returns the selector of a desired workload in JSON, or nil.
func selectorOf(desired Object) ([]byte, error) {
	var selector *metav1.LabelSelector
	switch workload := desired.(type) {
	case *appsv1.Deployment:
		selector = workload.Spec.Selector
	case *appsv1.StatefulSet:
		selector = workload.Spec.Selector
	case *appsv1.DaemonSet:
		selector = workload.Spec.Selector
	case *unstructured.Unstructured:
		if !strings.HasPrefix(workload.GetAPIVersion(), "apps/") {
			return nil, nil
		}
		spec, _ := workload.Object["spec"].(map[string]any)
		if spec["selector"] == nil {
			return nil, nil
		}
		return json.Marshal(spec["selector"])
	}
	if selector == nil {
		return nil, nil
	}
	return json.Marshal(selector)
}
