package composite

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/internal/lab/cluster/apiserver"
	"github.com/operetta-dev/operetta/metacontroller"
)

func (m *Metacontroller) finalizerOf(c *metacontroller.Controller) string {
	return metacontroller.FinalizerPrefix + m.options.Installation.Name(*c)
}

// reconcile is one sync of a live parent. After an error of a hook neither
// children nor status change.
func (m *Metacontroller) reconcile(p *Parent, object kube.Object) error {
	object, err := m.syncFinalizer(p, object)
	if err != nil {
		return fmt.Errorf("can't sync finalizer: %w", err)
	}
	observed, err := m.claimChildren(p, object)
	if err != nil {
		return err
	}
	related, err := m.related(p, object)
	if err != nil {
		return err
	}
	answer, children, err := m.ask(p, object, observed, related)
	if err != nil {
		return err
	}
	if answer.ResyncAfterSeconds > 0 {
		p.after(m.server.Now(), time.Duration(answer.ResyncAfterSeconds*float64(time.Second)))
	}
	if answer.Finalized {
		if object, err = m.setFinalizer(p, object, false); err != nil {
			return fmt.Errorf("can't remove finalizer: %w", err)
		}
	}
	for _, child := range children {
		if child.refused != nil {
			return child.refused
		}
	}
	var failure error
	if m.isManaged(p, object) {
		if err := m.manage(p, object, observed, children); err != nil {
			failure = fmt.Errorf("can't reconcile children: %w", err)
		}
	}
	if err := m.writeStatus(object, answer.Status); err != nil {
		if apierrors.IsNotFound(err) {
			return nil // the error of the children is lost
		}
		return fmt.Errorf("can't update status: %w", err)
	}
	return failure
}

func (m *Metacontroller) ask(p *Parent, object kube.Object, observed, related []group) (*response, []*desired, error) {
	hook, finalizing := metacontroller.SyncHook, false
	if p.controller.OrderedTeardown && object.GetDeletionTimestamp() != nil {
		hook, finalizing = metacontroller.FinalizeHook, true
	}
	var answer response
	body, err := m.call(p, hook, m.requestBody(p, object, observed, related, finalizing), &answer)
	if err != nil {
		return nil, nil, err
	}
	children, err := m.childrenOf(&answer, object)
	if err != nil {
		return nil, nil, fmt.Errorf("%s hook: its answer cannot be read: %w", hook, err)
	}
	p.answer = body
	if err := checkChildren(children); err != nil {
		return nil, nil, err
	}
	told := Answer{Parent: p.Ref}
	for _, child := range children {
		told.Children = append(told.Children, child.ref)
	}
	m.answered(told)
	return &answer, children, nil
}

func (m *Metacontroller) childrenOf(answer *response, parent kube.Object) ([]*desired, error) {
	children := make([]*desired, len(answer.Children))
	for i, text := range answer.Children {
		var err error
		if children[i], err = m.child(text, parent); err != nil {
			return nil, err
		}
	}
	return children, nil
}

// syncFinalizer adds the finalizer if the operator declares one. A parent that
// is being deleted gets none.
func (m *Metacontroller) syncFinalizer(p *Parent, object kube.Object) (kube.Object, error) {
	has := slices.Contains(object.GetFinalizers(), m.finalizerOf(p.controller))
	if has == p.controller.OrderedTeardown || !has && object.GetDeletionTimestamp() != nil {
		return object, nil
	}
	return m.setFinalizer(p, object, p.controller.OrderedTeardown)
}

func (m *Metacontroller) setFinalizer(p *Parent, object kube.Object, wanted bool) (kube.Object, error) {
	name := m.finalizerOf(p.controller)
	if slices.Contains(object.GetFinalizers(), name) == wanted {
		return object, nil
	}
	live, err := m.lookUp(object)
	if err != nil || slices.Contains(live.GetFinalizers(), name) == wanted {
		return live, err
	}
	successor := kube.WithMetadata(live)
	finalizers := slices.DeleteFunc(successor.GetFinalizers(), func(other string) bool { return other == name })
	if wanted {
		finalizers = append(finalizers, name)
	}
	if len(finalizers) == 0 {
		finalizers = nil // no empty list
	}
	successor.SetFinalizers(finalizers)
	return m.sendUpdate(successor)
}

// isManaged reports whether the parent's children are managed: while it lives,
// and while its own finalizer is set.
func (m *Metacontroller) isManaged(p *Parent, object kube.Object) bool {
	if object.GetDeletionTimestamp() == nil {
		return true
	}
	finalizers := object.GetFinalizers()
	return p.controller.OrderedTeardown && slices.Contains(finalizers, m.finalizerOf(p.controller)) &&
		!slices.Contains(finalizers, metav1.FinalizerDeleteDependents) &&
		!slices.Contains(finalizers, metav1.FinalizerOrphanDependents)
}

func (m *Metacontroller) writeStatus(object kube.Object, status map[string]any) error {
	live, err := m.lookUp(object)
	if err != nil {
		return err
	}
	if status == nil {
		status = map[string]any{}
	}
	status["observedGeneration"] = object.GetGeneration()
	if old, _ := live.Object["status"].(map[string]any); old != nil && kube.Equal(old, status) {
		return nil
	}
	_, err = m.send(true, func() (kube.Object, error) {
		return m.server.UpdateStatus(apiserver.ByHook, kube.RefOf(object), status)
	})
	return err
}

// Answer is the answer of a sync or finalize hook.
type Answer struct {
	// Parent is the custom resource.
	Parent kube.Ref
	// Children are the children in the answer, in order.
	Children []kube.Ref
}

// Refusal is a child that could not be created or updated.
type Refusal struct {
	// Parent is the custom resource, Child the refused child.
	Parent, Child kube.Ref
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
func (m *Metacontroller) Resync(parent kube.Ref) ([]byte, error) {
	p := m.parents[parent]
	calls, due, idle := p.Calls, p.due, p.idle
	defer func() { p.Calls, p.due, p.idle = calls, due, idle }()
	err := m.reconcile(p, m.server.Get(parent))
	return p.answer, err
}

// IsWanted reports whether the last answer for a custom resource asks for a child of a kind and name.
func (m *Metacontroller) IsWanted(kind, name string) bool {
	for _, p := range m.parents {
		var answer struct {
			Children []metav1.PartialObjectMetadata `json:"children"`
		}
		if json.Unmarshal(p.answer, &answer) != nil {
			continue
		}
		for _, child := range answer.Children {
			if child.Kind == kind && child.Name == name {
				return true
			}
		}
	}
	return false
}

// Retry makes timers count again that were ignored as idle.
func (m *Metacontroller) Retry() {
	for _, p := range m.parents {
		p.idle = 0
	}
}

// Selects reports whether the customize hook of a custom resource has selected an object.
func (m *Metacontroller) Selects(parent kube.Ref, object kube.Object) bool {
	p := m.parents[parent]
	return p != nil && m.selects(p, object)
}
