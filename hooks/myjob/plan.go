package myjob

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// stage is how far a MyJob is.
type stage int

const (
	starting stage = iota // its Pod has never been seen, and is asked for
	blocked               // another Pod has its name
	running               // its Pod is not done
	missing               // its Pod has been seen, and is not observed
	ended
)

// plan says how far the MyJob is, and what becomes of the Pod.
type plan struct {
	stage stage
	kept  []metacontroller.Object // the observed Pod, where it stays
	// outcome is what the status says once it has ended. Without a result nothing tells
	// how.
	outcome Status
	again   time.Duration // after what time there is something else to do, zero for not at all
}

// decide makes the plan.
func decide(job *MyJob, observed observed, now time.Time) plan {
	pod := observed.pod
	switch {
	case job.Status.isShown():
		return conclude(job, observed, job.Status, now)
	case pod == nil && job.Status.Phase == PhaseCompleted:
		outcome := job.Status
		outcome.Reason = reasonUnknown
		return conclude(job, observed, outcome, now)
	case pod == nil && !observed.hasSeen:
		return plan{stage: starting}
	case pod == nil && observed.absence < operator.ChildGrace:
		return plan{stage: missing, again: operator.ChildGrace - observed.absence}
	case pod == nil:
		return conclude(job, observed, observed.outcome(job, Status{Result: ResultFailed, Reason: "PodLost"}, now), now)
	case !observed.hasSeen && pod.isOlder(job):
		return plan{stage: blocked, kept: observed.keep()}
	case pod.isDone():
		ended, end := pod.ending(now)
		return conclude(job, observed, observed.outcome(job, ended, end), now)
	}
	return plan{stage: running, kept: observed.keep()}
}

// conclude keeps the Pod of a MyJob that has ended while its time to live lasts, and
// until a request has shown the outcome: the Pod is deleted before the status is
// written, and nothing but the Pod would tell it again.
func conclude(job *MyJob, observed observed, outcome Status, now time.Time) plan {
	p := plan{stage: ended, outcome: outcome, kept: observed.keep()}
	if observed.pod == nil || job.Spec.TTLSecondsAfterFinished == nil || outcome.CompletionTime == nil {
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

// keep returns the observed Pod, if there is one, as a child that stays.
func (o observed) keep() []metacontroller.Object {
	if o.pod == nil {
		return nil
	}
	return []metacontroller.Object{metacontroller.Keep(o.pod.Snapshot)}
}

// isShown reports whether the status tells how the MyJob has ended. One that
// another operator wrote may only tell that it has.
func (s *Status) isShown() bool { return s.Phase == PhaseCompleted && s.Result != "" }

// outcome completes what the status says, once and for all, of how the Pod has ended.
func (o observed) outcome(job *MyJob, ended Status, end time.Time) Status {
	at := metav1.NewTime(end.UTC().Truncate(time.Second))
	ended.Phase, ended.PodName, ended.StartTime, ended.CompletionTime = PhaseCompleted, job.Name, o.startTime(job), &at
	if started := ended.StartTime; started != nil {
		ended.Duration = max(0, at.Sub(started.Time)).Round(time.Second).String()
	}
	return ended
}
