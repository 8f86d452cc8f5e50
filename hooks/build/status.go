package build

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/operator"
)

// conditionSucceeded is Unknown until the build has ended, as in Tekton and
// Knative.
const conditionSucceeded = "Succeeded"

// Reasons of Ready and Succeeded.
const (
	reasonSucceeded    = "Succeeded"
	reasonFailed       = "Failed"
	reasonAlreadyBuilt = "AlreadyBuilt"
	reasonRunning      = "Running"
	reasonPending      = "Pending"
	reasonWaiting      = "Waiting"
	reasonCanceled     = "Canceled"
	reasonSuspended    = "Suspended"
)

// report returns the status of the newest build.
func (s state) report(p plan, r *operator.Report) Status {
	status := Status{
		Phase:    PhasePending,
		JobName:  jobName(s.build, s.hash),
		Revision: s.build.Spec.revision(),
		Active:   slices.SortedFunc(slices.Values(p.active), func(a, b ActiveJob) int { return strings.Compare(a.Name, b.Name) }),
		History:  s.known,
	}
	v := operator.Summary{State: operator.Progressing, Reason: reasonPending, Message: "the build has not begun"}
	ended, job := s.known.of(s.hash), s.observed.job(s.hash)
	var told *operator.Told
	switch {
	case ended != nil:
		status.copyResult(ended)
		v = s.verdictOf(ended)
	case p.blocked != "":
		v.Reason, v.Message = reasonWaiting, p.blocked
	case job != nil && !job.isFormer:
		status.StartTime = job.Status.StartTime
		if pod := s.observed.podOf(job); pod != nil {
			status.Commit = pod.commit()
			told = pod.tell(s.now)
			if told != nil && pod.Terminating { // nothing tells of it when it is gone
				told.State = operator.Degraded
			}
		}
		v = v.Telling(told) // Degraded is written at once
		status.Phase, v.Reason, v.Message = s.progress(p, job, told)
		if p.waits == "" && !job.Spec.Suspend {
			v = s.withPod(v, job)
			v.Message += s.seeWhy
		}
	case isSuspended(s.build):
		v.Reason, v.Message = reasonSuspended, "the Build is suspended: set spec.suspend to false to run it"
	case p.waits != "":
		v.Reason, v.Message = reasonWaiting, p.waits
	}
	succeeded := map[operator.State]metav1.ConditionStatus{operator.Done: metav1.ConditionTrue, operator.Failed: metav1.ConditionFalse, operator.Progressing: metav1.ConditionUnknown, operator.Degraded: metav1.ConditionUnknown}
	r.Set(conditionSucceeded, succeeded[v.State], v.Reason, v.Message)
	summary := r.With(v)
	switch { // what is in the way, which the children do not tell
	case p.blocked != "":
		r.Set(operator.ConditionChildrenObserved, metav1.ConditionFalse, "Absent", "asked for: Job/"+status.JobName)
		summary = operator.Summary{State: operator.Failed, Reason: operator.ReasonChildBlocked, Message: p.blocked}
	case p.waits != "":
		summary = v
	}
	r.SetSummary(summary)
	return status
}

// IsProgressOf reports whether a status differs from an older one only in what later syncs do
// not read and nobody waits for.
func (s Status) IsProgressOf(old Status) bool {
	s.ObservedGeneration, s.StartTime, s.Conditions, s.PendingChildren = old.ObservedGeneration, old.StartTime, old.Conditions, old.PendingChildren
	return equality.Semantic.DeepEqual(s, old)
}

// copyResult copies the result of the build.
func (s *Status) copyResult(ended *Result) {
	s.Phase, s.Commit, s.Results = ended.Result, ended.Commit, ended.Results
	s.StartTime, s.CompletionTime, s.Duration = ended.StartTime, ended.CompletionTime, ended.Duration
}

// verdictOf returns the result of a build, and says so if another one began
// after it: then nothing has run for the newest spec. The order of their ends
// does not matter, because two may run at once.
func (s state) verdictOf(ended *Result) operator.Summary {
	of := ofRevision(ended.Revision)
	if ended.Result == PhaseCanceled {
		text := "the build" + of + " was canceled: to run it, set suspend to false and change runId"
		return operator.Summary{State: operator.Failed, Reason: reasonCanceled, Message: text}
	}
	if ended.Result == PhaseFailed {
		text := "the build" + of + " failed in Job/" + jobName(s.build, ended.Hash) + ": " + ended.Message + "; to run it again, change spec.runId"
		return operator.Summary{State: operator.Failed, Reason: reasonFailed, Message: text}
	}
	v := operator.Summary{State: operator.Done, Reason: reasonSucceeded, Message: "the build has succeeded"}
	if ended.Revision != "" {
		v.Message = "revision " + ended.Revision + " was built"
	}
	if names := omitted(ended.Results); len(names) > 0 {
		v.Message += "; status.results tells why it has no value of " + operator.Listed(names, ", ")
	}
	isOlder := func(other Result) bool { return beginOf(*ended).Before(beginOf(other)) }
	if slices.ContainsFunc(s.known, isOlder) {
		v.Reason, v.Message = reasonAlreadyBuilt, v.Message+"; it was not run again, for that change runId"
	}
	return v
}

