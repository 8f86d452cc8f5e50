package crd

import (
	"context"
	"maps"
	"slices"

	schemavalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// maxErrors is the number of errors at which validation of an object stops.
const maxErrors = 100

// node validates one value without its members. The validator of a whole schema
// compares each error with every other, so that a short text with 100,000 wrong
// numbers takes a quarter of an hour, and it cannot be canceled. So the nodes
// validate first, and the validator is only used for objects with at most
// [maxErrors] errors.
type node struct {
	own               schemavalidation.SchemaValidator
	properties        map[string]*node
	items, additional *node
}

func newNode(schema *spec.Schema) *node {
	n := &node{properties: make(map[string]*node, len(schema.Properties))}
	for name := range schema.Properties {
		property := schema.Properties[name]
		n.properties[name] = newNode(&property)
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		n.items = newNode(schema.Items.Schema)
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		n.additional = newNode(schema.AdditionalProperties.Schema)
	}
	own := *schema
	own.Properties, own.Items, own.AdditionalProperties = nil, nil, nil
	n.own = schemavalidation.NewSchemaValidatorFromOpenAPI(&own)
	return n
}

// isTooLarge reports whether a value has more items than its schema admits,
// which then need no validation.
func isTooLarge(err *field.Error) bool {
	return err.Type == field.ErrorTypeTooMany || err.Type == field.ErrorTypeTooLong
}

// walker validates the values of one object, until there are too many errors or
// ctx ends.
type walker struct {
	ctx   context.Context
	errs  field.ErrorList
	steps int // values that have been looked at
}

// visit adds the errors of a value and its members, and reports whether to go
// on.
func (w *walker) visit(n *node, path *field.Path, value any) bool {
	if w.ctx.Err() != nil {
		return false
	}
	w.steps++
	own := schemavalidation.ValidateCustomResource(path, value, n.own)
	w.errs = append(w.errs, own...)
	if len(w.errs) > maxErrors {
		return false
	}
	if slices.ContainsFunc(own, isTooLarge) {
		return true
	}
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			inner, known := n.properties[name]
			if !known {
				inner = n.additional
			}
			if inner != nil && !w.visit(inner, path.Child(name), value[name]) {
				return false
			}
		}
	case []any:
		for i := 0; n.items != nil && i < len(value); i++ {
			if !w.visit(n.items, path.Index(i), value[i]) {
				return false
			}
		}
	}
	return true
}
