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

// states are in their order in the status: those that need a person come first.
var states = []PodState{PodFailed, PodNotRunning, PodPending, PodOutdated, PodInjected, PodWaiting, PodSkipped}

// count counts and lists the Pods.
func count(candidates []*candidate) Status {
	status := Status{Matched: int32(len(candidates))}
	counts := map[PodState]int32{}
	sorted := slices.Clone(candidates)
	slices.SortFunc(sorted, byTrouble)
	for _, c := range sorted {
		counts[c.state]++
		if c.isOutdated {
			status.Outdated++
		}
		status.Pods = append(status.Pods, PodStatus{Name: c.pod.Name, State: c.state, Message: c.message})
	}
	status.Injected = counts[PodInjected] + counts[PodOutdated] + counts[PodNotRunning]
	status.NotRunning, status.Pending = counts[PodNotRunning], counts[PodPending]
	status.Failed, status.Skipped = counts[PodFailed], counts[PodSkipped]
	status.Ready = fmt.Sprintf("%d/%d", status.Injected-status.NotRunning, status.Injected+status.Pending+status.Failed)
	status.Pods = status.Pods[:min(len(status.Pods), maxListed)]
	return status
}

// withTold adds what hinders a Job, while some are under way.
func withTold(j operator.Summary, candidates []*candidate) operator.Summary {
	if j.State != operator.Progressing {
		return j
	}
	var first *operator.Told // one that may need a person, if there is any
	for _, c := range candidates {
		if c.told != nil && (c.told.State == operator.Degraded || c.told.Next() > 0) && (first == nil || first.State != operator.Degraded) {
			first = c.told
		}
	}
	return j.Telling(first)
}

// byTrouble orders Pods as the status lists them. A container that starts is not running either, and
// needs nobody.
func byTrouble(a, b *candidate) int {
	rank := map[bool]int{true: -1}
	return cmp.Or(
		slices.Index(states, a.state)-slices.Index(states, b.state),
		rank[a.isBroken]-rank[b.isBroken],
		strings.Compare(a.pod.Name, b.pod.Name),
	)
}

// judge returns the state of all Pods, if the children are up to date.
func judge(status *Status, candidates []*candidate) operator.Summary {
	isStuck := slices.ContainsFunc(candidates, func(c *candidate) bool { return c.isStuck })
	isBroken := slices.ContainsFunc(candidates, func(c *candidate) bool { return c.isBroken })
	wanted := status.Injected + status.Pending + status.Failed
	message := fmt.Sprintf("%d of %d running Pods have the container", status.Injected, wanted)
	if status.Outdated > 0 {
		message += fmt.Sprintf(", %d of them with another image", status.Outdated)
	}
	if status.NotRunning > 0 {
		message += fmt.Sprintf(", and in %d it does not run", status.NotRunning)
	}
	if status.Failed > 0 {
		message += fmt.Sprintf(", and %d cannot get it", status.Failed)
	}
	if status.NotRunning+status.Failed > 0 { // they come first, the failed ones before the others
		message += fmt.Sprintf(": Pod/%s: %s", status.Pods[0].Name, status.Pods[0].Message)
	}
	summary := operator.Summary{State: operator.Done, Reason: "Injected", Message: message}
	switch {
	case status.Failed > 0:
		summary.State, summary.Reason = operator.Failed, "InjectionFailed"
	case isStuck:
		summary.State, summary.Reason = operator.Failed, "ContainerFailed"
	case isBroken:
		summary.State, summary.Reason = operator.Degraded, "ContainerNotRunning"
	case status.Pending+status.NotRunning > 0:
		summary.State, summary.Reason = operator.Progressing, "Injecting"
	case wanted == 0:
		summary.Reason, summary.Message = "NothingToDo", "no running Pod matches"
	}
	return summary
}
