package apiserver

import (
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// serverSet are the members of metadata that only the server sets.
var serverSet = []string{
	"selfLink", "uid", "resourceVersion", "generation", "creationTimestamp",
	"deletionTimestamp", "deletionGracePeriodSeconds", "managedFields",
}

// KeepServerSet restores what only the server sets, and the status.
func KeepServerSet(object, old Object) {
	metadata := object.Object["metadata"].(map[string]any)
	oldMetadata := old.Object["metadata"].(map[string]any)
	for _, field := range serverSet {
		keep(metadata, oldMetadata, field)
	}
	keep(object.Object, old.Object, "status")
}

// DropServerSet removes what only the server sets, and the status.
func DropServerSet(object Object) {
	for _, field := range serverSet {
		unstructured.RemoveNestedField(object.Object, "metadata", field)
	}
	delete(object.Object, "status")
}

func keep(content, old map[string]any, field string) {
	if value, found := old[field]; found {
		content[field] = value
	} else {
		delete(content, field)
	}
}

// shallow returns a copy whose members can be replaced.
func shallow(object Object) Object {
	return &unstructured.Unstructured{Object: maps.Clone(object.Object)}
}

// SameBut reports whether two objects are equal except for those members: 1 and
// 1.0 differ, and so do an empty map and a missing one.
func SameBut(a, b Object, members ...string) bool {
	return sameKeys(a.Object, b.Object, members) && sameKeys(b.Object, a.Object, members)
}

func sameKeys(a, b map[string]any, without []string) bool {
	for key, value := range a {
		if !slices.Contains(without, key) && !reflect.DeepEqual(value, b[key]) {
			return false
		}
	}
	return true
}

// isGraceful reports whether deletion waits for a kubelet: a Pod on a node that
// has not ended.
func isGraceful(object Object) bool {
	if object.GetKind() != "Pod" || object.GetAPIVersion() != "v1" {
		return false
	}
	node, _, _ := unstructured.NestedString(object.Object, "spec", "nodeName")
	phase, _, _ := unstructured.NestedString(object.Object, "status", "phase")
	return node != "" && phase != "Succeeded" && phase != "Failed"
}

// nodePortsOf returns the node ports that a Service holds.
func nodePortsOf(object Object) []int64 {
	if object.GetKind() != "Service" || object.GetAPIVersion() != "v1" {
		return nil
	}
	ports, _, _ := unstructured.NestedSlice(object.Object, "spec", "ports")
	var held []int64
	for _, port := range ports {
		if fields, ok := port.(map[string]any); ok {
			if number, _ := fields["nodePort"].(int64); number != 0 {
				held = append(held, number)
			}
		}
	}
	return held
}
