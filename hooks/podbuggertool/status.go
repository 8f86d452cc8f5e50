package podbuggertool

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/operator"
)

// maxListed is how many Pods the status lists.
const maxListed = 100

// rank is the place of a state in the status: what a person has to look at comes
// first.
func (s PodState) rank() int {
	return slices.Index([]PodState{PodFailed, PodNotRunning, PodPending, PodOutdated, PodInjected, PodWaiting, PodSkipped}, s)
}

// report counts and lists the Pods.
func report(candidates []*candidate) Status {
	status := Status{Matched: int32(len(candidates))}
	for _, c := range candidates {
		switch c.state {
		case PodInjected, PodOutdated:
			status.Injected++
		case PodNotRunning:
			status.Injected++
			status.NotRunning++
		case PodPending:
			status.Pending++
		case PodFailed:
			status.Failed++
		case PodSkipped:
			status.Skipped++
		case PodWaiting:
		}
		if c.outdated {
			status.Outdated++
		}
		status.Pods = append(status.Pods, PodStatus{Name: c.pod.Name, State: c.state, Message: c.message})
	}
	status.Ready = fmt.Sprintf("%d/%d", status.Injected-status.NotRunning, status.Injected+status.Pending+status.Failed)
	slices.SortFunc(status.Pods, func(a, b PodStatus) int {
		return cmp.Or(
			cmp.Compare(a.State.rank(), b.State.rank()),
			strings.Compare(a.Name, b.Name),
		)
	})
	status.Pods = status.Pods[:min(len(status.Pods), maxListed)]
	return status
}

// judge sets Ready and Stalled. Where the children are not settled, Ready is
// False already and tells why.
func judge(conditions *operator.Conditions, settled, isStuck bool, status *Status) {
	wanted := status.Injected + status.Pending + status.Failed
	message := fmt.Sprintf("%d of %d running Pods have the container", status.Injected, wanted)
	if status.Outdated > 0 {
		message += fmt.Sprintf(", %d of them with another image", status.Outdated)
	}
	if status.NotRunning > 0 {
		message += fmt.Sprintf(", and in %d it does not run", status.NotRunning)
		if i := slices.IndexFunc(status.Pods, func(p PodStatus) bool { return p.State == PodNotRunning }); i >= 0 {
			message += fmt.Sprintf(": Pod/%s: %s", status.Pods[i].Name, status.Pods[i].Message)
		}
	}
	if isStuck {
		conditions.Set(operator.ConditionStalled, metav1.ConditionTrue, "ContainerFailed", message)
	}
	if status.Failed > 0 {
		first := status.Pods[0] // the failed ones come first
		message += fmt.Sprintf(", and %d cannot get it: Pod/%s: %s", status.Failed, first.Name, first.Message)
		conditions.Set(operator.ConditionStalled, metav1.ConditionTrue, "InjectionFailed", message)
	}
	switch {
	case !settled:
	case status.Failed > 0:
		conditions.Set(operator.ConditionReady, metav1.ConditionFalse, "InjectionFailed", message)
	case isStuck:
		conditions.Set(operator.ConditionReady, metav1.ConditionFalse, "ContainerFailed", message)
	case status.NotRunning > 0:
		conditions.Set(operator.ConditionReady, metav1.ConditionFalse, "ContainerNotRunning", message)
	case status.Pending > 0:
		conditions.Set(operator.ConditionReady, metav1.ConditionFalse, "Injecting", message)
	case wanted == 0:
		conditions.Set(operator.ConditionReady, metav1.ConditionTrue, "NothingToDo", "no running Pod matches")
	default:
		conditions.Set(operator.ConditionReady, metav1.ConditionTrue, "Injected", message)
	}
}