// ofRevision names a revision after what is of it.
func ofRevision(revision string) string {
	if revision == "" {
		return ""
	}
	return " of revision " + revision
}

// longestPause is how long a Job waits at most between two Pods.
const longestPause = 10 * time.Minute

func (j *observedJob) triesAgain() bool { return j.retriesDisruptions() || j.Spec.BackoffLimit > 0 }

// lacksPodSince returns since when a Job has had no Pod, or nil. Of one that tries again, the status
// remembers it.
func (s state) lacksPodSince(job *observedJob) *metav1.Time {
	hasPod := s.observed.podOf(job) != nil || !s.observed.seesPods && job.Status.Active+job.Status.Failed > 0
	began := job.began()
	if hasPod || began.IsZero() || job.Spec.Suspend {
		return nil
	}
	if !job.triesAgain() {
		return began
	}
	for _, old := range s.build.Status.Active {
		if old.UID == job.UID && old.LacksPodSince != nil {
			return old.LacksPodSince
		}
	}
	return &metav1.Time{Time: s.now}
}

// withPod returns a summary that says what may be in the way of a Job which has made no Pod for longer than
// [operator.ChildGrace], after the pause of a Job that had one.
func (s state) withPod(v operator.Summary, job *observedJob) operator.Summary {
	since := s.lacksPodSince(job)
	if since == nil {
		return v
	}
	grace := operator.ChildGrace
	if since.Sub(job.began().Time) >= grace {
		grace += longestPause
		v.Message = "the Pod of " + job.Ref() + " is gone, and another follows after a pause"
	}
	if left := since.Add(grace).Sub(s.now); left > 0 {
		return v.Again(left)
	}
	v.State, v.Reason = operator.Degraded, operator.ReasonChildBlocked
	v.Message = fmt.Sprintf("%s has had no Pod since %s: a quota, Pod Security, a missing ServiceAccount or an admission webhook may refuse it; see `kubectl events -n %s --for job/%s`",
		job.Ref(), since.UTC().Format(time.TimeOnly), s.build.Namespace, job.Name)
	return v
}

// progress returns the state of a running Job.
func (s state) progress(p plan, job *observedJob, told *operator.Told) (phase Phase, reason, message string) {
	if p.waits != "" {
		return PhasePending, reasonWaiting, p.waits
	}
	pod := s.observed.podOf(job)
	switch {
	case job.Spec.Suspend:
		return PhasePending, reasonWaiting, "Job/" + job.Name + " is suspended, by somebody else or a queue: it begins when its spec.suspend is false"
	case !s.observed.seesPods && job.Status.Ready > 0:
		return PhaseRunning, reasonRunning, "a Pod of Job/" + job.Name + " is ready"
	case !s.observed.seesPods:
		return PhasePending, reasonPending, "no Pod of Job/" + job.Name + " is ready"
	case pod == nil:
		return PhasePending, reasonPending, "the Job has no Pod yet"
	}
	hasBegun := false // the phase of a Pod is Pending until its init containers are done
	injected := pod.injected(&s.build.Spec)
	for _, step := range pod.Status.Containers() {
		if slices.Contains(injected, step.Name) {
			continue
		}
		if step.State.Running != nil && (told == nil || told.State != operator.Degraded) {
			return PhaseRunning, reasonRunning, "step " + step.Name + " is running"
		}
		hasBegun = hasBegun || step.State.Terminated != nil
	}
	message = "Pod/" + pod.Name + ": " + pod.Status.Activity()
	if told != nil {
		message = "Pod/" + pod.Name + ": " + told.Text
	}
	if pod.Status.IsDone() && pod.Status.Disruption() != "" && job.retriesDisruptions() {
		message += "; another Pod follows after a pause"
	}
	if pod.Status.Phase == corev1.PodPending && !hasBegun {
		return PhasePending, reasonPending, message
	}
	return PhaseRunning, reasonRunning, message
}
