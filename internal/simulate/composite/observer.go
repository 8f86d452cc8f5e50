package composite

import "github.com/operetta-dev/operetta/internal/simulate/apiserver"

// Answer is the answer of a sync or finalize hook.
type Answer struct {
	// Parent is the custom resource.
	Parent apiserver.Ref
	// Children are the children in the answer, in order.
	Children []apiserver.Ref
}

// Refusal is a child that could not be created or updated.
type Refusal struct {
	// Parent is the custom resource, Child the refused child.
	Parent, Child apiserver.Ref
	// Err is the API server's error.
	Err error
}

// Watch sets functions that are called at each answer and at each refusal of a
// child. Nil keeps the previous one.
func (m *Metacontroller) Watch(answer func(Answer), refusal func(Refusal)) {
	if answer != nil {
		m.answered = answer
	}
	if refusal != nil {
		m.refused = refusal
	}
}

// Resync syncs a custom resource once more, as it is in the API server, without
// changing counters and timers. It returns the hook's answer.
func (m *Metacontroller) Resync(parent apiserver.Ref) ([]byte, error) {
	p := m.parents[parent]
	calls, due, idle := p.Calls, p.due, p.idle
	defer func() { p.Calls, p.due, p.idle = calls, due, idle }()
	err := m.reconcile(p, m.server.Get(parent))
	return p.answer, err
}

// Retry makes timers count again that were ignored as idle.
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
