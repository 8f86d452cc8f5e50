package crd

import (
	"context"
	"maps"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	schemavalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/common"
)

// Admit changes an object, in place, into what the API server stores when
// somebody creates it, or edits the old one if there is one: it removes unknown
// fields, whose paths it returns, and sets defaults. The errors are those of
// the API server, except its remark that rules were not checked because of them;
// an object with errors is not stored. The object needs a namespace, unless its kind
// is cluster-scoped: then its namespace is dropped.
func (s *Schema) Admit(ctx context.Context, object, old map[string]any) (unknown []string, errs field.ErrorList) {
	if metadata, ok := object["metadata"].(map[string]any); ok && !s.namespaced {
		delete(metadata, "namespace")
	}
	unknown = s.Complete(object)
	if errs = s.validateMetadata(object, old); len(errs) > 0 && object["metadata"] == nil {
		return unknown, errs
	}
	return unknown, named(s.validate(ctx, object, old, errs))
}

// Complete removes unknown fields, in place, returns their paths, and sets
// defaults, as the API server does with each object that it reads.
func (s *Schema) Complete(object map[string]any) (unknown []string) {
	unknown = s.Prune(object)
	unknown = append(unknown, pruneMetadata(object)...)
	slices.Sort(unknown)
	s.Default(object)
	return unknown
}

// pruneMetadata removes unknown members of metadata, and returns their paths.
func pruneMetadata(object map[string]any) []string {
	metadata, _ := object["metadata"].(map[string]any)
	_, _, unknown, err := objectmeta.GetObjectMetaWithOptions(object, objectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true})
	if err != nil || metadata == nil {
		return nil // validation reports it
	}
	for _, path := range unknown {
		delete(metadata, strings.TrimPrefix(path, "metadata."))
	}
	return unknown
}

// validateMetadata applies the API server's checks of metadata.
func (s *Schema) validateMetadata(object, old map[string]any) field.ErrorList {
	path := field.NewPath("metadata")
	_, found, _, err := objectmeta.GetObjectMetaWithOptions(object, objectmeta.ObjectMetaOptions{})
	switch {
	case err != nil:
		return field.ErrorList{field.Invalid(path, nil, err.Error())}
	case !found:
		return field.ErrorList{field.Required(path.Child("name"), "name or generateName is required")}
	}
	now := &unstructured.Unstructured{Object: object}
	if old != nil {
		return apivalidation.ValidateObjectMetaAccessorUpdate(now, &unstructured.Unstructured{Object: old}, path)
	}
	var accessor metav1.Object = now
	if s.namespaced {
		accessor = namespaced{now}
	}
	return apivalidation.ValidateObjectMetaAccessor(accessor, s.namespaced, apivalidation.NameIsDNSSubdomain, path)
}

// namespaced is an object in kubectl's default namespace if it names none.
type namespaced struct{ *unstructured.Unstructured }

// GetNamespace implements [metav1.Object].
func (n namespaced) GetNamespace() string {
	if namespace := n.Unstructured.GetNamespace(); namespace != "" {
		return namespace
	}
	return metav1.NamespaceDefault
}

// changes are the validation options that ignore errors in unchanged fields of
// an edit.
type changes struct {
	schema []schemavalidation.ValidationOption
	rules  []cel.Option
}

func (s *Schema) changesOf(object, old map[string]any) changes {
	correlated := common.NewCorrelatedObject(object, old, &model.Structural{Structural: s.structural})
	return changes{
		schema: []schemavalidation.ValidationOption{schemavalidation.WithRatcheting(correlated)},
		rules:  []cel.Option{cel.WithRatcheting(correlated)},
	}
}

// AdmitStatus is Admit for a write of the status. Errors in the rest of the
// object are ignored.
func (s *Schema) AdmitStatus(ctx context.Context, object, old map[string]any) (unknown []string, errs field.ErrorList) {
	if s.status == nil {
		unknown = s.Complete(object)
		return unknown, s.validate(ctx, object, maps.Clone(old), nil)
	}
	// Only the status is validated: a simulation writes many.
	only, err := s.status()
	if err != nil {
		return nil, field.ErrorList{field.InternalError(field.NewPath("status"), err)}
	}
	written, before := onlyStatus(object), onlyStatus(old)
	unknown = only.Prune(written)
	only.Default(written)
	if status, found := written["status"]; found {
		object["status"] = status
	}
	return unknown, only.validate(ctx, written, before, nil)
}

// onlyStatus returns what an object has in its status.
func onlyStatus(object map[string]any) map[string]any {
	if status, found := object["status"]; found {
		return map[string]any{"status": status}
	}
	return map[string]any{}
}
