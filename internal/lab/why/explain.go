package why

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"k8s.io/apimachinery/pkg/types"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// Answer says why a custom resource is not Ready.
type Answer struct {
	Ref

	// Ready is the status of the kube.Condition, Reason and Message are its others, and Since is
	// since when.
	Ready   string     `json:"ready"`
	Reason  string     `json:"reason,omitempty"`
	Message string     `json:"message,omitempty"`
	Since   *time.Time `json:"since,omitempty"`
	// Deleting is set while it is being deleted.
	Deleting bool `json:"deleting,omitempty"`
	// Stuck is set where it does not go on by itself: something fails, or a person is needed.
	Stuck bool `json:"stuck,omitempty"`
	// Because are the causes, the first one first. It is empty if nothing holds the custom resource.
	Because []Cause `json:"because"`
	// Waits are parts that have not begun, because others come first.
	Waits []string `json:"waits,omitempty"`
	// Next is what happens by itself.
	Next []string `json:"next,omitempty"`
	// Seen is when the objects were read.
	Seen time.Time `json:"seen"`
	// NotSeen is what was not read and may matter.
	NotSeen []string `json:"notSeen,omitempty"`
}

// IsReady reports whether nothing holds the custom resource.
func (a Answer) IsReady() bool { return len(a.Because) == 0 }

// walk is the way through the objects of one custom resource.
type walk struct {
	*Cluster

	parent     Object
	controller *metacontroller.Controller
	plan       Plan
	status     map[string]any // that the words are taken of
	words      string         // the hook's own
	parts      []part
	seen       map[types.UID]bool
	causes     []Cause
	unseen     map[string]bool
	isPartial  bool // the hook reads kinds that were not read
}

// Explain says why a custom resource is not Ready.
func (c *Cluster) Explain(parent Object, plan Plan) Answer {
	w := &walk{
		Cluster: c, parent: parent, controller: c.options.Controllers.Of(parent.GetAPIVersion(), parent.GetKind()),
		plan: plan, seen: map[types.UID]bool{}, unseen: map[string]bool{},
	}
	for _, child := range w.controller.Children {
		w.needs(child.Resource)
	}
	for _, related := range w.controller.Related {
		w.needs(related.Resource)
	}
	w.isPartial = len(w.unseen) > 0 && !c.options.Recorded
	stored, _ := parent.Object["status"].(map[string]any)
	w.status = w.currentStatus(stored)
	ready := kube.ConditionIn(stored, operator.ConditionReady)
	if c.options.Recorded {
		ready = kube.ConditionIn(w.status, operator.ConditionReady)
	}
	a := Answer{
		Ref: kube.RefOf(parent), Ready: cmp.Or(ready.Status, "Unknown"), Reason: ready.Reason, Message: ready.Message,
		Since: at(ready.Since), Seen: c.options.Now, Deleting: parent.GetDeletionTimestamp() != nil, NotSeen: slices.Sorted(maps.Keys(w.unseen)),
	}
	if w.isReady(ready) {
		return a
	}
	if parent.GetUID() == "" && !c.options.Recorded {
		w.addUnread([]Link{w.link(parent)})
	} else {
		w.collect()
	}
	a.Because, a.Waits, a.Next, a.Stuck = w.causes, w.waits(), w.next(), w.isStuck()
	for _, kind := range madeBy(w.controller) {
		w.needs(kind)
	}
	if !c.seesEvents() {
		w.unseen["Event"] = true
	}
	a.NotSeen = slices.Sorted(maps.Keys(w.unseen))
	return a
}

// currentStatus returns the status that the causes are about: what the hook says of the objects, if
// all that it reads was read. The status in a recorded request is the one before the answer; but
// where it is not Ready it is kept, because the hashes of recorded specs are not what they were.
func (w *walk) currentStatus(stored map[string]any) map[string]any {
	isFailing := kube.ConditionIn(stored, operator.ConditionReady).Status == "False"
	if w.plan.Err != nil || w.options.Recorded && isFailing || w.isPartial {
		return stored
	}
	return w.plan.Status
}

// isReady reports whether the custom resource is Ready, and still would be at another sync.
func (w *walk) isReady(stored kube.Condition) bool {
	return stored.Status == "True" && w.plan.Err == nil && !w.isBehind() && w.parent.GetDeletionTimestamp() == nil &&
		kube.ConditionIn(w.status, operator.ConditionReady).Status == "True"
}

