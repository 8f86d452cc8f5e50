package myjob

import (
	"cmp"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// stage is how far a MyJob is.
type stage int

const (
	starting    stage = iota // the Pod of this attempt has never been seen, and is asked for
	suspended                // nor is it asked for, while the MyJob is suspended
	pausing                  // nor yet, for an attempt has failed
	blocked                  // another Pod has its name
	running                  // its Pod is not done
	terminating              // its Pod is being deleted, and may still end well
	missing                  // its Pod has been seen, and is not observed
	ended
)

// plan says how far the MyJob is, and what becomes of the Pods.
type plan struct {
	stage   stage
	attempt int32 // the number of the attempt, from 1
	failed  int32 // attempts that have failed
	// disrupted are attempts that were disrupted and are not counted as failed.
	disrupted int32
	pausedTo  time.Time               // when this attempt may begin, zero if it has not to wait
	kept      []metacontroller.Object // the observed Pods that stay
	// outcome is what the status says once it has ended. Without a result nothing tells
	// how. It also tells how the last attempt has failed, if there is another.
	outcome Status
	again   time.Duration // after what time there is something else to do, zero for not at all
}

// decide makes the plan.
func decide(job *MyJob, observed observed, now time.Time) plan {
	pod := observed.pod
	switch {
	case job.Status.isShown():
		return conclude(job, observed, job.Status, now)
	case pod == nil && job.Status.Phase == PhaseCompleted && !job.Status.isTerminating():
		outcome := job.Status
		outcome.Reason = reasonUnknown
		return conclude(job, observed, outcome, now)
	case pod == nil && !observed.hasSeen:
		return begin(job, observed, now)
	case pod == nil && observed.suspends:
		return next(job, observed, Status{})
	case pod == nil && job.Status.isTerminating():
		return fail(job, observed, Status{Result: ResultFailed, Reason: job.Status.Reason}, now, now)
	case pod == nil && observed.absence < operator.ChildGrace:
		return observed.plan(job, missing, operator.ChildGrace-observed.absence)
	case pod == nil:
		return fail(job, observed, Status{Result: ResultFailed, Reason: reasonPodLost}, now, now)
	case !observed.hasSeen && pod.isOlder(job):
		return observed.plan(job, blocked, 0)
	case pod.Status.Phase == corev1.PodFailed && observed.suspends && pod.Terminating:
		return observed.plan(job, terminating, 0)
	case pod.Status.IsDone():
		outcome, end := pod.ending(now)
		return fail(job, observed, outcome, end, now)
	case pod.Terminating:
		return observed.plan(job, terminating, 0)
	}
	p := observed.plan(job, running, 0)
	end := observed.deadline(job)
	switch left := end.Sub(now); {
	case !job.Spec.isSuspended() && !end.IsZero() && left <= 0:
		return overrun(job, observed, end, now)
	case !job.Spec.isSuspended() && !end.IsZero():
		p.again = left
	case !job.Spec.isSuspended():
	case observed.suspends: // a request has shown why the Pod goes
		p.kept = p.kept[:len(observed.earlier)]
	default: // a status that is written causes no request
		p.again = time.Second
	}
	return p
}

// plan returns the plan of a stage in which all Pods stay.
func (o observed) plan(job *MyJob, stage stage, again time.Duration) plan {
	return plan{stage: stage, attempt: o.attempt, failed: job.Status.Failed, disrupted: job.Status.Disrupted, kept: o.keep(), again: again}
}

// The pause after a failure or a disruption is as long as a Job's: ten seconds, twice as long each
// time, and at most six minutes.
const firstPause, longestPause = 10 * time.Second, 6 * time.Minute

// begin asks for the Pod, unless the MyJob is suspended or has to pause.
func begin(job *MyJob, observed observed, now time.Time) plan {
	if job.Spec.isSuspended() {
		return observed.plan(job, suspended, 0)
	}
	end := observed.deadline(job)
	if !end.IsZero() && !now.Before(end) {
		return givenUp(job, observed, end, now)
	}
	if next := job.Status.NextAttemptTime; next != nil {
		if left := next.Sub(now); left > 0 && left <= longestPause {
			p := observed.plan(job, pausing, left)
			p.pausedTo = next.Time
			return p
		}
	}
	return observed.plan(job, starting, 0)
}

// fail ends the MyJob as its Pod has ended, or begins another attempt if the Pod has failed and
// there is one left, or it was disrupted and that shall not count. A Pod past its deadline is not
// tried again.
func fail(job *MyJob, observed observed, ended Status, end, now time.Time) plan {
	limit := int32(0)
	if job.Spec.BackoffLimit != nil {
		limit = *job.Spec.BackoffLimit
	}
	isOver := ended.Result != ResultFailed || ended.Reason == reasonDeadline || job.Status.Phase == PhaseCompleted
	switch {
	case !isOver && job.Spec.RetryDisruptions && observed.isDisrupted(job):
		return next(job, observed, ended).after(0, 1, end)
	case !isOver && job.Status.Failed < limit:
		return next(job, observed, ended).after(1, 0, end)
	}
	return conclude(job, observed, observed.outcome(job, ended, end), now)
}

// after adds to the numbers of the attempts that have failed and were disrupted, and says how long
// the next one has to wait.
func (p plan) after(failed, disrupted int32, end time.Time) plan {
	p.failed += failed
	p.disrupted += disrupted
	p.outcome.Message = cmp.Or(p.outcome.Message, p.outcome.Reason)
	p.pausedTo = end.Add(min(longestPause, firstPause<<min(p.failed+p.disrupted-1, 10)))
	return p
}

// next begins another attempt in the status. Its Pod is asked for once a request shows that.
func next(job *MyJob, observed observed, ended Status) plan {
	p := observed.plan(job, pausing, time.Second)
	if job.Spec.isSuspended() {
		p.stage = suspended
	}
	p.attempt++
	p.outcome = ended
	return p
}

// conclude keeps the Pods of a MyJob that has ended while its time to live lasts, and
// until a request has shown the outcome: the Pod is deleted before the status is
// written, and nothing but the Pod would tell it again.
func conclude(job *MyJob, observed observed, outcome Status, now time.Time) plan {
	p := observed.plan(job, ended, 0)
	p.outcome = outcome
	if pod := observed.pod; pod != nil && !pod.Status.IsDone() && outcome.Reason == reasonDeadline && job.Status.isShown() {
		p.kept = p.kept[:len(observed.earlier)]
	}
	if len(p.kept) == 0 || job.Spec.TTLSecondsAfterFinished == nil || outcome.CompletionTime == nil {
		return p
	}
	ttl := time.Duration(*job.Spec.TTLSecondsAfterFinished) * time.Second
	left := outcome.CompletionTime.Add(ttl).Sub(now)
	if left <= 0 && job.Status.isShown() {
		p.kept = nil // its time to live is over
		return p
	}
	p.again = max(left, time.Second)
	return p
}

// keep returns the observed Pods as children that stay, that of this attempt last.
func (o observed) keep() []metacontroller.Object {
	var kept []metacontroller.Object
	for _, pod := range o.earlier {
		kept = append(kept, metacontroller.Keep(pod.Snapshot))
	}
	if o.pod != nil {
		kept = append(kept, metacontroller.Keep(o.pod.Snapshot))
	}
	return kept
}

func (s *Spec) isSuspended() bool { return s.Suspend != nil && *s.Suspend }

// isShown reports whether the status tells how the MyJob has ended. One that
// another operator wrote may only tell that it has.
func (s *Status) isShown() bool { return s.Phase == PhaseCompleted && s.Result != "" }

// isTerminating reports whether the status tells that the Pod is being deleted, and why.
func (s *Status) isTerminating() bool {
	return s.Result == "" && s.Reason != "" && s.Reason != reasonUnknown
}

// outcome completes what the status says, once and for all, of how the Pod has ended.
func (o observed) outcome(job *MyJob, ended Status, end time.Time) Status {
	at := metav1.NewTime(end.UTC().Truncate(time.Second))
	ended.Phase, ended.StartTime, ended.CompletionTime = PhaseCompleted, o.startTime(job), &at
	ended.PodName, ended.Attempt, ended.Failed = podName(job, o.attempt), job.Status.Attempt, job.Status.Failed
	ended.Disrupted = job.Status.Disrupted
	if ended.Result == ResultFailed && job.Spec.BackoffLimit != nil {
		ended.Failed++
	}
	if started := ended.StartTime; started != nil {
		ended.Duration = max(0, at.Sub(started.Time)).Round(time.Second).String()
	}
	return ended
}
