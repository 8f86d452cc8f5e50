package simulate

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	kjson "sigs.k8s.io/json"
)

// decode keeps integers as integers, as the API server does.
func decode(raw []byte, into any) error { return kjson.UnmarshalCaseSensitivePreserveInts(raw, into) }

// key names an object.
type key struct{ apiVersion, kind, namespace, name string }

func keyOf(o *unstructured.Unstructured) key {
	return key{o.GetAPIVersion(), o.GetKind(), o.GetNamespace(), o.GetName()}
}

// store is the API server with its database.
type store struct {
	world    *World
	objects  map[key]*unstructured.Unstructured
	byOwner  map[types.UID]map[key]bool
	sorted   []key // nil when it must be made anew
	version  int64 // the resource version of the last write
	lastUID  int
	lastAddr int
}

// keys returns the names of all objects in order.
func (s *store) keys() []key {
	if s.sorted == nil {
		s.sorted = slices.SortedFunc(maps.Keys(s.objects), func(a, b key) int {
			return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.apiVersion, b.apiVersion),
				cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name))
		})
	}
	return s.sorted
}

// get returns an object that is not to be changed, or nil.
func (s *store) get(k key) *unstructured.Unstructured { return s.objects[k] }

// owned returns the objects that an owner controls, in order.
func (s *store) owned(owner types.UID) []*unstructured.Unstructured {
	names := slices.SortedFunc(maps.Keys(s.byOwner[owner]), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name))
	})
	list := make([]*unstructured.Unstructured, len(names))
	for i, name := range names {
		list[i] = s.objects[name]
	}
	return list
}

// put stores an object under a new resource version.
func (s *store) put(o *unstructured.Unstructured) {
	k := keyOf(o)
	if _, known := s.objects[k]; !known {
		s.sorted = nil
	}
	s.unindex(k)
	s.version++
	o.SetResourceVersion(fmt.Sprint(s.version))
	s.objects[k] = o
	if owner := metav1.GetControllerOfNoCopy(o); owner != nil {
		if s.byOwner[owner.UID] == nil {
			s.byOwner[owner.UID] = map[key]bool{}
		}
		s.byOwner[owner.UID][k] = true
	}
}

func (s *store) unindex(k key) {
	if old := s.objects[k]; old != nil {
		if owner := metav1.GetControllerOfNoCopy(old); owner != nil {
			delete(s.byOwner[owner.UID], k)
		}
	}
}

// create stores a new object with its defaults filled in. The error is what
// the API server would say.
func (s *store) create(o *unstructured.Unstructured, by string) error {
	k := keyOf(o)
	if s.objects[k] != nil {
		return errExists
	}
	o = o.DeepCopy()
	if err := s.admit(nil, o); err != nil {
		return fmt.Errorf("%s/%s: %w", k.kind, k.name, err)
	}
	s.lastUID++
	o.SetUID(types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", s.lastUID)))
	o.SetCreationTimestamp(metav1.NewTime(s.world.now))
	if hasGeneration(k) {
		o.SetGeneration(1)
	}
	s.put(o)
	s.world.note(Event{Verb: Created, Object: o, By: by})
	return nil
}

// update stores a changed object, unless nothing has changed. Its status is
// left as it is.
func (s *store) update(o *unstructured.Unstructured, by string) error {
	live := s.objects[keyOf(o)]
	if err := s.admit(live, o); err != nil {
		return fmt.Errorf("%s/%s: %w", o.GetKind(), o.GetName(), err)
	}
	if status, has := live.Object["status"]; has {
		o.Object["status"] = status
	} else {
		delete(o.Object, "status")
	}
	o.SetResourceVersion(live.GetResourceVersion())
	if reflect.DeepEqual(live.Object, o.Object) {
		return nil
	}
	if hasGeneration(keyOf(o)) && !reflect.DeepEqual(live.Object["spec"], o.Object["spec"]) {
		o.SetGeneration(live.GetGeneration() + 1)
	}
	s.put(o)
	s.world.note(Event{Verb: Changed, Object: o, Before: live, By: by})
	if o.GetDeletionTimestamp() != nil && len(o.GetFinalizers()) == 0 {
		s.remove(keyOf(o), by)
	}
	return nil
}

// updateStatus stores a changed status, unless nothing has changed.
func (s *store) updateStatus(k key, status map[string]any, by string) {
	live := s.objects[k]
	if live == nil || reflect.DeepEqual(live.Object["status"], any(status)) {
		return
	}
	next := live.DeepCopy()
	next.Object["status"] = status
	s.put(next)
	s.world.note(Event{Verb: Reported, Object: next, Before: live, By: by})
}

// delete removes an object, or marks it where it has finalizers. A Pod takes a
// step to go.
func (s *store) delete(k key, by string) {
	live := s.objects[k]
	if live == nil || live.GetDeletionTimestamp() != nil {
		return
	}
	if len(live.GetFinalizers()) == 0 && k.kind != "Pod" {
		s.remove(k, by)
		return
	}
	next := live.DeepCopy()
	now := metav1.NewTime(s.world.now)
	next.SetDeletionTimestamp(&now)
	s.put(next)
	s.world.note(Event{Verb: Deleting, Object: next, Before: live, By: by})
}

// remove takes an object out of the store.
func (s *store) remove(k key, by string) {
	live := s.objects[k]
	if live == nil {
		return
	}
	s.unindex(k)
	delete(s.objects, k)
	s.sorted = nil
	s.version++
	s.world.note(Event{Verb: Deleted, Object: live, By: by})
}

// hasGeneration reports whether the API server counts the changes of a kind's
// spec.
func hasGeneration(k key) bool {
	switch k.kind {
	case "ConfigMap", "Secret", "Service", "ServiceAccount", "Role", "RoleBinding", "PersistentVolumeClaim":
		return false
	}
	return true
}
