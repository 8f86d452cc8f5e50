package apiserver

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"
	"github.com/operetta-dev/operetta/metacontroller"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Create stores a new object. Errors are those of the API server.
func (s *Server) Create(by Actor, object kube.Object) (kube.Object, error) {
	kind := s.Kind(object.GetAPIVersion(), object.GetKind())
	object = own(kind, object)
	if kind.IsCluster {
		object.SetNamespace("")
	} else if object.GetNamespace() == "" {
		object.SetNamespace(metav1.NamespaceDefault)
	}
	ref := kube.RefOf(object)
	if s.objects[ref] != nil {
		return nil, apierrors.NewAlreadyExists(kind.GroupResource(), ref.Name)
	}
	if by != ByUser {
		if err := s.refuses(kind, object); err != nil {
			return nil, err
		}
	}
	if len(s.objects) >= maxObjects {
		return nil, s.overflow("%s is one more than %d objects", ref, maxObjects)
	}
	object.SetUID(s.uidOf(ref))
	object.SetCreationTimestamp(metav1.NewTime(s.Now()))
	for _, field := range []string{"resourceVersion", "generation", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"} {
		delete(object.Object["metadata"].(map[string]any), field)
	}
	delete(object.Object, "status")
	if kind.generation {
		object.SetGeneration(1)
	}
	object, err := s.admit(kind, object, nil)
	if err != nil {
		return nil, err
	}
	s.put(by, ref, object, nil)
	return s.Get(ref), nil
}

// own returns a copy of an object that may be changed: the schema of a custom resource changes
// it everywhere, and all others change metadata only, or make a new object.
func own(kind Kind, object kube.Object) kube.Object {
	if kind.definition != nil {
		return object.DeepCopy()
	}
	return kube.WithMetadata(object)
}

// Live returns an object, or the error of the API server that there is none.
func (s *Server) Live(ref kube.Ref) (kube.Object, error) {
	if object := s.Get(ref); object != nil {
		return object, nil
	}
	return nil, apierrors.NewNotFound(s.Kind(ref.APIVersion, ref.Kind).GroupResource(), ref.Name)
}

// Update replaces an object except for its status and the metadata that the
// server sets. An old resource version is a conflict.
func (s *Server) Update(by Actor, object kube.Object) (kube.Object, error) {
	return s.update(by, object, nil)
}

// update is Update, which sets managedFields, unless they are nil.
func (s *Server) update(by Actor, object kube.Object, managedFields []any) (kube.Object, error) {
	ref := kube.RefOf(object)
	kind := s.Kind(ref.APIVersion, ref.Kind)
	old, err := s.Live(ref)
	if err != nil {
		return nil, err
	}
	if version := object.GetResourceVersion(); version != "" && version != old.GetResourceVersion() {
		return nil, apierrors.NewConflict(kind.GroupResource(), ref.Name, fmt.Errorf(
			"the object has been modified; please apply your changes to the latest version and try again"))
	}
	object = own(kind, object)
	KeepServerSet(object, old)
	if managedFields != nil {
		object.Object["metadata"].(map[string]any)["managedFields"] = managedFields
	}
	object, err = s.admit(kind, object, old)
	if err != nil {
		return nil, err
	}
	if kind.generation && !kube.SameBut(object, old, "metadata", "status") {
		object.SetGeneration(old.GetGeneration() + 1)
	}
	return s.replace(by, ref, object, old), nil
}

// UpdateStatus replaces an object's status.
func (s *Server) UpdateStatus(by Actor, ref kube.Ref, status map[string]any) (kube.Object, error) {
	old, err := s.Live(ref)
	if err != nil {
		return nil, err
	}
	object := kube.Shallow(old)
	object.Object["status"] = status
	object, err = s.admitStatus(s.Kind(ref.APIVersion, ref.Kind), object, old)
	if err != nil {
		return nil, err
	}
	return s.replace(by, ref, object, old), nil
}

// Report replaces the status of an object that exists.
func (s *Server) Report(by Actor, ref kube.Ref, status any) {
	if s.Get(ref) == nil {
		return
	}
	if _, err := s.UpdateStatus(by, ref, kube.Encode(status).Object); err != nil {
		panic(err) // it existed a moment ago
	}
}

// Replace stores a new version of an object without defaults and rules, as the subresources that
// built-in controllers use. It returns nil if the object does not exist.
func (s *Server) Replace(by Actor, object kube.Object) kube.Object {
	ref := kube.RefOf(object)
	old := s.Get(ref)
	if old == nil {
		return nil
	}
	return s.replace(by, ref, object, old)
}

