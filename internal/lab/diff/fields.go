package diff

import (
	"slices"
	"strings"

	"github.com/operetta-dev/operetta/internal/lab/kube"
)

// Hidden stands for a value of a Secret.
const Hidden = kube.Hidden

// Field is a field in which an object differs.
type Field struct {
	// Path is as in spec.template.spec.containers[web].image.
	Path string `json:"path"`
	// Before and After are its values, nil where there is none, or Hidden.
	Before any `json:"before,omitempty"`
	After  any `json:"after,omitempty"`
	// Drift is set where the base has the same difference.
	Drift bool `json:"drift,omitempty"`
}

// fieldsOf returns in what two objects differ, but for their status, and for paths that are ignored.
func fieldsOf(before, after kube.Object, ignored []string) []Field {
	return asFields(kube.Comparison{Ignored: ignored, Each: true}.Objects(before, after))
}

// statusFields returns in what two statuses differ, but for times and for the generation, which
// Metacontroller writes.
func statusFields(before, after kube.Object, ignored []string) []Field {
	list := kube.Comparison{Ignored: ignored, Each: true}.Status(before, after)
	return asFields(slices.DeleteFunc(list, func(d kube.Difference) bool {
		return d.Path == "status.observedGeneration" || strings.HasPrefix(d.Path, "status.conditions[") &&
			(strings.HasSuffix(d.Path, "].lastTransitionTime") || strings.HasSuffix(d.Path, "].observedGeneration"))
	}))
}

func asFields(list []kube.Difference) (fields []Field) {
	for _, d := range list {
		fields = append(fields, Field{Path: d.Path, Before: d.Before, After: d.After})
	}
	return fields
}
