package build

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/operetta-dev/operetta/internal/printable"
	"github.com/operetta-dev/operetta/operator"
)

const (
	// minHistory is the number of results for which the history always has
	// room.
	minHistory = 10
	// maxText is the length of a revision or a message that somebody else wrote.
	maxText = 1000
)

// history are the results of builds that have ended, the newest first.
type history []Result

// of returns the result of a build, or nil.
func (h history) of(hash string) *Result {
	i := slices.IndexFunc(h, func(r Result) bool { return r.Hash == hash })
	if i < 0 {
		return nil
	}
	return &h[i]
}

// isCanceled reports whether a build was canceled.
func (h history) isCanceled(hash string) bool {
	result := h.of(hash)
	return result != nil && result.Result == PhaseCanceled
}

// remember adds the results of the Jobs that have ended, or are canceled, to those in the status.
// A result is written once; only what the Pod tells may be added later, because
// Pods and Jobs come from separate caches.
func remember(build *Build, observed observed, wanted string) history {
	known := history(slices.Clone(build.Status.History))
	for i := range observed.jobs {
		job := &observed.jobs[i]
		if job.isFormer || job.isRunning() && !job.isCanceled {
			continue
		}
		message := ""
		if job.result == PhaseFailed {
			spec := &build.Spec
			if job.hash != wanted {
				spec = nil
			}
			message = printable.Line(observed.failure(job, spec)+observed.lastSeen(build, job, wanted), maxText)
		}
		old := known.of(job.hash)
		switch {
		case old == nil:
			known = append(known, resultOf(job, message))
		case job.isRunning():
		case old.Result == PhaseCanceled: // it ended before it was deleted
			*old = resultOf(job, message)
		case old.Result == PhaseFailed && (old.Message == "" || old.Message == failureText(job.reason)):
			old.Message = message
		}
		known.of(job.hash).complete(observed.podOf(job), &build.Spec)
	}
	if result := known.of(wanted); result != nil {
		result.Revision = build.Spec.revision()
	}
	slices.SortStableFunc(known, func(a, b Result) int {
		return cmp.Or(endOf(b).Compare(endOf(a)), strings.Compare(a.Hash, b.Hash))
	})
	return known.trimmed(max(minHistory, historyLimit(build)), wanted)
}

// beginOf returns when a build began, or when it ended if that is not known.
func beginOf(r Result) time.Time {
	if r.StartTime == nil {
		return endOf(r)
	}
	return r.StartTime.Time
}

func endOf(r Result) time.Time {
	if r.CompletionTime == nil {
		return time.Time{}
	}
	return r.CompletionTime.Time
}

// trimmed drops the oldest results beyond a number, but never the one of the wanted
// build, which would be built again.
func (h history) trimmed(most int, wanted string) history {
	seen := 0
	return slices.DeleteFunc(h, func(r Result) bool {
		seen++
		return seen > most && r.Hash != wanted
	})
}

func historyLimit(build *Build) int {
	if build.Spec.HistoryLimit == nil {
		return 3
	}
	return int(*build.Spec.HistoryLimit)
}

func resultOf(job *observedJob, message string) Result {
	result := Result{
		Hash:           job.hash,
		Revision:       job.revision(),
		Result:         cmp.Or(job.result, PhaseCanceled),
		Message:        message,
		StartTime:      job.Status.StartTime,
		CompletionTime: job.endedAt,
	}
	result.Duration = duration(&result)
	return result
}

// complete adds what the Pod tells and was not known.
func (r *Result) complete(pod *observedPod, spec *Spec) {
	if pod == nil {
		return
	}
	r.Commit = cmp.Or(r.Commit, pod.commit())
	if len(r.Results) == 0 && r.Result == PhaseSucceeded {
		r.Results = pod.results(spec)
	}
}

// duration returns how long a build took, or "" if that is not known.
func duration(r *Result) string {
	if r.StartTime == nil || r.CompletionTime == nil {
		return ""
	}
	return max(0, r.CompletionTime.Sub(r.StartTime.Time)).Round(time.Second).String()
}

// lastSeen returns what the status last said of the wanted build, where its Pod, which may never have
// started, is deleted: by somebody, or because its time is over.
func (o observed) lastSeen(build *Build, job *observedJob, wanted string) string {
	isGone := job.reason == batchv1.JobReasonDeadlineExceeded || o.seesPods && o.podOf(job) == nil
	ready := meta.FindStatusCondition(build.Status.Conditions, operator.ConditionReady)
	if !isGone || job.hash != wanted || ready == nil || !slices.Contains([]string{reasonPending, reasonRunning, operator.ReasonChildBlocked}, ready.Reason) {
		return ""
	}
	return "; last seen: " + ready.Message
}

// failureText returns the message for a Job's reason of failure.
func failureText(reason string) string {
	switch reason {
	case batchv1.JobReasonDeadlineExceeded:
		return "it took longer than timeoutSeconds"
	case "BackoffLimitExceeded":
		return "it failed as often as backoffLimit allows"
	case "":
		return "it failed"
	}
	return "it failed: " + reason
}

// describeFailure names a step and its exit code. Of messages that containers
// leave behind, only that of the clone is shown: what a user's program writes
// may be a secret. The spec is nil where the build is of another one.
func describeFailure(step *operator.ContainerStatus, spec *Spec) string {
	ended := step.State.Terminated
	if ended.Reason == "StartError" || ended.Reason == "ContainerCannotRun" { // the words are the kubelet's
		return "step " + step.Name + " failed: " + step.Why()
	}
	text := fmt.Sprintf("step %s failed with exit code %d", step.Name, ended.ExitCode)
	if step.Name == cloneStep && ended.Message != "" {
		line, _, _ := strings.Cut(strings.TrimSpace(ended.Message), "\n")
		return text + ": " + printable.Line(line, 300)
	}
	if ended.Reason != "" && ended.Reason != "Error" {
		text += " (" + ended.Reason + ")"
	}
	if spec != nil && isTooLong(spec, step.Name, ended.FinishedAt.Sub(ended.StartedAt.Time)) {
		text += ": it took longer than its timeoutSeconds"
	}
	return text
}

// isTooLong reports whether a container ran for longer than its step may.
func isTooLong(spec *Spec, container string, took time.Duration) bool {
	return slices.ContainsFunc(spec.Steps, func(step Step) bool {
		limit := step.TimeoutSeconds
		return limit != nil && containerName(spec, step.Name) == container && took >= time.Duration(*limit)*time.Second
	})
}
