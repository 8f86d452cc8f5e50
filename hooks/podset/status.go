package podset

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/operetta-dev/operetta/operator"
)

// Reasons of Ready and Progressing, beside those of package operator.
const (
	reasonReady        = "Ready"
	reasonScaling      = "Scaling"
	reasonReplacing    = "Replacing"
	reasonPodsNotReady = "PodsNotReady"
	reasonTooLarge     = "TooLarge"
)

// nextBurst is how long to wait at most before more Pods are created. Each Pod
// that appears also causes a sync.
const nextBurst = 5 * time.Second

// progressDeadline is how long Pods may be missing or not ready without progress, as for a
// Deployment. It also applies after all were ready: a lost status would forget that.
const progressDeadline = 10 * time.Minute

// state is the input of the status.
type state struct {
	set      *PodSet
	observed observed
	most     int // Pods of the template that fit into a request
	plan     plan
	now      time.Time
}

// report returns the status, and when to check again.
func (s state) report(r *operator.Report) (Status, time.Duration) {
	set, observed, plan := s.set, s.observed, s.plan
	ready, current := observed.readiness()
	status := Status{
		Ready:           fmt.Sprintf("%d/%d", ready, *set.Spec.Size),
		Replicas:        int32(len(observed.live)),
		ReadyReplicas:   int32(ready),
		UpdatedReplicas: int32(current),
		Selector:        selectorLabel + "=" + set.Name,
	}
	for _, pod := range observed.live {
		status.Nodes = append(status.Nodes, pod.Name)
	}
	for _, number := range plan.pending {
		status.Pending = append(status.Pending, int32(number))
	}
	own, left := judge(s)
	resync := operator.Soonest(left, plan.retry.Sub(s.now))
	if plan.remaining > 0 {
		r.Summary.Message = withLater(r.Summary, own.Message, plan.remaining)
		if !plan.stuck {
			resync = operator.Soonest(resync, nextBurst)
		}
	}
	r.SetSummary(own, operator.ConditionProgressing)
	if !r.ChildrenUpToDate { // Progressing shows the operator's own summary
		r.SetSummary(r.Summary)
	}
	return status, resync
}

// IsProgressOf reports whether a status differs from an older one only in what later syncs
// do not read.
func (s Status) IsProgressOf(old Status) bool {
	s.Status, s.Ready, s.ReadyReplicas = old.Status, old.Ready, old.ReadyReplicas
	return equality.Semantic.DeepEqual(s, old)
}

// withLater adds to a message what the Pods wait for that have not been created
// yet.
func withLater(children operator.Summary, activity string, later int) string {
	switch children.Reason {
	case operator.ReasonCreating:
		return activity
	case operator.ReasonChildBlocked:
		return fmt.Sprintf("%s; %d more Pods are asked for as these appear", children.Message, later)
	}
	return children.Message
}

// activity says what is being done, or why the Pods are not ready.
func activity(s state) operator.Summary {
	observed, plan, size := s.observed, s.plan, int(*s.set.Spec.Size)
	ready, current := observed.readiness()
	outdated, state, reason, message := len(observed.live)-current, operator.Progressing, reasonScaling, ""
	switch {
	case plan.excess > 0:
		message = fmt.Sprintf("%d Pods exist, %d wanted", len(observed.live), size)
	case size > s.most && (outdated > 0 || len(observed.live) < size):
		state, reason = operator.Failed, reasonTooLarge
		message = fmt.Sprintf("spec.size is %d, and of so large a template a PodSet has at most %d Pods: "+
			"make the template smaller, for instance by moving its content to a ConfigMap, or write a smaller size", size, s.most)
	case outdated > 0:
		reason, message = operator.ReasonRollingOut, fmt.Sprintf("%d of %d Pods are of the newest template%s", current, size, observed.waitsFor())
	case len(plan.failed) > 0:
		reason, message = reasonReplacing, plan.replacing()
	case plan.remaining > 0:
		message = fmt.Sprintf("%d of %d Pods exist, creating %d at a time", len(observed.live), size, plan.batch)
	case len(observed.live) < size:
		message = fmt.Sprintf("%d of %d Pods exist", len(observed.live), size)
	case ready < size:
		reason, message = reasonPodsNotReady, fmt.Sprintf("%d of %d Pods are ready%s", ready, size, observed.waitsFor())
	default:
		state, reason, message = operator.Done, reasonReady, fmt.Sprintf("%d of %d Pods are ready", ready, size)
	}
	return operator.Summary{State: state, Reason: reason, Message: message}
}

// replacing says which failed Pods are being replaced, or why not yet.
func (p plan) replacing() string {
	first := p.failed[0].Name
	if len(p.failed) > 1 {
		first += fmt.Sprintf(" and %d more", len(p.failed)-1)
	}
	if !p.retry.IsZero() && len(p.fresh) == 0 {
		return first + " failed as the Pods before, so there is a pause before the next"
	}
	return first + " failed and is being replaced"
}

// waitsFor names the first Pod that is not ready.
func (o observed) waitsFor() string {
	for _, pod := range o.live {
		if !pod.ready {
			return "; " + pod.Name + " is not ready: " + pod.Status.Activity()
		}
	}
	return ""
}

// lastChange returns when a Pod was last created or changed its readiness.
func (o observed) lastChange() time.Time {
	var last time.Time
	for _, pod := range o.live {
		if pod.changed.After(last) {
			last = pod.changed
		}
	}
	return last
}

// judge returns the state of the Pods and, while there is nothing to do but to wait for some, how
// long until the progress deadline.
func judge(s state) (summary operator.Summary, left time.Duration) {
	summary = activity(s)
	change := s.observed.lastChange()
	if summary.State != operator.Progressing || !s.plan.isIdle() || change.IsZero() {
		return summary, 0
	}
	left = change.Add(progressDeadline).Sub(s.now)
	if left <= 0 && (summary.Reason == operator.ReasonRollingOut || summary.Reason == reasonPodsNotReady) {
		message := "no Pod has become ready for ten minutes: " + summary.Message
		return operator.Summary{State: operator.Failed, Reason: operator.ReasonDeadlineExceeded, Message: message}, 0
	}
	return summary, left
}
