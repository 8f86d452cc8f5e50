package composite

import "github.com/operetta-dev/operetta/internal/simulate/apiserver"

// Answer is what a sync or finalize hook has answered.
type Answer struct {
	// Parent is the custom resource.
	Parent apiserver.Ref
	// Children are those that are asked for, in the order of the answer.
	Children []apiserver.Ref
}

// Refusal is a child that could not be created or updated.
type Refusal struct {
	// Parent is the custom resource, Child what was asked for.
	Parent, Child apiserver.Ref
	// Err is what the API server says.
	Err error
}

// Watch calls functions at each answer and at each refusal of a child, in place of
// those before. One that is nil leaves the one before.
func (m *Metacontroller) Watch(answer func(Answer), refusal func(Refusal)) {
	if answer != nil {
		m.answered = func(p *Parent, r *response) {
			a := Answer{Parent: p.Ref}
			for _, child := range r.Children {
				a.Children = append(a.Children, apiserver.RefOf(child))
			}
			answer(a)
		}
	}
	if refusal != nil {
		m.refused = func(p *Parent, child apiserver.Ref, err error) { refusal(Refusal{p.Ref, child, err}) }
	}
}

// Resync syncs a custom resource as the API server has it once more, without a
// trace in its counters and timers. It returns the hook's answer.
func (m *Metacontroller) Resync(parent apiserver.Ref) ([]byte, error) {
	p := m.parents[parent]
	calls, due, idle := p.Calls, p.due, p.idle
	defer func() { p.Calls, p.due, p.idle = calls, due, idle }()
	err := m.reconcile(p, m.server.Get(parent))
	return p.answer, err
}

// Retry makes those timers count again that have led to nothing too often.
func (m *Metacontroller) Retry() {
	for _, p := range m.parents {
		p.idle = 0
	}
}

// Selects reports whether the customize hook of a custom resource has selected an
// object.
func (m *Metacontroller) Selects(parent apiserver.Ref, object apiserver.Object) bool {
	p := m.parents[parent]
	return p != nil && m.selects(p, object)
}
