package operator

import (
	"slices"
	"strings"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/operetta-dev/operetta/metacontroller"
)

// backOff returns the children for the answer: the desired ones, but for those that the API server
// has refused for longer than [ChildGrace]. Between two attempts (see attempt) one that does not
// exist is left out, and one whose update is refused is kept as it is: each refusal takes one of
// the retries that all custom resources of a kind share, and syncs come at every event.
//
// A child that is missing or outdated for the first time is not held back, and after an edit of the
// spec none is. No observed child is ever left out. A Role or a RoleBinding is updated at each
// event: it would grant what it no longer should.
func (r *Report) backOff(children []metacontroller.Object) []metacontroller.Object {
	missing := r.blocked(ConditionChildrenObserved, asked(r.differs), r.old.MissingChildren)
	outdated := r.blocked(ConditionChildrenUpdated, r.differs.NotUpdated, r.old.OutdatedChildren)
	if len(missing)+len(outdated) == 0 {
		return children
	}
	answered := make([]metacontroller.Object, 0, len(children))
	for _, child := range children {
		apiVersion, kind := child.GetObjectKind().GroupVersionKind().ToAPIVersionAndKind()
		ref := kind + "/" + child.GetName()
		snapshot, exists := r.observed.Find(apiVersion, kind, child.GetName())
		switch {
		case !exists && slices.Contains(missing, ref):
			continue
		case exists && slices.Contains(outdated, ref) && !strings.HasPrefix(apiVersion, rbacv1.GroupName+"/"):
			child = metacontroller.Keep(snapshot)
		}
		answered = append(answered, child)
	}
	return answered
}

// blocked returns those of some children that are not to be asked for now. The
// old list says which were waited for before; one that is full may lack some.
func (c *Conditions) blocked(conditionType string, children, old []string) []string {
	condition := c.oldWait(conditionType)
	if condition == nil || condition.ObservedGeneration != c.generation {
		return nil
	}
	if isNow, _ := attempt(c.now.Sub(condition.LastTransitionTime.Time)); isNow {
		return nil
	}
	if len(old) >= maxPending {
		return children
	}
	return slices.DeleteFunc(slices.Clone(children), func(ref string) bool { return !slices.Contains(old, ref) })
}

const (
	// attemptTime is how long an attempt lasts. A busy Metacontroller may call later than that; the
	// hook then waits for the next one.
	attemptTime = 10 * time.Second
	// maxRetryAfter is the longest time between two attempts.
	maxRetryAfter = 10 * time.Minute
)

// attempt reports whether children that have been missing for some time should be asked for now, and
// when the next attempt begins: they are for [ChildGrace], and then in windows of ten seconds with
// exponential backoff.
func attempt(missing time.Duration) (isNow bool, next time.Duration) {
	if missing < ChildGrace {
		return true, ChildGrace - max(missing, 0)
	}
	begins := ChildGrace
	for begins < maxRetryAfter && missing-begins >= begins {
		begins *= 2
	}
	passed, period := missing-begins, begins
	if begins >= maxRetryAfter {
		passed, period = passed%maxRetryAfter, maxRetryAfter
	}
	return passed < attemptTime, period - passed
}
