package podbuggertool

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/operetta-dev/operetta/operator"
)

// maxListed is how many Pods the status lists.
const maxListed = 100

// rank is the position of a state in the status: states that need a person come
// first.
func (s PodState) rank() int {
	return slices.Index([]PodState{PodFailed, PodNotRunning, PodPending, PodOutdated, PodInjected, PodWaiting, PodSkipped}, s)
}

// count counts and lists the Pods.
func count(list []progress) Status {
	status := Status{Matched: int32(len(list))}
	for _, c := range list {
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

// judge returns the state of all Pods, if the children are up to date.
func judge(status *Status, isStuck bool) operator.Summary {
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
	if status.Failed > 0 {
		first := status.Pods[0] // the failed ones come first
		message += fmt.Sprintf(", and %d cannot get it: Pod/%s: %s", status.Failed, first.Name, first.Message)
	}
	switch {
	case status.Failed > 0:
		return operator.Summary{State: operator.Failed, Reason: "InjectionFailed", Message: message}
	case isStuck:
		return operator.Summary{State: operator.Failed, Reason: "ContainerFailed", Message: message}
	case status.NotRunning > 0:
		return operator.Summary{State: operator.Progressing, Reason: "ContainerNotRunning", Message: message}
	case status.Pending > 0:
		return operator.Summary{State: operator.Progressing, Reason: "Injecting", Message: message}
	case wanted == 0:
		return operator.Summary{State: operator.Done, Reason: "NothingToDo", Message: "no running Pod matches"}
	}
	return operator.Summary{State: operator.Done, Reason: "Injected", Message: message}
}
