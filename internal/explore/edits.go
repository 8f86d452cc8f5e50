package explore

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/operetta-dev/operetta/internal/crd"
	"github.com/operetta-dev/operetta/internal/simulate"
)

// Edit is a change of a custom resource. There are thousands of a kind, so that it is made
// when it is wanted.
type Edit struct {
	// Path is the field, as in spec.ports[0].name.
	Path string

	base  map[string]any // which is not changed
	field []step         // nil for a value that is the whole custom resource
	value any
}

// Object returns the custom resource after the edit.
func (e Edit) Object() map[string]any {
	if e.field == nil {
		return runtime.DeepCopyJSON(e.value.(map[string]any))
	}
	object := runtime.DeepCopyJSON(e.base)
	put(object, e.field, e.value)
	return object
}

// Patch returns the edit as a merge patch.
func (e Edit) Patch() map[string]any {
	before, _ := e.base["spec"].(map[string]any)
	after, _ := e.Object()["spec"].(map[string]any)
	return map[string]any{"spec": patchOf(before, after)}
}

// Edits returns changes of every field of the scenario's custom resource, one field at a
// time, in a fixed order, and its other versions. The fields are those of the schema, whether
// or not the custom resource has them. [Scenario.Admits] says which of the edits the
// CRD admits. Where the context ends before, some are left out.
func (s *Scenario) Edits(ctx context.Context) ([]Edit, error) {
	parent, err := s.stored(ctx)
	if err != nil {
		return nil, err
	}
	var edits []Edit
	if controller := s.controllerOf(parent); len(controller.CRD) > 0 {
		written, err := crd.Written(controller.CRD, controller.Parent.Version())
		if err != nil {
			return nil, err
		}
		root, _, err := unstructured.NestedMap(written, "properties", "spec")
		if err != nil {
			return nil, err
		}
		eachField([]step{newStep("spec", root)}, func(path []step) {
			if ctx.Err() == nil {
				edits = append(edits, editsOf(parent.Object, path)...)
			}
		})
	}
	for i, text := range s.Versions {
		version, err := simulate.ParseObject(text)
		if err != nil {
			return nil, err
		}
		edits = append(edits, Edit{Path: fmt.Sprintf("version %d", i+2), base: parent.Object, value: version.Object})
	}
	return edits, nil
}

// step is a part of a path: the name of a field, or "" for the first item of a
// list, and its schema.
type step struct {
	name   string
	schema map[string]any
	// required is an object with what the schema requires.
	required map[string]any
}

func newStep(name string, schema map[string]any) step {
	return step{name, schema, withRequired(schema)}
}

// eachField calls visit with a field, and then with its members.
func eachField(path []step, visit func(path []step)) {
	schema := path[len(path)-1].schema
	if len(path) > 1 {
		visit(path)
	}
	properties, _ := schema["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if inner, ok := properties[name].(map[string]any); ok {
			eachField(append(slices.Clone(path), newStep(name, inner)), visit)
		}
	}
	if items, ok := schema["items"].(map[string]any); ok && items["type"] == "object" {
		eachField(append(slices.Clone(path), newStep("", items)), visit)
	}
}

// editsOf returns edits of the values of a field.
func editsOf(base map[string]any, path []step) []Edit {
	last := path[len(path)-1]
	if last.name == "" {
		return nil // it was tried as a list of one
	}
	var edits []Edit
	for _, value := range append(valuesOf(last.schema, 0), remove{}) {
		edit := Edit{Path: pathText(path), base: base, field: path, value: value}
		if object := runtime.DeepCopyJSON(base); !asksForTooMany(last.name, value) && put(object, path, value) && !simulate.Equal(object, base) {
			edits = append(edits, edit)
		}
	}
	return edits
}

// podCounts are the fields with numbers of Pods. A world of thousands shows
// nothing more than one of twenty, and takes a minute.
var podCounts = []string{"replica", "replicas", "size", "parallelism", "completions"}

const mostPods = 20

func asksForTooMany(field string, value any) bool {
	count, isNumber := value.(int64)
	return isNumber && count > mostPods && slices.Contains(podCounts, field)
}
