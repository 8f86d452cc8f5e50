package apiserver

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/merge"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// Applier is Metacontroller's name in managedFields, unless it has a flag for another.
const Applier = "metacontroller"

var unowned = fieldpath.NewSet(fieldpath.MakePathOrDie("apiVersion"), fieldpath.MakePathOrDie("kind"),
	fieldpath.MakePathOrDie("metadata", "name"), fieldpath.MakePathOrDie("metadata", "namespace"))

// Apply is a forced server-side apply by the only applier. Fields that were applied before and are
// no longer are removed, unless somebody else has written them since.
func (s *Server) Apply(desired *Configuration) (kube.Object, error) {
	if err := desired.read(); err != nil {
		return nil, err
	}
	var object kube.Object
	var err error
	old := s.objects[kube.RefOf(desired.Object)]
	if old != nil && old.config == desired && old.applied == desired.fields {
		return old.object, nil // nobody has changed what it asks for
	}
	if old == nil {
		object = kube.WithMetadata(desired.Object)
		object.Object["metadata"].(map[string]any)["managedFields"] = desired.noted
		object, err = s.Create(ByHook, object)
	} else if object, err = old.merge(desired.value); err == nil {
		object, err = s.update(ByHook, object, slices.Concat(desired.noted, s.scalers(old.object, desired)))
	}
	if err != nil {
		return nil, err
	}
	written := s.objects[kube.RefOf(object)]
	written.applied, written.config = desired.fields, desired
	return object, nil
}

// Configuration is the body of a server-side apply, and what is read from it when it is applied
// for the first time. It is not to be modified.
type Configuration struct {
	Object kube.Object

	value  *typed.TypedValue
	fields *fieldpath.Set
	noted  []any // managedFields
}

func (c *Configuration) read() error {
	if c.noted != nil {
		return nil
	}
	value, err := typedOf(c.Object)
	if err != nil {
		// The API server, too, answers 500 with these words and without a reason.
		return apierrors.FromObject(&metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusInternalServerError,
			Message: fmt.Sprintf("failed to create typed patch object (%s/%s; %s): %v",
				c.Object.GetNamespace(), c.Object.GetName(), c.Object.GroupVersionKind(), err),
		})
	}
	all, err := value.ToFieldSet()
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	fields := all.Difference(unowned)
	entry, err := appliedEntry(c.Object.GetAPIVersion(), fields)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	c.value, c.fields, c.noted = value, fields, []any{entry}
	return nil
}

// appliedEntry returns the entry of managedFields for what is applied.
func appliedEntry(apiVersion string, fields *fieldpath.Set) (any, error) {
	text, err := fields.ToJSON()
	if err != nil {
		return nil, err
	}
	fieldsV1, err := kube.ParseJSON(text)
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"manager": Applier, "operation": "Apply", "apiVersion": apiVersion, "fieldsType": "FieldsV1", "fieldsV1": fieldsV1,
	}, nil
}

func (s *stored) merge(config *typed.TypedValue) (kube.Object, error) {
	live, err := s.value()
	if err != nil {
		return nil, err
	}
	version := fieldpath.APIVersion(s.object.GetAPIVersion())
	managers := s.others.Copy()
	if s.applied != nil {
		managers[Applier] = fieldpath.NewVersionedSet(s.applied, version, true)
	}
	updater := (&merge.UpdaterBuilder{Converter: oneVersion{}}).BuildUpdater()
	merged, _, err := updater.Apply(live, config, version, managers, Applier, true)
	if err != nil {
		return nil, err
	}
	content := cmp.Or(merged, live).AsValue().Unstructured().(map[string]any) // it is nil where nothing changes
	return &unstructured.Unstructured{Object: content}, nil
}

func (s *stored) value() (*typed.TypedValue, error) {
	var err error
	if s.mergeable == nil {
		s.mergeable, err = typedOf(s.object, typed.AllowDuplicates)
	}
	return s.mergeable, err
}

func (s *stored) stillApplied(by Actor, object kube.Object) *fieldpath.Set {
	if s.applied == nil || by == ByHook || kube.SameBut(s.object, object, "metadata", "status") && s.sameMetadata(object) {
		return s.applied // the status is nobody's here
	}
	before, err := s.value()
	after, failed := typedOf(object, typed.AllowDuplicates)
	if err != nil || failed != nil {
		return s.applied
	}
	changes, err := before.Compare(after)
	if err != nil {
		return s.applied
	}
	left := s.applied.Difference(changes.Modified.Union(changes.Added).Union(changes.Removed))
	if left.Size() == s.applied.Size() {
		return s.applied
	}
	return left
}

// sameMetadata reports whether people, and those who apply, see the same metadata.
func (s *stored) sameMetadata(object kube.Object) bool {
	before, after := kube.WithMetadata(s.object), kube.WithMetadata(object)
	DropServerSet(before)
	DropServerSet(after)
	return kube.Equal(before.Object["metadata"], after.Object["metadata"])
}

// builtinTypes are the types of the kinds that come with Kubernetes, which say by
// what the items of their lists are told apart.
var builtinTypes = sync.OnceValue(func() managedfields.TypeConverter { return applyconfigurations.NewTypeConverter(scheme.Scheme) })

// typedOf returns an object with its type. The lists of a custom resource have no keys here.
// Duplicates in a list with keys may be stored, and not be applied.
func typedOf(object kube.Object, options ...typed.ValidationOptions) (*typed.TypedValue, error) {
	types := managedfields.NewDeducedTypeConverter()
	if scheme.Scheme.Recognizes(object.GroupVersionKind()) {
		types = builtinTypes()
	}
	return types.ObjectToTyped(object, options...)
}

// oneVersion is a [merge.Converter]: all objects of a kind have the same version.
type oneVersion struct{}

// Convert returns the object as it is.
func (oneVersion) Convert(object *typed.TypedValue, _ fieldpath.APIVersion) (*typed.TypedValue, error) {
	return object, nil
}

// IsMissingVersionError returns false: no version is missing.
func (oneVersion) IsMissingVersionError(error) bool { return false }
