package metacontroller

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	// mostForeign is how much larger than four times its desired form an observed child may
	// be and is still updated. Its own annotations and managed fields need less.
	mostForeign = 256 << 10
	// mostForeignQuoted is how much more than twice of what the API server could quote of its
	// desired form that may be of the spec of an observed child. Defaults are less.
	mostForeignQuoted = 16 << 10
	// noForeign is the size of a spec that is not looked at: it is that of few values.
	noForeign = 4 << 10
)

// isSurelyRefused reports whether the API server would refuse each update of an observed
// child to its desired form, or might refuse it with a message as large as what others have
// written into the child: it quotes that, and Metacontroller keeps the message as an event.
func isSurelyRefused(observed, desired []byte) bool {
	if isTooLargeToUpdate(observed, desired) {
		return true
	}
	apiVersion, _ := text(lookup(desired, "apiVersion"))
	return strings.HasPrefix(apiVersion, "apps/") && hasOtherSelector(observed, lookup(desired, "spec", "selector"))
}

// mayBeTooLarge reports whether an observed child has so much in it that its desired form has
// to be looked at: of most it need not be encoded.
func mayBeTooLarge(observed []byte) bool {
	return len(observed) > mostForeign || quotedInSpec(observed) > mostForeignQuoted
}

// isTooLargeToUpdate reports whether an observed child is not updated for what others have
// written into it, see [isSurelyRefused]: an update can be refused for a value of theirs, such as
// the mount of a volume that is no more, and for thousands of them.
func isTooLargeToUpdate(observed, desired []byte) bool {
	if len(observed) > 4*len(desired)+mostForeign {
		return true
	}
	quoted := quotedInSpec(observed)
	return quoted > mostForeignQuoted && quoted > 2*(quotesOf(desired).size+quotedOfSources(desired))+mostForeignQuoted
}

// quotedInSpec returns how much the API server could quote of the spec of an observed child,
// or 0 where it is small.
func quotedInSpec(observed []byte) int {
	spec := lookup(observed, "spec")
	if len(spec) <= noForeign {
		return 0
	}
	return quotesOf(spec).size + quotedOfSources(spec)
}

// quotedOfSources returns how much the API server could quote of the sources of environment
// variables, of which it says nothing where they are created with the variable: an update can
// give a value to one to which somebody has given a source.
func quotedOfSources(raw []byte) int {
	return bytes.Count(raw, []byte(`"valueFrom":`)) * quotedPerText
}

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
