package myjob

import (
	"fmt"
	"time"

	"github.com/operetta-dev/operetta/internal/printable"
)

// kubeletGrace is by how much the kubelet may be late. It ends a Pod as long after its node took it
// on, and leaves the Pod for its logs: where that was about when the MyJob started, it goes first.
const kubeletGrace = 10 * time.Second

// deadline returns when the MyJob fails, of which neither a wait for a node nor another attempt
// takes anything. It is zero where there is no deadline, or no Pod was ever seen.
func (o observed) deadline(job *MyJob) time.Time {
	start, limit := o.startTime(job), job.Spec.ActiveDeadlineSeconds
	if start == nil || limit == nil {
		return time.Time{}
	}
	end := start.Add(time.Duration(*limit) * time.Second)
	if o.pod != nil && o.pod.Status.StartTime != nil && o.pod.Status.StartTime.Sub(start.Time) <= kubeletGrace {
		end = end.Add(2 * kubeletGrace)
	}
	return end
}

// overrun ends a MyJob whose Pod has not ended by the deadline. The Pod goes once that is told.
func overrun(job *MyJob, observed observed, end, now time.Time) plan {
	outcome := observed.outcome(job, deadlineExceeded(job, observed.pod.does(observed.pod.tell(now))), end)
	p := conclude(job, observed, outcome, now)
	p.again = time.Second // a status that is written causes no request
	return p
}

// givenUp ends a MyJob whose deadline is over before another attempt has begun.
func givenUp(job *MyJob, observed observed, end, now time.Time) plan {
	outcome := observed.outcome(job, deadlineExceeded(job, job.Status.Message), end)
	outcome.PodName, outcome.Failed = "", job.Status.Failed
	return conclude(job, observed, outcome, now)
}

func deadlineExceeded(job *MyJob, doing string) Status {
	message := fmt.Sprintf("spec.activeDeadlineSeconds (%d) is over: %s", *job.Spec.ActiveDeadlineSeconds, doing)
	return Status{Result: ResultFailed, Reason: reasonDeadline, Message: printable.Line(message, longest)}
}
