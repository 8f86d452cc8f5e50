package apiserver

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// admission is the context of a kind's rules when an object is stored.
type admission struct {
	server *Server
	ref    Ref
}

// admit returns an object as the server stores it: unknown fields are dropped,
// quantities are canonical, defaults are filled in. Errors are those of the API
// server.
func (s *Server) admit(k Kind, object, old Object) (Object, error) {
	if k.definition != nil {
		return s.admitCustom(k, object, old)
	}
	problems := checkMetadata(object)
	if k.admit == nil || len(problems) > 0 {
		return object, invalid(RefOf(object), problems)
	}
	return k.admit(&admission{server: s, ref: RefOf(object)}, object, old)
}

// typed returns the admission of objects of a Go type. The rules fill in
// defaults and return errors; they may be nil. old is nil for a new object.
func typed[T any](rules func(a *admission, object, old *T) field.ErrorList) func(*admission, Object, Object) (Object, error) {
	return func(a *admission, object, old Object) (Object, error) {
		now := new(T)
		if err := Decode(object, now); err != nil {
			return nil, apierrors.NewBadRequest(a.ref.Kind + " in version " + object.GroupVersionKind().Version +
				" cannot be handled as a " + a.ref.Kind + ": " + err.Error())
		}
		var before *T
		if old != nil {
			before = new(T)
			if err := Decode(old, before); err != nil {
				return nil, err
			}
		}
		if rules != nil {
			if err := invalid(a.ref, rules(a, now, before)); err != nil {
				return nil, err
			}
		}
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(now)
		if err != nil {
			return nil, err
		}
		stored := &unstructured.Unstructured{Object: content}
		keepMetadata(stored, object)
		return stored, nil
	}
}

// admitCustom is admit for a custom resource: unknown fields, defaults and
// rules are those of its definition.
func (s *Server) admitCustom(k Kind, object, old Object) (Object, error) {
	definition, err := k.definition()
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	if s.lenient {
		definition.Complete(object.Object)
		return object, invalid(RefOf(object), checkMetadata(object))
	}
	var before map[string]any
	if old != nil {
		before = old.Object
	}
	_, problems := definition.Admit(context.Background(), object.Object, before)
	return object, invalid(RefOf(object), problems)
}

// admitStatus returns a custom resource as the server stores it after a write
// of its status. It shares everything except the status with object.
func (s *Server) admitStatus(k Kind, object, old Object) (Object, error) {
	if k.definition == nil {
		return object, nil
	}
	definition, err := k.definition()
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	object = shallow(object)
	object.Object["status"] = runtime.DeepCopyJSONValue(object.Object["status"])
	_, problems := definition.AdmitStatus(context.Background(), object.Object, old.Object)
	if s.lenient {
		problems = nil
	}
	return object, invalid(RefOf(object), problems)
}

// keepMetadata restores members that conversion to Go types would change.
func keepMetadata(stored, object Object) {
	if fields, found := object.Object["metadata"].(map[string]any)["managedFields"]; found {
		stored.Object["metadata"].(map[string]any)["managedFields"] = fields
	}
}

func invalid(ref Ref, problems field.ErrorList) error {
	if len(problems) == 0 {
		return nil
	}
	return apierrors.NewInvalid(ref.groupKind(), ref.Name, problems)
}

// checkMetadata checks the name, labels and annotations.
func checkMetadata(object Object) field.ErrorList {
	path := field.NewPath("metadata")
	var problems field.ErrorList
	for _, message := range validation.IsDNS1123Subdomain(object.GetName()) {
		problems = append(problems, field.Invalid(path.Child("name"), object.GetName(), message))
	}
	problems = append(problems, metav1validation.ValidateLabels(object.GetLabels(), path.Child("labels"))...)
	size := 0
	for key, value := range object.GetAnnotations() {
		size += len(key) + len(value)
	}
	if size > maxAnnotations {
		problems = append(problems, field.TooLong(path.Child("annotations"), "", maxAnnotations))
	}
	controllers := 0
	for _, owner := range object.GetOwnerReferences() {
		if owner.Controller != nil && *owner.Controller {
			controllers++
		}
	}
	if controllers > 1 {
		problems = append(problems, field.Invalid(path.Child("ownerReferences"), "",
			"Only one reference can have Controller set to true"))
	}
	return problems
}

// maxAnnotations is the maximal size of all annotations of an object.
const maxAnnotations = 256 << 10

// checkSelector checks that a workload selects the Pods of its template, and
// that the selector has not changed.
func checkSelector(now, old *metav1.LabelSelector, podLabels map[string]string) field.ErrorList {
	path := field.NewPath("spec")
	if now == nil || len(now.MatchLabels)+len(now.MatchExpressions) == 0 {
		return field.ErrorList{field.Required(path.Child("selector"), "")}
	}
	selector, err := metav1.LabelSelectorAsSelector(now)
	if err != nil {
		return field.ErrorList{field.Invalid(path.Child("selector"), now, "invalid label selector")}
	}
	var problems field.ErrorList
	if !selector.Matches(labels.Set(podLabels)) {
		problems = append(problems, field.Invalid(path.Child("template", "metadata", "labels"), podLabels,
			"`selector` does not match template `labels`"))
	}
	if old != nil {
		problems = append(problems, unchanged(path.Child("selector"), now, old)...)
	}
	return problems
}

// unchanged checks an immutable field.
func unchanged(path *field.Path, now, old any) field.ErrorList {
	if equality.Semantic.DeepEqual(now, old) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, now, "field is immutable")}
}
