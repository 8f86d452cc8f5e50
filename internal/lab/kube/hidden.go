package kube

import (
	"maps"
	"slices"

	"github.com/operetta-dev/operetta/metacontroller"
)

// Hidden stands for the values of Secrets.
const Hidden = "(hidden)"

// isSecretValue reports whether a field of a Secret may say something secret: all but its type, its
// names and its labels.
func isSecretValue(path []string) bool {
	switch {
	case len(path) == 0 || path[0] == "type" || path[0] == "immutable":
		return false
	case path[0] == "metadata":
		return len(path) == 1 || path[1] == "annotations"
	}
	return true
}

func hide(value any) any {
	if value == nil {
		return nil
	}
	return Hidden
}

// hidden are the members of metadata that change with every write.
var hidden = []string{"resourceVersion", "generation", "managedFields", "uid", "creationTimestamp", "deletionGracePeriodSeconds"}

// lastApplied are the annotations that repeat an object as Metacontroller or kubectl has applied it.
var lastApplied = []string{metacontroller.LastAppliedAnnotation, "kubectl.kubernetes.io/last-applied-configuration"}

// hiddenAnnotations are written with every change.
var hiddenAnnotations = append([]string{
	metacontroller.HashAnnotation, "deployment.kubernetes.io/revision", "deprecated.daemonset.template.generation",
}, lastApplied...)

// visible returns what of an object is compared: all but its status, and the metadata that changes
// with every write.
func visible(object Object) map[string]any {
	content := maps.Clone(object.Object)
	delete(content, "status")
	content["metadata"] = metadataWithout(object, hidden, hiddenAnnotations)
	return content
}

// IsSeenToDiffer reports whether two objects differ in anything but their status and the metadata that
// changes with every write.
func IsSeenToDiffer(a, b Object) bool {
	return !SameBut(a, b, "metadata", "status") ||
		!Equal(metadataWithout(a, hidden, hiddenAnnotations), metadataWithout(b, hidden, hiddenAnnotations))
}

// Shown returns what is shown of an object: no managed fields, no annotations that repeat it, and no
// values of a Secret.
func Shown(object Object) map[string]any {
	content := maps.Clone(object.Object)
	content["metadata"] = metadataWithout(object, []string{"managedFields"}, lastApplied)
	hideValues(object, content)
	return content
}

// Dumped returns what kubectl would print of an object, without the values of a Secret.
func Dumped(object Object) map[string]any {
	if !RefOf(object).Is(metacontroller.Secret) {
		return object.Object
	}
	content := maps.Clone(object.Object)
	content["metadata"] = metadataWithout(object, nil, lastApplied) // they repeat the values
	hideValues(object, content)
	return content
}

func hideValues(object Object, content map[string]any) {
	if !RefOf(object).Is(metacontroller.Secret) {
		return
	}
	for _, member := range []string{"data", "stringData"} {
		if values, ok := content[member].(map[string]any); ok {
			values = maps.Clone(values)
			for key := range values {
				values[key] = Hidden
			}
			content[member] = values
		}
	}
}

// metadataWithout returns a copy of an object's metadata without some members and annotations.
func metadataWithout(object Object, members, annotations []string) map[string]any {
	metadata, _ := object.Object["metadata"].(map[string]any)
	rest := make(map[string]any, len(metadata))
	for key, value := range metadata {
		if slices.Contains(members, key) {
			continue
		}
		if texts, ok := value.(map[string]any); ok && key == "annotations" {
			texts = maps.Clone(texts)
			for _, name := range annotations {
				delete(texts, name)
			}
			if len(texts) == 0 {
				continue
			}
			value = texts
		}
		rest[key] = value
	}
	return rest
}