func (s *Server) replace(by Actor, ref kube.Ref, object, old kube.Object) kube.Object {
	if old.GetDeletionTimestamp() != nil && len(object.GetFinalizers()) == 0 && !isGraceful(object) {
		s.Remove(by, ref)
		return object
	}
	if kube.Equal(object.Object, old.Object) {
		return old
	}
	s.put(by, ref, object, old)
	return s.Get(ref)
}

// cascades are the finalizers of deletions in which the owner is deleted last, by kubectl's name.
var cascades = map[string]string{
	"orphan": metav1.FinalizerOrphanDependents, "foreground": metav1.FinalizerDeleteDependents,
}

// DeleteCascading deletes an object with kubectl's --cascade: with orphan and
// foreground the owner is deleted last, with "" (background) first.
func (s *Server) DeleteCascading(by Actor, ref kube.Ref, cascade string) error {
	old := s.Get(ref)
	if finalizer := cascades[cascade]; finalizer != "" && old != nil && old.GetDeletionTimestamp() == nil {
		held := kube.WithMetadata(old)
		held.SetFinalizers(append(held.GetFinalizers(), finalizer))
		s.put(by, ref, held, old)
	}
	return s.Delete(by, ref, "")
}

// Delete deletes an object. One with finalizers, and a Pod on a node, is only marked.
func (s *Server) Delete(by Actor, ref kube.Ref, uid types.UID) error {
	old, err := s.Live(ref)
	switch {
	case err != nil:
		return err
	case uid != "" && old.GetUID() != uid:
		return apierrors.NewConflict(s.Kind(ref.APIVersion, ref.Kind).GroupResource(), ref.Name, fmt.Errorf("the UID in the precondition (%s) does not match the UID in record (%s)", uid, old.GetUID()))
	case old.GetDeletionTimestamp() != nil:
		return nil
	case len(old.GetFinalizers()) == 0 && !isGraceful(old):
		s.Remove(by, ref)
		return nil
	}
	object := kube.WithMetadata(old)
	grace := int64(0)
	if isGraceful(old) {
		grace = 30
		if seconds, found, _ := unstructured.NestedInt64(old.Object, "spec", "terminationGracePeriodSeconds"); found {
			grace = seconds
		}
	}
	object.SetDeletionTimestamp(new(metav1.NewTime(s.Now().Add(time.Duration(grace) * time.Second)))) // its end
	object.SetDeletionGracePeriodSeconds(&grace)
	if object.GetGeneration() > 0 {
		object.SetGeneration(object.GetGeneration() + 1)
	}
	s.put(by, ref, object, old)
	return nil
}

// Remove removes an object at once, as a kubelet does with a Pod that has ended.
func (s *Server) Remove(by Actor, ref kube.Ref) {
	before := s.Get(ref)
	s.remove(ref, before)
	s.version++
	s.notify(Write{By: by, Ref: ref, Before: before})
}

func (s *Server) put(by Actor, ref kube.Ref, object, old kube.Object) {
	s.version++
	object = kube.WithMetadata(object)
	object.Object["metadata"].(map[string]any)["resourceVersion"] = strconv.FormatInt(s.version, 10)
	written := newStored(object, s.objects[ref])
	if old != nil {
		written.applied = s.objects[ref].stillApplied(by, object)
		written.others = s.objects[ref].others
		if by != ByHook {
			written.config = s.objects[ref].config
		}
		s.remove(ref, old)
	}
	s.add(ref, written)
	s.notify(Write{By: by, Ref: ref, Before: old, After: object, stored: written})
}

func (s *Server) notify(w Write) {
	for _, tell := range s.watchers {
		tell(w)
	}
}

// uidOf returns the UID of a new object. That of a namespace follows from its name, so that what it
// owns can be written down and applied to another cluster.
func (s *Server) uidOf(ref kube.Ref) types.UID {
	next := s.nextUID()
	if ref.Is(metacontroller.Namespace) {
		hash := fnv.New32a()
		_, _ = hash.Write([]byte(ref.Name))
		return types.UID(fmt.Sprintf("00000000-0000-4000-9000-%012x", hash.Sum32()))
	}
	return next
}

// nextUID returns a UID that is the same in every run.
func (s *Server) nextUID() types.UID {
	s.uids++
	return types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", s.uids))
}
