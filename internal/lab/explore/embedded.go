package explore

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/operetta-dev/operetta/internal/lab/cluster/apiserver"
	"github.com/operetta-dev/operetta/internal/lab/kube"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/operetta-dev/operetta/internal/crd"
	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// isOfTemplate reports whether all that fails is children that the API server refuses for what the
// user wrote into an embedded type of Pods, and Ready names them. A CRD does not repeat what
// Kubernetes checks of a Pod; what is refused of a kind's own fields is the operator's mistake.
func (r *Run) isOfTemplate(outcome player.Outcome) bool {
	if outcome.Reason != operator.ReasonChildBlocked && outcome.Reason != operator.ReasonUpdateBlocked {
		return false
	}
	isTold := false
	for child, refusal := range r.refused {
		if refusal.Parent != kube.RefOf(outcome.Parent) || !strings.Contains(outcome.Failure, refusal.Err.Error()) {
			continue
		}
		if !strings.Contains(outcome.Message, child.String()) || !r.scenario.isEmbedded(outcome.Parent, refusal.Err) {
			return false
		}
		isTold = true
	}
	return isTold
}

// isEmbedded reports whether each cause of a refusal is a value that stands in an embedded type of
// Pods in a custom resource's spec.
func (s *Scenario) isEmbedded(parent kube.Object, refusal error) bool {
	invalid, isInvalid := errors.AsType[*apiserver.Invalid](refusal)
	controller := s.controllerOf(parent)
	if !isInvalid || controller.CRD == nil {
		return false
	}
	schema, err := writtenSchema(controller)
	if err != nil {
		return false
	}
	for _, cause := range invalid.Problems {
		if !stands(cause, schema, parent.Object, false) {
			return false
		}
	}
	return true
}

// stands reports whether the field that is refused stands in an embedded type, anywhere in a value.
func stands(cause *field.Error, schema map[string]any, value any, isEmbedded bool) bool {
	switch value := value.(type) {
	case []any:
		items, _ := schema["items"].(map[string]any)
		return slices.ContainsFunc(value, func(item any) bool { return stands(cause, items, item, isEmbedded) })
	case map[string]any:
		properties, _ := schema["properties"].(map[string]any)
		isEmbedded = isEmbedded || schema[ofPod] == true
		if isEmbedded && isCause(cause, properties, value) {
			return true
		}
		for name, inner := range value {
			inside, known := properties[name].(map[string]any)
			if known && (lacks(cause, name, inside, inner) || stands(cause, inside, inner, isEmbedded)) {
				return true
			}
		}
	}
	return false
}

// lacks reports whether what is refused is an object of an embedded type itself, or one in a list of
// such: a probe that has no handler, a variable from nowhere, a volume of two types.
func lacks(cause *field.Error, name string, schema map[string]any, value any) bool {
	if list, isList := value.([]any); isList && len(list) > 0 {
		schema, _ = schema["items"].(map[string]any)
		value = list[0]
	}
	isEmbedded := schema[ofPod] == true || schema["x-kubernetes-preserve-unknown-fields"] == true
	_, isObject := value.(map[string]any)
	isUnion := cause.Type == field.ErrorTypeInvalid && cause.BadValue == "" // it is no text
	isRefused := isUnion || cause.Type == field.ErrorTypeRequired || cause.Type == field.ErrorTypeForbidden
	return isEmbedded && isObject && isRefused && fieldOf(cause) == name
}

// fieldOf returns the last name in the path of what is refused, without an index.
func fieldOf(cause *field.Error) string {
	name, _, _ := strings.Cut(cause.Field[strings.LastIndex(cause.Field, ".")+1:], "[")
	return name
}

// isCause reports whether an object has what is refused: a member of that name, with that value.
func isCause(cause *field.Error, properties, object map[string]any) bool {
	name := fieldOf(cause)
	schema, known := properties[name].(map[string]any)
	if !known || cause.Detail == validation.FieldImmutableErrorMsg {
		return false
	}
	text, isText := object[name].(string)
	switch cause.Type {
	case field.ErrorTypeRequired:
		return text == "" && schema["type"] == "string"
	case field.ErrorTypeInvalid, field.ErrorTypeDuplicate, field.ErrorTypeNotFound, field.ErrorTypeNotSupported:
		return isText && fmt.Sprint(cause.BadValue) == text || !isText && object[name] != nil
	default:
		return false
	}
}

// ofPod marks what is of a type of Pods in a schema that [writtenSchema] returns.
const ofPod = "x-of-pod"

// writtenSchema returns the schema of an operator's custom resources as it is written, in which
// the objects that are of a type of Pods in Go are marked.
func writtenSchema(controller *metacontroller.Controller) (map[string]any, error) {
	schema, err := crd.Written(controller.CRD.Text(), controller.Parent.Version())
	if err == nil {
		mark(schema, controller.ParentType())
	}
	return schema, err
}

// mark marks what is of a type of Pods in a schema that is of a type.
func mark(schema map[string]any, t reflect.Type) {
	if schema == nil {
		return
	}
	inside := func(name string) map[string]any {
		part, _ := schema[name].(map[string]any)
		return part
	}
	switch t.Kind() {
	case reflect.Pointer:
		mark(schema, t.Elem())
	case reflect.Slice:
		mark(inside("items"), t.Elem())
	case reflect.Map:
		mark(inside("additionalProperties"), t.Elem())
	case reflect.Struct:
		if podTypes()[t] {
			schema[ofPod] = true
		}
		properties := inside("properties")
		for name, inner := range jsonFields(t) {
			if property, known := properties[name].(map[string]any); known {
				mark(property, inner)
			}
		}
	default:
	}
}

// podTypes are the structs of a Pod template, without those of one or two fields: what stands in a
// larger one is its part, and alone they may be emptied.
var podTypes = sync.OnceValue(func() map[reflect.Type]bool {
	template := reflect.TypeFor[corev1.PodTemplateSpec]()
	found, seen := map[reflect.Type]bool{}, map[reflect.Type]bool{}
	var visit func(reflect.Type)
	visit = func(t reflect.Type) {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct || seen[t] {
			return
		}
		fields := jsonFields(t)
		seen[t], found[t] = true, t.PkgPath() == template.PkgPath() && len(fields) > 2
		for _, inner := range fields {
			visit(inner)
		}
	}
	visit(template)
	return found
})

// jsonFields returns the types of a struct's fields by their names in JSON, also of those that it
// has from an embedded struct.
func jsonFields(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for i := range t.NumField() {
		field := t.Field(i)
		switch name, _, _ := strings.Cut(field.Tag.Get("json"), ","); {
		case name != "":
			fields[name] = field.Type
		case field.Anonymous && field.Type.Kind() == reflect.Struct:
			maps.Copy(fields, jsonFields(field.Type))
		}
	}
	return fields
}
