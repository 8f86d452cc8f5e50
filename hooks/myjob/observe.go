package myjob

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/internal/printable"
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// observed is what the hook reads of the children, and of the status, which remembers
// the attempts.
type observed struct {
	pod      *observedPod   // of this attempt, nil where there is none
	earlier  []*observedPod // of earlier attempts, kept for their logs
	hasSeen  bool           // there was one of this attempt before
	absence  time.Duration  // how long one that was there has been missing
	attempt  int32          // the number of this attempt, from 1
	suspends bool           // the status tells that its Pod is deleted to suspend the MyJob
}

// observedPod is the part of a Pod that the hook reads.
type observedPod struct {
	metacontroller.Snapshot `json:"-"`

	Metadata struct {
		operator.PodTimes
	} `json:"metadata"`
	Spec   operator.PodSpec   `json:"spec"`
	Status operator.PodStatus `json:"status"`
}

// tell returns what a status says of the Pod, or nil.
func (p *observedPod) tell(now time.Time) *operator.Told {
	return operator.Tell([]operator.Pod{{Snapshot: p.Snapshot, PodTimes: p.Metadata.PodTimes, Status: &p.Status}}, now)
}

// does says what the Pod does, or what is told of it.
func (p *observedPod) does(told *operator.Told) string {
	if told != nil {
		return told.Text
	}
	return p.Status.Activity()
}

// podName returns the name of the Pod of an attempt.
func podName(job *MyJob, attempt int32) string {
	if attempt <= 1 {
		return job.Name
	}
	return job.Name + "-attempt-" + strconv.Itoa(int(attempt))
}

func observe(job *MyJob, request metacontroller.Observed) (observed, error) {
	o := observed{attempt: max(1, job.Status.Attempt), suspends: meta.IsStatusConditionTrue(job.Status.Conditions, conditionSuspended)}
	name := podName(job, o.attempt)
	o.hasSeen = job.Status.PodName == name || job.Status.Phase == PhaseRunning
	pods, err := metacontroller.List[observedPod](request.Children, metacontroller.Pod.APIVersion, metacontroller.Pod.Kind)
	if err != nil {
		return o, err
	}
	earlier := map[string]bool{}
	for attempt := range o.attempt {
		earlier[podName(job, attempt)] = o.attempt > 1
	}
	for i := range pods {
		switch {
		case pods[i].Name == name:
			o.pod = &pods[i]
		case earlier[pods[i].Name]:
			o.earlier = append(o.earlier, &pods[i])
		}
	}
	slices.SortFunc(o.earlier, func(a, b *observedPod) int {
		return cmp.Or(a.Metadata.CreationTimestamp.Compare(b.Metadata.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	// A time that is missing, or yet to come, counts as now.
	if since, isMissing := operator.MissingSince(job.Status.Conditions); isMissing && !since.IsZero() {
		o.absence = max(0, request.Now.Sub(since))
	}
	return o, nil
}

// startTime returns when the first Pod was made, or nil. After it was suspended, the MyJob starts
// anew.
func (o observed) startTime(job *MyJob) *metav1.Time {
	if o.pod == nil || o.attempt > 1 && job.Status.StartTime != nil {
		return job.Status.StartTime
	}
	if created := o.pod.Metadata.CreationTimestamp; !created.IsZero() {
		return &created
	}
	return cmp.Or(o.pod.Status.StartTime, job.Status.StartTime)
}

// hasBegun reports whether the Pod of this attempt runs, or did when it was last observed.
func (o observed) hasBegun(job *MyJob) bool {
	if o.pod == nil {
		return job.Status.Phase != PhasePending
	}
	return o.pod.Status.Phase != corev1.PodPending && o.pod.Status.Phase != ""
}

// isOlder reports whether the Pod was there before the MyJob, as [operator.IsOlder] does. One
// that is being deleted counts as older in the same second, too: a Pod that is made again
// costs less than one that never is.
func (p *observedPod) isOlder(job *MyJob) bool {
	created := p.Metadata.CreationTimestamp
	if p.Terminating {
		return !created.IsZero() && !created.After(job.CreationTimestamp.Time)
	}
	return operator.IsOlder(created, job.CreationTimestamp, !p.Status.IsDone())
}

// terminatingReason is why a Pod is being deleted: the disruption, or that somebody has done it.
func (p *observedPod) terminatingReason() string {
	return cmp.Or(p.Status.Disruption(), reasonPodDeleted)
}

// isDisrupted reports whether the Pod of this attempt is, or when it was last observed was, disrupted.
func (o observed) isDisrupted(job *MyJob) bool {
	if o.pod == nil {
		return job.Status.isTerminating() && job.Status.Reason != reasonPodDeleted
	}
	return o.pod.Status.Disruption() != ""
}

// longest is the longest message that a status has of a Pod, in bytes.
const longest = 500

// ending returns how a Pod that is done has ended, and when: now, where it tells no time.
func (p *observedPod) ending(now time.Time) (Status, time.Time) {
	end := now
	if last := p.Status.Finished(); !last.IsZero() {
		end = last.Time
	}
	if p.Status.Phase == corev1.PodSucceeded {
		return Status{Result: ResultSucceeded, Reason: "Completed", ExitCode: new(int32(0))}, end
	}
	status := Status{Result: ResultFailed, Message: printable.Line(p.Status.Failure(p.Spec.Sidecars()...), longest)}
	reason := "Error"
	if failed := p.Status.Failed(p.Spec.Sidecars()...); failed != nil {
		reason = cmp.Or(failed.State.Terminated.Reason, reason)
		status.ExitCode = &failed.State.Terminated.ExitCode
	}
	status.Reason = cmp.Or(p.Status.Reason, p.Status.Disruption(), reason)
	return status, end
}
