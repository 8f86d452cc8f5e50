package apiserver

import (
	"fmt"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// serverSet are the members of metadata that only the server sets.
var serverSet = []string{
	"selfLink", "uid", "resourceVersion", "generation", "creationTimestamp",
	"deletionTimestamp", "deletionGracePeriodSeconds", "managedFields",
}

// KeepServerSet restores what only the server sets, and the status.
func KeepServerSet(object, old kube.Object) {
	metadata := object.Object["metadata"].(map[string]any)
	oldMetadata := old.Object["metadata"].(map[string]any)
	for _, field := range serverSet {
		keep(metadata, oldMetadata, field)
	}
	keep(object.Object, old.Object, "status")
}

// DropServerSet removes what only the server sets, and the status.
func DropServerSet(object kube.Object) {
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

// isGraceful reports whether deletion waits for a kubelet: a Pod on a node that has not ended.
func isGraceful(object kube.Object) bool {
	if object.GetKind() != "Pod" || object.GetAPIVersion() != "v1" {
		return false
	}
	node, _, _ := unstructured.NestedString(object.Object, "spec", "nodeName")
	phase, _, _ := unstructured.NestedString(object.Object, "status", "phase")
	return node != "" && phase != "Succeeded" && phase != "Failed"
}

// Patch changes an object by a merge patch (RFC 7386) in JSON. Errors are those
// of the API server, or that the patch is no JSON object.
func (s *Server) Patch(by Actor, ref kube.Ref, patch []byte) error {
	live, err := s.Live(ref)
	if err != nil {
		return err
	}
	changes, err := kube.ParseJSON(patch)
	if err != nil {
		return fmt.Errorf("the patch is no JSON object: %w", err)
	}
	object := kube.WithMetadata(&unstructured.Unstructured{Object: kube.MergePatch(live.Object, changes)})
	unstructured.RemoveNestedField(object.Object, "metadata", "resourceVersion")
	_, err = s.Update(by, object)
	return err
}
