package apiserver

import (
	"context"
	"strings"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

type admission struct {
	server *Server
	ref    kube.Ref
	isNew  bool
}

func (s *Server) admit(k Kind, object, old kube.Object) (kube.Object, error) {
	if k.definition != nil {
		return s.admitCustom(k, object, old)
	}
	problems := checkMetadata(k, object, old)
	if k.admit == nil || len(problems) > 0 {
		return object, invalid(kube.RefOf(object), problems)
	}
	return k.admit(&admission{s, kube.RefOf(object), old == nil}, object, old)
}

// ofType returns the admission of objects of a Go type. The rules fill in
// defaults and return errors; they may be nil. A new object has an empty old one.
func ofType[T any](rules func(a *admission, object, old *T) field.ErrorList) func(*admission, kube.Object, kube.Object) (kube.Object, error) {
	return func(a *admission, object, old kube.Object) (kube.Object, error) {
		now, before := new(T), new(T)
		if err := kube.Decode(object, now); err != nil {
			return nil, apierrors.NewBadRequest(a.ref.Kind + " in version " + object.GroupVersionKind().Version +
				" cannot be handled as a " + a.ref.Kind + ": " + err.Error())
		}
		if old != nil {
			if err := kube.Decode(old, before); err != nil {
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
		keep(stored.Object["metadata"].(map[string]any), object.Object["metadata"].(map[string]any), "managedFields") // conversion changes it
		return stored, nil
	}
}

func (s *Server) admitCustom(k Kind, object, old kube.Object) (kube.Object, error) {
	definition, err := k.definition()
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	if s.lenient {
		definition.Complete(object.Object)
		return object, invalid(kube.RefOf(object), checkMetadata(k, object, old))
	}
	var before map[string]any
	if old != nil {
		before = old.Object
	}
	_, problems := definition.Admit(context.Background(), object.Object, before)
	return object, invalid(kube.RefOf(object), problems)
}

// admitStatus returns a custom resource as the server stores it after a write
// of its status. It shares everything except the status with object.
func (s *Server) admitStatus(k Kind, object, old kube.Object) (kube.Object, error) {
	if k.definition == nil {
		return object, nil
	}
	definition, err := k.definition()
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	object = kube.Shallow(object)
	object.Object["status"] = runtime.DeepCopyJSONValue(object.Object["status"])
	_, problems := definition.AdmitStatus(context.Background(), object.Object, old.Object)
	if s.lenient {
		problems = nil
	}
	return object, invalid(kube.RefOf(object), problems)
}

func invalid(ref kube.Ref, problems field.ErrorList) error {
	if len(problems) == 0 {
		return nil
	}
	return &Invalid{apierrors.NewInvalid(ref.GroupKind(), ref.Name, problems), problems}
}

func checkMetadata(k Kind, object, old kube.Object) field.ErrorList {
	path := field.NewPath("metadata")
	if old != nil {
		return apivalidation.ValidateObjectMetaAccessorUpdate(object, old, path)
	}
	isName := apivalidation.NameIsDNSSubdomain
	if strings.HasPrefix(object.GetAPIVersion(), rbacv1.GroupName+"/") {
		isName = func(name string, _ bool) []string { return content.IsPathSegmentName(name) }
	}
	return apivalidation.ValidateObjectMetaAccessor(object, !k.IsCluster, isName, path)
}

// admitTemplate fills in the defaults of a workload's template, and checks that the workload
// selects its Pods, by the selector that it has always had.
func admitTemplate(template *corev1.PodTemplateSpec, now, old *metav1.LabelSelector, policies ...corev1.RestartPolicy) field.ErrorList {
	defaultPodSpec(&template.Spec)
	problems := checkPodSpec(&template.Spec, templateSpec, policies...)
	path := specPath.Child("selector")
	if now == nil || len(now.MatchLabels)+len(now.MatchExpressions) == 0 {
		return append(problems, field.Required(path, ""))
	}
	selector, err := metav1.LabelSelectorAsSelector(now)
	if err != nil {
		return append(problems, field.Invalid(path, now, "invalid label selector"))
	}
	if !selector.Matches(labels.Set(template.Labels)) {
		problems = append(problems, field.Invalid(specPath.Child("template", "metadata", "labels"), template.Labels,
			"`selector` does not match template `labels`"))
	}
	if old != nil {
		problems = append(problems, apivalidation.ValidateImmutableField(now, old, path)...)
	}
	return problems
}

// Invalid is the error that an object has invalid fields. A client receives their values as a part of a
// sentence only.
type Invalid struct {
	*apierrors.StatusError

	Problems field.ErrorList
}

// Unwrap returns what a client receives.
func (i *Invalid) Unwrap() error { return i.StatusError }
