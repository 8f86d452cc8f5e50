package dataservice

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// Conditions beside those that every operator has.
const (
	conditionMiddlewareReady = "MiddlewareReady"
	conditionServicesReady   = "ServicesReady"
)

// Reasons of the conditions, beside those of package operator.
const (
	reasonReady    = "Ready"
	reasonStarting = "Starting"
	reasonNotReady = "ComponentsNotReady"
	reasonTooLarge = "TooLarge"
	// reasonUnknownName means that a probe or a mount names a port or a volume that the component has not.
	reasonUnknownName = "UnknownName"
	// reasonInvalid means that a field which the CRD does not describe is not as Kubernetes has it.
	reasonInvalid = "InvalidField"
	// reasonImmutable means that a StatefulSet has other storage than the spec.
	reasonImmutable = "ImmutableStorage"
)

// report returns the status of all components.
func (p *plan) report(r *operator.Report) Status {
	var status Status
	ready, all := 0, 0
	for _, part := range p.parts {
		p.look(part)
		status.Components = append(status.Components, p.componentStatus(part))
		if !part.runsHere() {
			continue
		}
		all++
		if part.isReady {
			ready++
		}
	}
	status.Components = append(status.Components, p.removed...)
	status.Ready = fmt.Sprintf("%d/%d", ready, all)
	status.Phase = p.phase()

	for _, partial := range []struct {
		conditionType string
		isMiddleware  bool
	}{{conditionMiddlewareReady, true}, {conditionServicesReady, false}} {
		j := p.summarize(func(part *part) bool { return part.isMiddleware == partial.isMiddleware })
		r.SetSummarized(partial.conditionType, j)
	}
	r.SetSummary(r.With(p.judge()))
	return status
}

// IsProgressOf reports whether a status differs from an older one only in how far the work is.
func (s Status) IsProgressOf(old Status) bool { return s.Phase == old.Phase }

// componentStatus returns the status of one component.
func (p *plan) componentStatus(part *part) ComponentStatus {
	status := ComponentStatus{Component: part.key, Name: part.name, Kind: part.kind}
	if !part.runsHere() {
		status.Kind = IsThirdParty
		return status
	}
	if part.workload != nil {
		rollout := part.workload.rollout()
		status.Ready = fmt.Sprintf("%d/%d", rollout.Ready, rollout.Wanted)
	}
	status.Message = p.message(part)
	return status
}

// message says why a component is not ready, or another fact about it.
func (p *plan) message(part *part) string {
	if part.isReady {
		if len(part.old) > 0 {
			return part.old[0] + " is kept until all that depends on it is ready"
		}
		return ""
	}
	switch {
	case part.refused.reason != "":
		return part.refused.message
	case part.isHeld():
		return "waits for " + strings.Join(part.waitsFor, ", ")
	case len(part.updatesAfter) > 0:
		return "its update waits for " + strings.Join(part.updatesAfter, ", ")
	case part.rival != "":
		return fmt.Sprintf("waiting for deletion of %s: its Service would send to both", part.rival)
	case len(part.differs.Conflicts) > 0:
		return part.differs.Conflicts[0].String()
	case len(part.differs.Missing) > 0:
		return part.differs.Missing[0] + " is being created"
	}
	rollout := part.workload.rollout()
	isReady := rollout.Ready >= rollout.Wanted
	reason := fmt.Sprintf("%d of %d Pods are ready", rollout.Ready, rollout.Wanted)
	switch {
	case len(part.differs.Outdated) > 0 && rollout.IsObserved() && isReady:
		reason = part.differs.Outdated[0] + " is being updated"
	case !rollout.IsObserved():
		reason = rollout.NotObserved()
	case isReady && rollout.Updated < rollout.Wanted:
		reason = fmt.Sprintf("%d of %d Pods are updated", rollout.Updated, rollout.Wanted)
	case isReady && rollout.Existing == 0:
		reason = "no node takes a Pod of " + part.workload.Ref() + ": see its nodeSelector, and the taints of the nodes"
	case isReady:
		reason = "old Pods are terminating"
	}
	if rollout.Failure != "" {
		reason += "; " + part.workload.Ref() + " cannot create Pods: " + operator.Quoted(rollout.Failure)
	}
	if rollout.IsPaused {
		reason += "; " + part.workload.Ref() + " is paused: resume it, with kubectl rollout resume"
	}
	if part.told != nil {
		reason += "; " + part.told.Pod + ": " + part.told.Text
	} else if part.lacksPods {
		ref := part.workload.Ref()
		reason += fmt.Sprintf("; %s makes none: a quota, Pod Security, a missing ServiceAccount or an admission webhook may refuse them; see `kubectl events -n %s --for %s`",
			ref, p.ds.Namespace, strings.ToLower(ref))
	}
	return reason
}

