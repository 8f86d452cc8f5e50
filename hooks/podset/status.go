package podset

import (
	"fmt"
	"slices"
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
	reasonPaused       = "Paused"
)

// nextBurst is how long to wait at most before more Pods are created. Each Pod
// that appears also causes a sync.
const nextBurst = 5 * time.Second

// progressDeadline is how long Pods may be missing or not ready without progress, by default as
// for a Deployment. It also applies after all were ready: a lost status would forget that.
func progressDeadline(set *PodSet) time.Duration {
	if set.Spec.ProgressDeadlineSeconds == nil {
		return 10 * time.Minute
	}
	return time.Duration(*set.Spec.ProgressDeadlineSeconds) * time.Second
}

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
	n := observed.count()
	status := Status{
		Ready:             fmt.Sprintf("%d/%d", n.ready, *set.Spec.Size),
		Replicas:          int32(len(observed.live)),
		ReadyReplicas:     int32(n.ready),
		AvailableReplicas: int32(n.available),
		UpdatedReplicas:   int32(n.current),
		Selector:          selectorLabel + "=" + set.Name,
	}
	for _, pod := range observed.live {
		status.Nodes = append(status.Nodes, pod.Name)
	}
	for _, number := range plan.pending {
		status.Pending = append(status.Pending, int32(number))
	}
	own, left := judge(s)
	pods := s.pods()
	status.LastFailure = operator.LastFailure(pods, set.Status.LastFailure)
	if told := operator.Tell(pods, s.now); own.Reason != reasonTooLarge && own.Reason != reasonPaused {
		own = own.Telling(told)
	}
	resync := operator.Soonest(left, plan.retry.Sub(s.now), s.nextAvailable())
	if plan.remaining > 0 {
		r.Summary.Message = withLater(r.Summary, own.Message, plan.remaining)
		if !plan.stuck {
			resync = operator.Soonest(resync, nextBurst)
		}
	}
	r.SetSummary(own, operator.ConditionProgressing)
	if !r.ChildrenUpToDate { // Progressing shows the operator's own summary
		r.SetSummary(r.With(own))
	}
	return status, resync
}

// IsProgressOf reports whether a status differs from an older one only in what later syncs
// do not read.
func (s Status) IsProgressOf(old Status) bool {
	s.Status, s.Ready, s.ReadyReplicas, s.AvailableReplicas = old.Status, old.Ready, old.ReadyReplicas, old.AvailableReplicas
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

// nextAvailable returns when the next Pod will have been ready for long enough, or zero.
func (s state) nextAvailable() time.Duration {
	var next time.Duration
	for _, pod := range s.observed.live {
		if pod.ready && !pod.available {
			next = operator.Soonest(next, pod.availableIn(s.set, s.now))
		}
	}
	return next
}

// activity says what is being done, or why the Pods are not ready.
func activity(s state) operator.Summary {
	observed, plan, size := s.observed, s.plan, int(*s.set.Spec.Size)
	n, toReplace := observed.count(), rollOf(s.set).toReplace(observed.live)
	outdated := len(observed.live) - n.current
	isPaused := s.set.Spec.Paused && outdated > 0
	state, reason, message := operator.Progressing, reasonScaling, ""
	switch {
	case plan.excess > 0:
		message = fmt.Sprintf("%d Pods exist, %d wanted", len(observed.live), size)
	case size > s.most && (outdated > 0 || len(observed.live) < size):
		state, reason = operator.Failed, reasonTooLarge
		message = fmt.Sprintf("spec.size is %d, and of so large a template a PodSet has at most %d Pods: "+
			"make the template smaller, for instance by moving its content to a ConfigMap, or write a smaller size", size, s.most)
	case toReplace > 0 && outdated == 0:
		reason, message = reasonReplacing, fmt.Sprintf("%d Pods of spec.podsToDelete are being replaced%s", toReplace, s.settles())
	case toReplace > 0:
		reason, message = operator.ReasonRollingOut, fmt.Sprintf("%d of %d Pods are of the newest template%s", n.current, size, s.settles())
	case len(plan.failed) > 0:
		reason, message = reasonReplacing, plan.replacing()
	case plan.remaining > 0:
		message = fmt.Sprintf("%d of %d Pods exist, creating %d at a time", len(observed.live), size, plan.batch)
	case len(observed.live) < size:
		message = fmt.Sprintf("%d of %d Pods exist", len(observed.live), size)
	case n.ready < size:
		reason, message = reasonPodsNotReady, fmt.Sprintf("%d of %d Pods are ready", n.ready, size)
	case n.available < size:
		reason, message = reasonPodsNotReady, fmt.Sprintf("%d of %d Pods have been ready for %d seconds", n.available, size, s.set.Spec.MinReadySeconds)
	case isPaused:
		reason, message = reasonPaused, fmt.Sprintf("%d of %d Pods are of the newest template; set spec.paused to false to go on", n.current, size)
	default:
		state, reason, message = operator.Done, reasonReady, fmt.Sprintf("%d of %d Pods are ready", n.ready, size)
		if outdated > 0 {
			message += stays(outdated, min(int(s.set.Spec.Partition), size))
		}
	}
	return operator.Summary{State: state, Reason: reason, Message: message}
}

// stays tells of the Pods of an older template. Of those that are wanted some may be gone: partition
// was raised, or size, since the change.
func stays(outdated, wanted int) string {
	if outdated < wanted {
		return fmt.Sprintf("; %d stay of an older template, %d fewer than spec.partition: apply the older template to go back", outdated, wanted-outdated)
	}
	return fmt.Sprintf("; %d stay of an older template, as spec.partition says", outdated)
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

// pods are all Pods, as operator tells of them.
func (s state) pods() []operator.Pod {
	all := slices.Concat(s.observed.live, s.observed.failed, s.observed.going)
	pods := make([]operator.Pod, len(all))
	for i, pod := range all {
		pods[i] = operator.Pod{Snapshot: pod.Snapshot, PodTimes: pod.Metadata.PodTimes, Status: &pod.Status}
	}
	return pods
}

// settles names the first Pod that is ready and not available.
func (s state) settles() string {
	for _, pod := range s.observed.live {
		if pod.ready && !pod.available {
			return fmt.Sprintf("; %s has not been ready for %d seconds", pod.Name, s.set.Spec.MinReadySeconds)
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
	if summary.State != operator.Progressing || summary.Reason == reasonPaused || !s.plan.isIdle() || change.IsZero() {
		return summary, 0
	}
	deadline := progressDeadline(s.set)
	left = change.Add(deadline).Sub(s.now)
	if left <= 0 && (summary.Reason == operator.ReasonRollingOut || summary.Reason == reasonPodsNotReady) {
		message := fmt.Sprintf("no Pod has become ready for %d seconds: %s", int(deadline.Seconds()), summary.Message)
		return operator.Summary{State: operator.Failed, Reason: operator.ReasonDeadlineExceeded, Message: message}, 0
	}
	return summary, left
}
