package operator

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/operetta-dev/operetta/metacontroller"
)

// BackOffRejected returns the children for the answer: the desired ones, but for
// those that the API server has refused for longer than [ChildGrace], which are
// asked for again with exponential backoff (see [Attempt]) and not at every
// event. Between two attempts a child that does not exist is left out, and one
// whose update is refused is kept as it is. Each sync in which the API server
// refuses something takes one of the retries that all custom resources of the
// kind share.
//
// The difference is that of the desired children, and the pending children are
// those of the old status. A child that is missing or outdated for the first
// time is not held back, and after an edit of the spec none is. No observed
// child is ever left out. A Role or a RoleBinding is updated at each event: it
// would grant what it no longer should.
func (c *Conditions) BackOffRejected(children []metacontroller.Object, diff metacontroller.Difference, pending PendingChildren, observed metacontroller.Objects) []metacontroller.Object {
	missing := c.blocked(ConditionChildrenObserved, asked(diff), pending.MissingChildren)
	outdated := c.blocked(ConditionChildrenUpdated, diff.NotUpdated, pending.OutdatedChildren)
	if len(missing)+len(outdated) == 0 {
		return children
	}
	answered := make([]metacontroller.Object, 0, len(children))
	for _, child := range children {
		apiVersion, kind := child.GetObjectKind().GroupVersionKind().ToAPIVersionAndKind()
		ref := kind + "/" + child.GetName()
		snapshot, exists := observed.Find(apiVersion, kind, child.GetName())
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
