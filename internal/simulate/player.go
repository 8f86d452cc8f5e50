package simulate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/operetta-dev/operetta/metacontroller"
)

// uidLabel is the label by which generateSelector tells the children of a
// parent.
const uidLabel = "controller-uid"

// player plays Metacontroller for one parent.
type player struct {
	world      *World
	controller metacontroller.Controller
	seen       string    // the state that the last sync saw
	due        time.Time // of the next sync without a change, or zero
	calls      int
	failure    string // of the last sync, or empty
	response   []byte // to the last request
	rules      []metacontroller.Rule
	rulesFor   int64             // the generation that the rules are for
	applied    map[key]ssaRecord // what server-side apply remembers
}

type ssaRecord struct {
	desired []byte
	content map[string]any
	state   string
}

// retryAfterFailure is how long a failing hook is left alone. Metacontroller
// begins with milliseconds and ends with a quarter of an hour.
const retryAfterFailure = 10 * time.Second

// answer is a response as strictly as hook version v2 reads it.
type answer struct {
	Status             map[string]any   `json:"status"`
	Children           []map[string]any `json:"children"`
	ResyncAfterSeconds float64          `json:"resyncAfterSeconds"`
	Finalized          bool             `json:"finalized"`
}

func (w *World) playerOf(parent *unstructured.Unstructured) *player {
	uid := string(parent.GetUID())
	if w.play[uid] == nil {
		controller, _ := w.controllerOf(parent.GetAPIVersion(), parent.GetKind())
		w.play[uid] = &player{world: w, controller: controller, applied: map[key]ssaRecord{}}
	}
	return w.play[uid]
}

// sync brings one parent and its children together, if anything that its hook
// could see has changed or its timer is due.
func (p *player) sync(parent *unstructured.Unstructured) {
	p.adopt(parent)
	children := p.children(parent)
	related, err := p.related(parent)
	if err != nil {
		p.fail(parent, err)
		return
	}
	state := stateOf(parent, children, related)
	isDue := !p.due.IsZero() && !p.world.now.Before(p.due)
	if state == p.seen && !isDue {
		return
	}
	p.seen, p.due = state, time.Time{}
	if err := p.reconcile(parent, children, related); err != nil {
		p.fail(parent, err)
		return
	}
	p.failure = ""
}

func (p *player) fail(parent *unstructured.Unstructured, err error) {
	if p.failure != err.Error() {
		p.failure = err.Error()
		p.world.note(Event{Verb: Failed, Object: parent, Detail: p.failure})
	}
	p.due = p.world.now.Add(retryAfterFailure)
}

// stateOf returns what tells one state of the objects from another. A parent's
// status is left out, as with ignoreStatusChanges.
func stateOf(parent *unstructured.Unstructured, groups ...[]*unstructured.Unstructured) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %v %v %v|", parent.GetGeneration(), parent.GetLabels(), parent.GetAnnotations(), parent.GetDeletionTimestamp())
	for _, group := range groups {
		for _, o := range group {
			fmt.Fprintf(&b, "%s %s,", o.GetUID(), o.GetResourceVersion())
		}
	}
	return b.String()
}

// reconcile calls the hook and does what it answers. Nothing is done before the
// whole answer is known to be good.
func (p *player) reconcile(parent *unstructured.Unstructured, children, related []*unstructured.Unstructured) error {
	hook, finalizing := metacontroller.SyncHook, false
	if p.controller.OrderedTeardown {
		finalizing = parent.GetDeletionTimestamp() != nil
		if finalizing {
			hook = metacontroller.FinalizeHook
		} else if p.addFinalizer(parent) {
			parent = p.world.store.get(keyOf(parent))
		}
	}
	request := p.request(parent, children, related, finalizing)
	answer, err := p.call(hook, request)
	if err != nil {
		return err
	}
	if answer.ResyncAfterSeconds > 0 {
		p.due = p.world.now.Add(time.Duration(answer.ResyncAfterSeconds * float64(time.Second)))
	}
	if answer.Finalized {
		p.removeFinalizer(parent)
		return nil
	}
	var problems []error
	if parent.GetDeletionTimestamp() == nil || finalizing {
		problems = p.manage(parent, children, answer.Children)
	}
	answer.Status["observedGeneration"] = parent.GetGeneration()
	p.world.store.updateStatus(keyOf(parent), answer.Status, "Metacontroller")
	return errors.Join(problems...)
}