// collect finds all causes.
func (w *walk) collect() {
	own := kube.ConditionIn(w.status, operator.ConditionReady)
	w.words = own.Message + " " + kube.ConditionIn(w.status, operator.ConditionChildrenObserved).Message
	w.parts = partsOf(w.status)
	top := []Link{w.link(w.parent)}
	w.addSync(top)
	w.addDeletion(top)
	w.descend(w.parent, top)
	if w.plan.Err == nil {
		w.addChildren(top)
		w.addMentioned(top)
	}
	w.addReady(own, top)
	for i := range w.causes {
		c := &w.causes[i]
		c.Look = cmp.Or(c.Look, w.describe(c.Ref))
	}
	w.raise()
	slices.SortFunc(w.causes, Cause.compare)
	first := w.causes[0]
	rest := slices.DeleteFunc(w.causes[1:], func(c Cause) bool {
		return first.isFollowedBy(c) || first.rank == unanswered && c.rank >= absent
	})
	w.causes = w.causes[:1+len(rest)]
}

// isStuck reports whether somebody has to look. A Pod that its node or the scheduler has ended has another one in
// its place, unless the operator says that it wants none.
func (w *walk) isStuck() bool {
	first := w.causes[0]
	return kube.ConditionIn(w.status, operator.ConditionStalled).Status == "True" ||
		first.rank <= stalled && first.Reason != notSynced && !first.isReplaced
}

// raise makes causes of what had its time: what an object waited for past its deadline.
func (w *walk) raise() {
	isLate := map[Link]bool{}
	for _, c := range w.causes {
		if c.rank == stalled && c.Reason == operator.ReasonDeadlineExceeded {
			isLate[Link{Kind: c.Ref.Kind, Name: c.Ref.Name}] = true
		}
	}
	for i := range w.causes {
		c := &w.causes[i]
		isOfLate := slices.ContainsFunc(c.Holds[1:], func(l Link) bool {
			return isLate[Link{Kind: l.Kind, Name: l.Name}]
		})
		if c.rank == progressing && isOfLate && !w.isHeld(c.Ref) {
			c.rank = failing
		}
	}
}

// isHeld reports whether something below an object is failing.
func (w *walk) isHeld(object Ref) bool {
	return slices.ContainsFunc(w.causes, func(c Cause) bool {
		return c.rank == failing && slices.ContainsFunc(c.Holds[1:], func(l Link) bool { return l.Kind == object.Kind && l.Name == object.Name })
	})
}

// descend looks at all objects below an owner, whose links lead to the custom resource.
func (w *walk) descend(owner Object, links []Link) {
	for _, object := range w.below(owner) {
		if w.seen[object.GetUID()] {
			continue
		}
		w.seen[object.GetUID()] = true
		to := links
		if ref, _ := kube.ControllerOf(object); kube.ControllerUID(object) != owner.GetUID() {
			to = prepend(Link{Kind: ref.Kind, Name: ref.Name, NotSeen: true}, to)
			w.unseen[ref.Kind] = true
		}
		if owner == w.parent {
			to = w.withPart(object, to)
		}
		to = prepend(w.link(object), to)
		w.addObject(object, to)
		w.descend(object, to)
	}
}

func prepend(link Link, links []Link) []Link { return append([]Link{link}, links...) }

// withPart adds the part of the custom resource that an object is, if it has one of that name.
func (w *walk) withPart(object Object, links []Link) []Link {
	for _, p := range w.parts {
		if p.name == object.GetName() {
			return prepend(Link{Kind: p.kind, Name: p.key}, links)
		}
	}
	return links
}

// waits returns the parts of which nothing exists yet, and what they say.
func (w *walk) waits() []string {
	exists := map[string]bool{}
	for _, child := range w.ownedBy(w.parent.GetUID()) {
		exists[child.GetName()] = true
	}
	for _, c := range w.causes { // one of these is another's, or refused
		exists[c.Ref.Name] = true
	}
	var list []string
	for _, p := range w.parts {
		if p.message != "" && !exists[p.name] {
			list = append(list, p.key+" "+p.message)
		}
	}
	return list
}

// mentioned finds objects in the words of a hook, as in Pod/web-0.
var mentioned = regexp.MustCompile(`\b([A-Z][A-Za-z]+)/([a-z0-9](?:[-a-z0-9.]*[a-z0-9])?)`)

// add adds a cause.
func (w *walk) add(object Object, links []Link, c Cause) {
	c.Ref, c.Holds = kube.RefOf(object), links
	w.causes = append(w.causes, c)
}

// addReady adds what the operator says itself.
func (w *walk) addReady(ready kube.Condition, links []Link) {
	c := Cause{Source: "condition Ready", Reason: ready.Reason, Message: ready.Message, Since: at(ready.Since), rank: told}
	switch ready.Status {
	case "":
		c.Reason, c.Message = "NoStatus", "it has no status: no operator has seen it yet"
	case "True":
		c.Source, c.Reason, c.Message = "the hook", notSynced, "its operator says now that it is Ready: the status is older"
		c.Since = nil
	}
	if kube.ConditionIn(w.status, operator.ConditionStalled).Status == "True" {
		c.rank = stalled
		c.Next = []string{"nothing by itself: the operator needs a person"}
	}
	w.add(w.parent, links, c)
}