// judge returns the state of all components, if their children are up to date.
// A rollout that has failed for good comes first.
func (p *plan) judge() operator.Summary {
	for _, part := range p.parts {
		if part.refused.reason != "" {
			return operator.Summary{State: operator.Failed, Reason: part.refused.reason, Message: part.refused.message}
		}
		if part.workload == nil || slices.Contains(part.differs.Outdated, part.workload.Ref()) {
			continue
		}
		if deadline := part.workload.rollout().Deadline; deadline != "" {
			message := fmt.Sprintf("%s: %s %s: %s", part.workload.Ref(), deadline, part.name, p.message(part))
			return operator.Summary{State: operator.Failed, Reason: operator.ReasonDeadlineExceeded, Message: message}
		}
	}
	summary := p.summarize(func(*part) bool { return true })
	if summary.State == operator.Done && p.isWaiting {
		gone := p.removed[0]
		return operator.Summary{State: operator.Progressing, Reason: operator.ReasonUpdating, Message: gone.Component + ": " + gone.Message}
	}
	for _, part := range p.parts {
		if summary.State == operator.Done && part.runsHere() {
			summary = summary.Telling(part.told)
		}
	}
	return summary
}

// summarize returns the state of some of the components.
func (p *plan) summarize(isMeant func(*part) bool) operator.Summary {
	var notReady []string
	isHeld, isOrdered, isStuck, count := false, false, false, 0
	var again time.Duration
	for _, part := range p.parts {
		if !isMeant(part) {
			continue
		}
		count++
		if !part.isReady {
			notReady = append(notReady, part.name+": "+p.message(part))
			isHeld, isOrdered = isHeld || part.isHeld(), isOrdered || len(part.updatesAfter) > 0
			told := part.toldOfNewest()
			isStuck = isStuck || told != nil && told.State == operator.Degraded || part.lacksPods
			again = operator.Soonest(again, told.Next(), part.untilLacking)
		}
	}
	switch {
	case count == 0:
		return operator.Summary{State: operator.Done, Reason: reasonReady, Message: "there is none"}
	case len(notReady) == 0 && count == 1:
		return operator.Summary{State: operator.Done, Reason: reasonReady, Message: "the one component is ready"}
	case len(notReady) == 0:
		return operator.Summary{State: operator.Done, Reason: reasonReady, Message: fmt.Sprintf("all %d components are ready", count)}
	}
	summary := operator.Summary{State: operator.Progressing, Reason: reasonNotReady, Message: operator.Listed(notReady, "; ") + operator.SeeWhy("dataservice", p.ds, p.request)}
	switch {
	case isHeld:
		summary.Reason = reasonStarting
	case isOrdered:
		summary.Reason = operator.ReasonUpdating
	}
	if isStuck {
		summary.State = operator.Degraded
	}
	return summary.Again(again)
}

// look sets what is said of the Pods of a component. Why a StatefulSet or DaemonSet has made none for long enough
// only Events tell.
func (p *plan) look(part *part) {
	now := p.request.Now
	part.told = p.observed.told(part.unit, now)
	if part.workload == nil || part.isReady || part.told != nil || !p.request.Related.Includes(metacontroller.Pod) {
		return
	}
	if r := part.workload.rollout(); r.Wanted == 0 || r.Existing > 0 || r.Failure != "" || r.IsPaused {
		return
	}
	part.untilLacking = part.workload.Metadata.CreationTimestamp.Add(operator.ChildGrace).Sub(now)
	part.lacksPods = part.untilLacking <= 0
}

// toldOfNewest returns what is said of a Pod of the component, unless it is to be replaced anyway, or nil.
func (p *part) toldOfNewest() *operator.Told {
	if p.workload == nil || slices.Contains(p.differs.Outdated, p.workload.Ref()) {
		return nil
	}
	return p.told
}

// phase returns the overall phase. A product is Degraded if it was ready and
// has too few ready Pods now; one that is being updated serves as before.
func (p *plan) phase() Phase {
	before := p.ds.Status.Phase
	hasBeenReady := before == PhaseReady || before == PhaseDegraded
	phase := PhaseReady
	for _, part := range p.parts {
		switch {
		case part.isReady:
		case hasBeenReady && part.workload != nil && !part.workload.serves():
			return PhaseDegraded
		case hasBeenReady && part.workload == nil && !part.isHeld() && len(part.old) == 0:
			return PhaseDegraded
		default:
			phase = PhaseStarting
		}
	}
	if phase == PhaseStarting && len(p.observed.children) == 0 {
		return PhasePending
	}
	return phase
}
