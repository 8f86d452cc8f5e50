package simulate

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// actor is who writes to the store, in the words of a report.
type actor string

const (
	byUser       actor = "applied"
	byHand       actor = "deleted by hand"
	byHook       actor = "the hook"
	byKubernetes actor = "Kubernetes"
)

// change is a write that changed something. Its objects are not to be modified.
type change struct {
	by            actor
	ref           Ref
	before, after Object // nil where the object is new, and where it is gone
}

// record is an object in the store, which is replaced and never modified.
type record struct {
	object Object
	raw    json.RawMessage // its JSON, made when it is first asked for
	// owned are the fields that Metacontroller has applied on the server, and
	// that nobody else has written since.
	owned map[string]any
}

// store is the part of the API server that matters.
type store struct {
	lenient bool // custom resources are not validated
	clock   *clock
	kinds   *catalogue
	*cache
	nodePorts map[int64]Ref
	quota     map[string]bool // kinds that only people may create
	addresses int
	version   int64 // the newest resource version
	uids      int
	text      int   // of all objects
	full      error // once there was no room
	observers []func(change)
}

func newStore(clock *clock, kinds *catalogue) *store {
	return &store{
		clock:     clock,
		kinds:     kinds,
		cache:     newCache(),
		nodePorts: map[int64]Ref{},
	}
}

// create stores a new object. Errors are those of the API server.
func (s *store) create(by actor, object Object) (Object, error) {
	kind := s.kinds.of(object.GetAPIVersion(), object.GetKind())
	object = object.DeepCopy()
	if kind.cluster {
		object.SetNamespace("")
	} else if object.GetNamespace() == "" {
		object.SetNamespace(metav1.NamespaceDefault)
	}
	ref := RefOf(object)
	if s.objects[ref] != nil {
		return nil, apierrors.NewAlreadyExists(kind.groupResource(), ref.Name)
	}
	if s.quota[ref.Kind] && by != byUser {
		return nil, apierrors.NewForbidden(kind.groupResource(), ref.Name, errors.New("exceeded quota"))
	}
	if err := s.makeRoom(ref); err != nil {
		return nil, err
	}
	object.SetUID(s.nextUID())
	object.SetCreationTimestamp(metav1.NewTime(s.clock.Now()))
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
	return s.get(ref), nil
}

// update replaces all of an object but its status and the metadata that the
// server sets. A resource version that is not the newest is a conflict.
func (s *store) update(by actor, object Object) (Object, error) {
	ref := RefOf(object)
	kind := s.kinds.of(ref.APIVersion, ref.Kind)
	old := s.get(ref)
	if old == nil {
		return nil, apierrors.NewNotFound(kind.groupResource(), ref.Name)
	}
	if version := object.GetResourceVersion(); version != "" && version != old.GetResourceVersion() {
		return nil, apierrors.NewConflict(kind.groupResource(), ref.Name, fmt.Errorf(
			"the object has been modified; please apply your changes to the latest version and try again"))
	}
	object = object.DeepCopy()
	keepServerSet(object, old)
	object, err := s.admit(kind, object, old)
	if err != nil {
		return nil, err
	}
	if kind.generation && !sameBut(object, old, "metadata", "status") {
		object.SetGeneration(old.GetGeneration() + 1)
	}
	return s.replace(by, ref, object, old)
}

// updateStatus replaces an object's status.
func (s *store) updateStatus(by actor, ref Ref, status map[string]any) (Object, error) {
	old := s.get(ref)
	if old == nil {
		return nil, apierrors.NewNotFound(s.kinds.of(ref.APIVersion, ref.Kind).groupResource(), ref.Name)
	}
	object := shallow(old)
	object.Object["status"] = status
	object, err := s.admitStatus(s.kinds.of(ref.APIVersion, ref.Kind), object, old)
	if err != nil {
		return nil, err
	}
	return s.replace(by, ref, object, old)
}

// replace stores the successor of an object, unless they are the same. An
// object that is being deleted goes with its last finalizer.
func (s *store) replace(by actor, ref Ref, object, old Object) (Object, error) {
	if old.GetDeletionTimestamp() != nil && len(object.GetFinalizers()) == 0 && !isGraceful(object) {
		s.remove(by, ref)
		return object, nil
	}
	if equal(object.Object, old.Object) {
		return old, nil
	}
	s.put(by, ref, object, old)
	return s.get(ref), nil
}

// delete asks for an object's end. One with finalizers, and a Pod that has a
// node, is only marked.
func (s *store) delete(by actor, ref Ref, uid types.UID) error {
	old := s.get(ref)
	kind := s.kinds.of(ref.APIVersion, ref.Kind)
	switch {
	case old == nil:
		return apierrors.NewNotFound(kind.groupResource(), ref.Name)
	case uid != "" && old.GetUID() != uid:
		return apierrors.NewConflict(kind.groupResource(), ref.Name, fmt.Errorf("the UID in the precondition (%s) does not match the UID in record (%s)", uid, old.GetUID()))
	case old.GetDeletionTimestamp() != nil:
		return nil
	case len(old.GetFinalizers()) == 0 && !isGraceful(old):
		s.remove(by, ref)
		return nil
	}
	object := shallow(old)
	object.Object["metadata"] = runtime.DeepCopyJSONValue(object.Object["metadata"])
	now := metav1.NewTime(s.clock.Now())
	object.SetDeletionTimestamp(&now)
	var grace int64
	if isGraceful(old) {
		grace = 30
	}
	object.SetDeletionGracePeriodSeconds(&grace)
	if object.GetGeneration() > 0 {
		object.SetGeneration(object.GetGeneration() + 1)
	}
	s.put(by, ref, object, old)
	return nil
}

// remove takes an object out of the store.
func (s *store) remove(by actor, ref Ref) {
	before := s.objects[ref].object
	s.weigh(ref, nil, before)
	s.unindex(ref, before)
	s.version++
	s.notify(change{by: by, ref: ref, before: before})
}

func (s *store) put(by actor, ref Ref, object, old Object) {
	s.version++
	metadata := map[string]any{}
	for key, value := range object.Object["metadata"].(map[string]any) {
		metadata[key] = value
	}
	metadata["resourceVersion"] = strconv.FormatInt(s.version, 10)
	object = shallow(object)
	object.Object["metadata"] = metadata
	r := &record{object: object}
	s.weigh(ref, object, old)
	if old != nil {
		r.owned = s.disowned(by, ref, old, object)
		s.unindex(ref, old)
	}
	s.index(ref, r)
	s.notify(change{by: by, ref: ref, before: old, after: object})
}

// disowned returns what Metacontroller still owns after a write.
func (s *store) disowned(by actor, ref Ref, old, object Object) map[string]any {
	owned := s.objects[ref].owned
	if owned == nil || by == byHook {
		return owned
	}
	left, _ := disown("", owned, old.Object, object.Object)
	return left.(map[string]any)
}

func (s *store) notify(what change) {
	for _, observe := range s.observers {
		observe(what)
	}
}

// nextUID returns a UID that is the same in every run.
func (s *store) nextUID() types.UID {
	s.uids++
	return types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", s.uids))
}
