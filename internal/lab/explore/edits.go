package explore

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Edit is a change of the spec of a custom resource.
type Edit struct {
	// Path is the field, as in spec.ports[0].name.
	Path string

	base, spec map[string]any // the custom resource, and the merge patch of its spec
}

// Patch returns the edit as a merge patch.
func (e Edit) Patch() map[string]any { return map[string]any{"spec": e.spec} }

// Object returns the custom resource after the edit.
func (e Edit) Object() map[string]any { return kube.MergePatch(e.base, e.Patch()) }

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
	before, _ := parent.Object["spec"].(map[string]any)
	add := func(path string, after map[string]any) {
		if patch := patchOf(before, after); len(patch) > 0 {
			edits = append(edits, Edit{path, parent.Object, patch})
		}
	}
	if controller := s.controllerOf(parent); controller.CRD != nil {
		written, err := writtenSchema(controller)
		if err != nil {
			return nil, err
		}
		schema, _, err := unstructured.NestedMap(written, "properties", "spec")
		if err != nil {
			return nil, err
		}
		object := before
		if object == nil {
			object = withRequired(schema)
		}
		eachEdit(schema, object, "spec", func(path string, after map[string]any) {
			if ctx.Err() == nil {
				add(path, after)
			}
		})
	}
	for i, text := range s.Versions {
		version, err := kube.ParseObject(text)
		if err != nil {
			return nil, err
		}
		after, _ := version.Object["spec"].(map[string]any)
		add(fmt.Sprintf("version %d", i+2), after)
	}
	return edits, nil
}

// eachEdit visits an object with each value of each of its fields, and of the fields below.
func eachEdit(schema, object map[string]any, path string, visit func(path string, object map[string]any)) {
	properties, _ := schema["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		field, ok := properties[name].(map[string]any)
		if !ok {
			continue
		}
		path := path + "." + name
		set := func(path string, value any) {
			changed := maps.Clone(object)
			changed[name] = value
			visit(path, changed)
		}
		for _, value := range valuesOf(field, 0) {
			if !asksForTooMany(name, value) && !isEmptied(field, object[name], value) {
				set(path, value)
			}
		}
		if object[name] != nil {
			without := maps.Clone(object)
			if delete(without, name); !isEmptied(schema, object, without) {
				visit(path, without)
			}
		}
		inner, _ := object[name].(map[string]any)
		if inner == nil {
			inner = withRequired(field)
		}
		eachEdit(field, inner, path, func(path string, inner map[string]any) { set(path, inner) })
		eachEditOfFirst(field, object[name], path, set)
	}
}

// isEmptied reports whether an object of an embedded type of Pods would lose all that it has. A union
// that has lost its member is refused when it is created, and under server-side apply lost when it
// is updated.
func isEmptied(schema map[string]any, before, after any) bool {
	old, _ := before.(map[string]any)
	now, isObject := after.(map[string]any)
	return isObject && len(now) == 0 && len(old) > 0 && schema[ofPod] == true
}

// eachEditOfFirst visits a list with the edits of its first item.
func eachEditOfFirst(schema map[string]any, value any, path string, set func(path string, value any)) {
	items, _ := schema["items"].(map[string]any)
	if items == nil || items["type"] != "object" {
		return
	}
	list, _ := value.([]any)
	if len(list) == 0 {
		list = []any{withRequired(items)}
	}
	if first, ok := list[0].(map[string]any); ok {
		eachEdit(items, first, path+"[0]", func(path string, item map[string]any) {
			set(path, slices.Concat([]any{item}, list[1:]))
		})
	}
}

// podCounts are the fields with numbers of Pods. A world of thousands shows
// nothing more than one of twenty, and takes a minute.
var podCounts = []string{"replica", "replicas", "size", "parallelism", "completions"}

const mostPods = 20

func asksForTooMany(field string, value any) bool {
	count, isNumber := value.(int64)
	return isNumber && count > mostPods && slices.Contains(podCounts, field)
}

// patchOf returns the merge patch that makes one object the other.
func patchOf(from, to map[string]any) map[string]any {
	patch := map[string]any{}
	for key := range from {
		if _, stays := to[key]; !stays {
			patch[key] = nil
		}
	}
	for key, value := range to {
		old, oldIsMap := from[key].(map[string]any)
		now, nowIsMap := value.(map[string]any)
		switch {
		case oldIsMap && nowIsMap:
			if inner := patchOf(old, now); len(inner) > 0 {
				patch[key] = inner
			}
		case !kube.Equal(from[key], value):
			patch[key] = runtime.DeepCopyJSONValue(value)
		}
	}
	return patch
}
