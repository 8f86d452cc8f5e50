package player

import (
	"maps"
	"slices"

	"github.com/operetta-dev/operetta/metacontroller"
)

var hidden = []string{"resourceVersion", "generation", "managedFields", "uid", "creationTimestamp", "deletionGracePeriodSeconds"}

// LastApplied are the annotations that repeat an object as Metacontroller or kubectl has applied it.
var LastApplied = []string{metacontroller.LastAppliedAnnotation, "kubectl.kubernetes.io/last-applied-configuration"}

// hiddenAnnotations are written with every change.
var hiddenAnnotations = append([]string{
	metacontroller.HashAnnotation, "deployment.kubernetes.io/revision", "deprecated.daemonset.template.generation",
}, LastApplied...)

func visibleMetadata(object Object) map[string]any {
	visible := map[string]any{}
	metadata, _ := object.Object["metadata"].(map[string]any)
	for key, value := range metadata {
		if slices.Contains(hidden, key) {
			continue
		}
		if annotations, ok := value.(map[string]any); ok && key == "annotations" {
			shown := map[string]any{}
			for name, text := range annotations {
				if !slices.Contains(hiddenAnnotations, name) {
					shown[name] = text
				}
			}
			value = shown
			if len(shown) == 0 {
				continue
			}
		}
		visible[key] = value
	}
	return visible
}

// Differences returns the changed fields in the order of the paths. It is empty for other events.
func (e Event) Differences() []Difference {
	switch {
	case e.Before == nil || e.Object == nil:
		return nil
	case e.Verb == Reported:
		return difference(nil, "status", e.Before.Object["status"], e.Object.Object["status"])
	case e.Verb == Changed:
		return Differences(e.Before, e.Object)
	}
	return nil
}

// Visible returns what of an object is told: all but its status, and the metadata that changes with
// every write.
func Visible(object Object) map[string]any {
	visible := maps.Clone(object.Object)
	delete(visible, "status")
	visible["metadata"] = visibleMetadata(object)
	return visible
}

// Hidden stands for the values of Secrets.
const Hidden = "(hidden)"
