package picture

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/internal/lab/player"
)

// Who does something, as player.Event has it in By.
const (
	byApply = "applied"
	byHand  = "deleted by hand"
	byHook  = "the hook"
)

// beingDeleted is the state of an object that waits for its finalizers or its end.
const beingDeleted = "being deleted"

// story is what a picture tells of a World. Its times count from the first step.
type story struct {
	title, outcome string
	times          []time.Duration // of the steps with events, in their order
	lanes          []*lane
	outside        []outside
	omitted        int // lanes
}

// outside is something that neither the hook nor Kubernetes has done.
type outside struct {
	at   time.Duration
	text string
}

// teller reads the steps of a World.
type teller struct {
	story

	world *player.World
	now   time.Duration
	byRef map[kube.Ref]*lane
	below map[kube.Ref]bool // ReplicaSets of objects that people apply
}

func tell(world *player.World) story {
	t := &teller{world: world, byRef: map[kube.Ref]*lane{}, below: map[kube.Ref]bool{}}
	for _, step := range world.Steps {
		t.now = step.Time.Sub(world.Steps[0].Time)
		t.times = append(t.times, t.now)
		asked := phrases{}
		for _, event := range step.Events {
			t.read(event, &asked)
		}
		if text := asked.String(); text != "" {
			t.outside = append(t.outside, outside{t.now, text})
		}
	}
	t.title, t.outcome = nameOf(t.lanes), outcomeOf(world)
	t.lanes, t.omitted = arrange(t.lanes)
	return t.story
}

func (t *teller) read(event player.Event, asked *phrases) {
	if event.Object == nil {
		asked.add(event.Detail, "")
		t.strike(event.Detail)
		return
	}
	if !t.isDrawn(event) {
		return
	}
	l := t.lane(event.Object)
	isOutside := event.By == byApply || event.By == byHand
	name := kube.RefOf(event.Object).String()
	switch event.Verb {
	case player.Created:
		l.mark(t.now, '+', isOutside)
		l.enter(t.now, stateOf(event.Object, l.isParent))
		if isOutside {
			asked.add("apply ", name)
		}
	case player.Deleting:
		l.mark(t.now, '-', isOutside)
		l.enter(t.now, state{text: beingDeleted, level: unset})
		if isOutside {
			asked.add("delete ", name)
		}
	case player.Deleted:
		if !l.isMarked(t.now, '-') && !l.isTerminating() {
			l.mark(t.now, '-', isOutside)
			if isOutside {
				asked.add("delete ", name)
			}
		}
		t.end(l)
	case player.Changed:
		if text := t.change(l, event); isOutside && text != "" {
			asked.add("edit ", text)
		}
	case player.Reported:
		t.report(l, event.Object)
	case player.Failed:
		l.mark(t.now, '!', false)
	case player.Struck:
	}
}

// isDrawn reports whether an object has a lane: custom resources, children, what people apply,
// and the Pods of that, which a hook may be about.
func (t *teller) isDrawn(event player.Event) bool {
	ref := kube.RefOf(event.Object)
	if t.byRef[ref] != nil || t.world.IsOfParent(event.Object) || t.world.IsChild(event.Object) || event.By == byApply {
		return true
	}
	owner, found := ownerOf(event.Object)
	above := t.byRef[owner]
	isBelow := found && (t.below[owner] || above != nil && above.isForeign())
	if isBelow && ref.Kind == "ReplicaSet" {
		t.below[ref] = true
		return false
	}
	return isBelow
}

func (t *teller) lane(object kube.Object) *lane {
	ref := kube.RefOf(object)
	l := t.byRef[ref]
	if l == nil {
		l = &lane{ref: ref, name: ref.String(), isParent: t.world.IsOfParent(object), component: object.GetLabels()["app.kubernetes.io/component"]}
		if l.isParent {
			l.parent = ref
		} else if t.world.IsChild(object) {
			l.parent, _ = ownerOf(object)
		}
		t.byRef[ref] = l
		t.lanes = append(t.lanes, l)
	}
	return l
}

func ownerOf(object kube.Object) (kube.Ref, bool) {
	owner := metav1.GetControllerOf(object)
	if owner == nil {
		return kube.Ref{}, false
	}
	return kube.Ref{APIVersion: owner.APIVersion, Kind: owner.Kind, Namespace: object.GetNamespace(), Name: owner.Name}, true
}

// strike marks the objects that a fault names, as in "evict Pod/web".
func (t *teller) strike(detail string) {
	for _, l := range t.lanes {
		if l.condition == "" && slices.Contains(strings.Fields(detail), l.name) {
			l.mark(t.now, '!', true)
		}
	}
}

// end ends an object, and with a custom resource its conditions.
func (t *teller) end(ended *lane) {
	for _, l := range t.lanes {
		if l == ended || ended.isParent && l.parent == ended.ref && l.condition != "" {
			l.leave(t.now)
		}
	}
}

// change marks a change, and returns what an edit by people is called, which is empty where
// there is nothing to see.
func (t *teller) change(l *lane, event player.Event) string {
	paths := event.Paths()
	isOutside := event.By == byApply
	isBinding := len(paths) == 1 && strings.HasPrefix(paths[0], "spec.nodeName:") // its state says so
	if len(paths) == 0 || isBinding || l.isParent && !isOutside {
		return ""
	}
	l.mark(t.now, '~', isOutside)
	field, _, _ := strings.Cut(paths[0], ": ")
	if len(paths) > 1 {
		field += fmt.Sprintf(" and %d more", len(paths)-1)
	}
	l.marks[len(l.marks)-1].text = field
	if len(paths) == 1 && l.isParent { // others may be Secrets
		field = paths[0]
	}
	if l.isParent && l.name == nameOf(t.lanes) { // it is the title
		return field
	}
	return l.name + " " + field
}

func (t *teller) report(l *lane, object kube.Object) {
	if object.GetDeletionTimestamp() == nil {
		l.enter(t.now, stateOf(object, l.isParent))
	}
	if !l.isParent {
		return
	}
	names := conditionsOf(object)
	for _, c := range t.lanes {
		if c.ref == l.ref && c.condition != "" && !slices.Contains(names, c.condition) {
			c.leave(t.now)
		}
	}
	for _, name := range names {
		at := slices.IndexFunc(t.lanes, func(c *lane) bool { return c.ref == l.ref && c.condition == name })
		if at < 0 {
			at = len(t.lanes)
			t.lanes = append(t.lanes, &lane{ref: l.ref, condition: name, name: name, parent: l.ref})
		}
		t.lanes[at].enter(t.now, conditionState(name, kube.ConditionOf(object, name)))
	}
}

// phrases are what happens from outside in one step, each verb with its objects.
type phrases struct{ verbs, objects []string }

func (p *phrases) add(verb, object string) {
	if at := slices.Index(p.verbs, verb); at >= 0 && object != "" {
		p.objects[at] += ", " + object
		return
	}
	p.verbs, p.objects = append(p.verbs, verb), append(p.objects, object)
}

// String returns them all. A fault says already what is deleted by it.
func (p *phrases) String() string {
	var list []string
	for i, verb := range p.verbs {
		if verb == "delete " && i > 0 && strings.HasPrefix(p.verbs[i-1], string(player.Vanish)+" ") {
			continue
		}
		list = append(list, verb+p.objects[i])
	}
	return strings.Join(list, "; ")
}