// call posts a request and reads the answer as strictly as Metacontroller.
func (p *player) call(hook metacontroller.HookName, request map[string]any) (*answer, error) {
	p.calls++
	status, body, err := p.world.options.Call(p.world.now, "/"+p.controller.Name()+"/"+string(hook), encode(request))
	if err != nil {
		return nil, fmt.Errorf("the %s hook cannot be reached: %w", hook, err)
	}
	if status != http.StatusOK {
		return nil, fmt.Errorf("the %s hook answers %d: %s", hook, status, bytes.TrimSpace(body))
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	var strict answer
	if err := decoder.Decode(&strict); err != nil {
		return nil, fmt.Errorf("the %s hook's answer cannot be read: %w", hook, err)
	}
	exact := &answer{}
	if err := decode(body, exact); err != nil || exact.Status == nil || exact.Children == nil {
		return nil, fmt.Errorf("the %s hook's answer lacks status or children", hook)
	}
	p.response = body
	return exact, nil
}

// request returns what Metacontroller posts.
func (p *player) request(parent *unstructured.Unstructured, children, related []*unstructured.Unstructured, finalizing bool) map[string]any {
	kinds := make([]metacontroller.Resource, len(p.controller.Children))
	for i, child := range p.controller.Children {
		kinds[i] = child.Resource
	}
	return map[string]any{
		"controller": p.composite(),
		"parent":     parent.Object,
		"children":   p.byKind(kinds, children),
		"related":    p.byKind(p.controller.Related, related),
		"finalizing": finalizing,
	}
}

func (p *player) composite() map[string]any {
	return map[string]any{
		"apiVersion": "metacontroller.k8s.io/v1alpha1", "kind": "CompositeController",
		"metadata": map[string]any{"name": "operetta-" + p.controller.Name()},
	}
}

func (p *player) byKind(kinds []metacontroller.Resource, objects []*unstructured.Unstructured) map[string]any {
	groups := map[string]any{}
	for _, kind := range kinds {
		groups[kind.Key()] = map[string]any{}
	}
	for _, o := range objects {
		name := o.GetNamespace() + "/" + o.GetName()
		if p.world.options.HookVersion == "v1" {
			name = o.GetName()
		}
		groups[keyKind(o)].(map[string]any)[name] = o.Object
	}
	return groups
}

// finalizer is Metacontroller's, with the name of the CompositeController.
func (p *player) finalizer() string {
	return "metacontroller.io/compositecontroller-operetta-" + p.controller.Name()
}

func (p *player) addFinalizer(parent *unstructured.Unstructured) bool {
	for _, name := range parent.GetFinalizers() {
		if name == p.finalizer() {
			return false
		}
	}
	next := parent.DeepCopy()
	next.SetFinalizers(append(next.GetFinalizers(), p.finalizer()))
	return p.world.store.update(next, "Metacontroller") == nil
}

func (p *player) removeFinalizer(parent *unstructured.Unstructured) {
	next := parent.DeepCopy()
	var left []string
	for _, name := range parent.GetFinalizers() {
		if name != p.finalizer() {
			left = append(left, name)
		}
	}
	next.SetFinalizers(left)
	_ = p.world.store.update(next, "Metacontroller") // a parent that is going is not refused
}

// adopt claims objects of the children's kinds that carry the parent's label
// and have no owner, and releases those that lost the label.
func (p *player) adopt(parent *unstructured.Unstructured) {
	for _, child := range p.controller.Children {
		for _, k := range p.world.store.keys() {
			if k.kind != child.Kind || k.apiVersion != child.APIVersion || k.namespace != parent.GetNamespace() {
				continue
			}
			o := p.world.store.get(k)
			owner, matches := metav1.GetControllerOfNoCopy(o), o.GetLabels()[uidLabel] == string(parent.GetUID())
			next := o.DeepCopy()
			switch {
			case owner == nil && matches && o.GetDeletionTimestamp() == nil && parent.GetDeletionTimestamp() == nil:
				next.SetOwnerReferences(append(next.GetOwnerReferences(), ownerReference(parent)))
			case owner != nil && owner.UID == parent.GetUID() && !matches:
				next.SetOwnerReferences(nil)
			default:
				continue
			}
			_ = p.world.store.update(next, "Metacontroller") // metadata only
		}
	}
}

func ownerReference(owner *unstructured.Unstructured) metav1.OwnerReference {
	yes := true
	return metav1.OwnerReference{
		APIVersion: owner.GetAPIVersion(), Kind: owner.GetKind(), Name: owner.GetName(), UID: owner.GetUID(),
		Controller: &yes, BlockOwnerDeletion: &yes,
	}
}

// children returns the objects that the parent owns, of the declared kinds.
func (p *player) children(parent *unstructured.Unstructured) []*unstructured.Unstructured {
	var list []*unstructured.Unstructured
	for _, o := range p.world.store.owned(parent.GetUID()) {
		for _, child := range p.controller.Children {
			if o.GetKind() == child.Kind && o.GetAPIVersion() == child.APIVersion {
				list = append(list, o)
			}
		}
	}
	return list
}

// related returns the objects that the customize hook selects.
func (p *player) related(parent *unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	if len(p.controller.Related) == 0 {
		return nil, nil
	}
	if p.rulesFor != parent.GetGeneration() {
		status, body, err := p.world.options.Call(p.world.now, "/"+p.controller.Name()+"/"+string(metacontroller.CustomizeHook),
			encode(map[string]any{"controller": p.composite(), "parent": parent.Object}))
		if err != nil {
			return nil, fmt.Errorf("the customize hook cannot be reached: %w", err)
		}
		if status != http.StatusOK {
			return nil, fmt.Errorf("the customize hook answers %d: %s", status, bytes.TrimSpace(body))
		}
		var response struct {
			RelatedResources []metacontroller.Rule `json:"relatedResources"`
		}
		if err := json.Unmarshal(body, &response); err != nil {
			return nil, fmt.Errorf("the customize hook's answer cannot be read: %w", err)
		}
		p.rules, p.rulesFor = response.RelatedResources, parent.GetGeneration()
	}
	var list []*unstructured.Unstructured
	for _, k := range p.world.store.keys() {
		o := p.world.store.get(k)
		for _, rule := range p.rules {
			matches, err := p.selects(rule, parent, o)
			if err != nil {
				return nil, err
			}
			if matches {
				list = append(list, o)
				break
			}
		}
	}
	return list, nil
}

func (p *player) selects(rule metacontroller.Rule, parent, o *unstructured.Unstructured) (bool, error) {
	for _, kind := range p.controller.Related {
		if kind.Plural != rule.Resource || kind.APIVersion != rule.APIVersion {
			continue
		}
		if o.GetKind() != kind.Kind || o.GetAPIVersion() != kind.APIVersion || o.GetNamespace() != parent.GetNamespace() {
			continue
		}
		if len(rule.Names) > 0 {
			for _, name := range rule.Names {
				if name == o.GetName() {
					return true, nil
				}
			}
			return false, nil
		}
		if rule.LabelSelector == nil {
			return true, nil
		}
		selector, err := metav1.LabelSelectorAsSelector(rule.LabelSelector)
		if err != nil {
			return false, fmt.Errorf("the customize hook's selector: %w", err)
		}
		return selector.Matches(labels.Set(o.GetLabels())), nil
	}
	return false, nil
}

// again calls the hook once more for an unchanged world, and returns an error
// unless the answer is the same and leads to no write.
func (p *player) again(parent *unstructured.Unstructured) error {
	before, version := p.response, p.world.store.version
	due := p.due
	p.seen = ""
	p.sync(parent)
	p.due = due
	if p.failure != "" {
		return errors.New(p.failure)
	}
	if !bytes.Equal(before, p.response) && !sameButTimer(before, p.response) {
		return errors.New("the same state is answered differently the second time")
	}
	if p.world.store.version != version {
		return errors.New("the converged state is written to again")
	}
	return nil
}

// sameButTimer compares answers without the time that is left to wait.
func sameButTimer(a, b []byte) bool {
	var left, right map[string]any
	if json.Unmarshal(a, &left) != nil || json.Unmarshal(b, &right) != nil {
		return false
	}
	delete(left, "resyncAfterSeconds")
	delete(right, "resyncAfterSeconds")
	return reflect.DeepEqual(left, right)
}
