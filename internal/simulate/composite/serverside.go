package composite

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operetta-dev/operetta/internal/simulate/apiserver"
	"github.com/operetta-dev/operetta/metacontroller"
)

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
func stateOf(object apiserver.Object, desired string) applyState {
	state := applyState{desired: desired, uid: object.GetUID(), generation: object.GetGeneration()}
	if state.generation == 0 {
		state.version = object.GetResourceVersion()
	}
	return state
}

func (m *Metacontroller) applyOnServer(p *Parent, object, live apiserver.Object, child *desired) error {
	body, err := child.body(object)
	if err != nil {
		return err
	}
	if live != nil {
		state := stateOf(live, child.text)
		if m.applied[child.ref] == state {
			return nil
		}
		if p.updateMethod(child.ref) != metacontroller.InPlace {
			m.applied[child.ref] = state
			return nil
		}
	}
	patched, err := m.send(false, func() (apiserver.Object, error) { return m.server.Apply(body) })
	if apierrors.IsConflict(err) {
		return nil
	}
	if err != nil {
		return err
	}
	m.applied[child.ref] = stateOf(patched, child.text)
	return nil
}
