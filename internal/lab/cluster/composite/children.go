package composite

import (
	"fmt"
	"maps"
	"slices"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/operetta-dev/operetta/internal/lab/cluster/apiserver"
	"github.com/operetta-dev/operetta/metacontroller"
)

// manage deletes the observed children that are not desired, then creates and
// updates the desired ones. A failure of one does not stop the others.
func (m *Metacontroller) manage(p *Parent, object kube.Object, observed []group, children []*desired) error {
	wanted := map[kube.Ref]*desired{}
	for _, child := range children {
		wanted[child.ref] = child // the last duplicate counts
	}
	live := map[kube.Ref]kube.Object{}
	var failures []error
	for _, g := range observed {
		for _, child := range g.objects {
			ref := kube.RefOf(child)
			live[ref] = child
			if wanted[ref] != nil || child.GetDeletionTimestamp() != nil {
				continue
			}
			_, err := m.send(false, func() (kube.Object, error) {
				return nil, m.server.Delete(apiserver.ByHook, ref, child.GetUID())
			})
			if err != nil && !apierrors.IsNotFound(err) {
				failures = append(failures, fmt.Errorf("can't delete %s: %w", ref, err))
			}
			delete(m.applied, ref)
		}
	}
	for _, ref := range slices.SortedFunc(maps.Keys(wanted), kube.Ref.Compare) {
		if err := m.apply(p, object, live[ref], wanted[ref]); err != nil {
			m.refused(Refusal{p.Ref, ref, err})
			failures = append(failures, err)
		}
		if m.server.Full() != nil {
			break
		}
	}
	return utilerrors.NewAggregate(failures)
}

func (m *Metacontroller) apply(p *Parent, object, live kube.Object, child *desired) error {
	if live != nil && live.GetDeletionTimestamp() != nil {
		return nil // it can only be created again when it is gone
	}
	if m.options.Apply == ServerSideApply {
		return m.applyOnServer(p, object, live, child)
	}
	if live == nil {
		return m.create(p, object, child)
	}
	last := m.memory.applied[kube.Annotation(live, metacontroller.LastAppliedAnnotation)]
	merged, err := mergeChild(live, last, child)
	if err != nil {
		return err
	}
	if merged == live || !p.isInPlace(child.ref) {
		return nil
	}
	_, err = m.sendUpdate(merged)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// create creates a child. If the name is taken, it silently gives up.
func (m *Metacontroller) create(p *Parent, object kube.Object, child *desired) error {
	err := m.sendCreate(child.created(object))
	if apierrors.IsAlreadyExists(err) {
		m.refused(Refusal{p.Ref, child.ref, err})
		m.requests-- // it changes nothing, however often it is sent
		return nil
	}
	return err
}

func mergeChild(live kube.Object, last map[string]any, child *desired) (_ kube.Object, err error) {
	if last == nil {
		if last, err = lastApplied(live); err != nil {
			return nil, err
		}
	}
	content, _ := MergeObject(live.Object, last, child.merged)
	merged := kube.WithMetadata(&unstructured.Unstructured{Object: content})
	apiserver.KeepServerSet(merged, live)
	kube.SetAnnotation(merged, metacontroller.LastAppliedAnnotation, child.lastApplied)
	if kube.Equal(merged.Object, live.Object) {
		return live, nil
	}
	return merged, nil
}

// applyState is Metacontroller's memory of a child that it has applied with
// server-side apply: it compares the child with nothing else.
type applyState struct {
	desired    string
	uid        types.UID
	generation int64
	version    string
}

// stateOf returns the applyState of an object. The resource version only counts
// for kinds without a generation.
func stateOf(object kube.Object, desired string) applyState {
	state := applyState{desired: desired, uid: object.GetUID(), generation: object.GetGeneration()}
	if state.generation == 0 {
		state.version = object.GetResourceVersion()
	}
	return state
}

func (m *Metacontroller) applyOnServer(p *Parent, object, live kube.Object, child *desired) error {
	body, err := child.body(object)
	if err != nil {
		return err
	}
	if live != nil {
		state := stateOf(live, child.text)
		if m.applied[child.ref] == state {
			return nil
		}
		if !p.isInPlace(child.ref) {
			m.applied[child.ref] = state
			return nil
		}
	}
	patched, err := m.send(false, func() (kube.Object, error) { return m.server.Apply(body) })
	if apierrors.IsConflict(err) {
		return nil
	}
	if err != nil {
		return err
	}
	m.applied[child.ref] = stateOf(patched, child.text)
	return nil
}

// Requests returns the number of writes to the API server.
func (m *Metacontroller) Requests() int { return m.requests }

func (m *Metacontroller) send(isStatus bool, do func() (kube.Object, error)) (written kube.Object, err error) {
	m.requests++
	if m.syncFault == nil {
		return do()
	}
	err = m.syncFault.write(isStatus, func() error { written, err = do(); return err })
	return written, err
}

func (m *Metacontroller) sendCreate(child kube.Object) error {
	_, err := m.send(false, func() (kube.Object, error) {
		if err := m.tellAsked(true, child); err != nil {
			return nil, err
		}
		return m.server.Create(apiserver.ByHook, child)
	})
	return err
}

func (m *Metacontroller) sendUpdate(object kube.Object) (kube.Object, error) {
	return m.send(false, func() (kube.Object, error) {
		if err := m.tellAsked(false, object); err != nil {
			return nil, err
		}
		return m.server.Update(apiserver.ByHook, object)
	})
}
