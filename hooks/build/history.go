package build

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/operetta-dev/operetta/internal/printable"
	"github.com/operetta-dev/operetta/operator"
)

const (
	// minHistory is the number of results for which the history always has
	// room.
	minHistory = 10
	// maxHistoryLimit is the largest historyLimit that the schema admits.
	maxHistoryLimit = 50
	// maxRevision is the size of the longest revision that the schema admits: 255
	// characters of up to four bytes.
	maxRevision = 4 * 255
	// maxMessage is the length of the message about a failure.
	maxMessage = 600
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

// maxRead is how many results of a status are read. The hook writes fewer.
const maxRead = 1000

// committed returns the results that are in the status of the request.
func committed(build *Build) history {
	return history(build.Status.History[:min(len(build.Status.History), maxRead)])
}

// remember adds the results of the Jobs that have ended to those in the status.
// A result is written once; only a message that names the step may be added
// later, because Pods and Jobs come from separate caches.
func remember(build *Build, observed observed, wanted string) history {
	known := slices.Clone(committed(build))
	known = slices.DeleteFunc(known, func(r Result) bool { return r.Hash == "" })
	for i := range known {
		known[i].Revision = shown(known[i].Revision, maxRevision)
		known[i].Message = shown(known[i].Message, maxMessage)
	}
	byHash := make(map[string]int, len(known))
	for i := len(known) - 1; i >= 0; i-- {
		byHash[known[i].Hash] = i
	}
	for i := range observed.jobs {
		job := &observed.jobs[i]
		if job.isRunning() || job.isFormer {
			continue
		}
		message := ""
		if job.result == PhaseFailed {
			message = shown(observed.failure(job), maxMessage)
		}
		at, isKnown := byHash[job.hash]
		if !isKnown {
			byHash[job.hash] = len(known)
			known = append(known, resultOf(job, message))
		} else if old := &known[at]; old.Result == PhaseFailed && (old.Message == "" || old.Message == failureText(job.reason)) {
			old.Message = message
		}
	}
	if result := orphaned(build, observed, wanted); result != nil && known.of(wanted) == nil {
		known = append(known, *result)
	}
	if result := known.of(wanted); result != nil {
		result.Revision = shown(build.Spec.Source.Git.Revision, maxRevision)
	}
	slices.SortStableFunc(known, func(a, b Result) int {
		return cmp.Or(endOf(b).Compare(endOf(a)), strings.Compare(a.Hash, b.Hash))
	})
	return known.trimmed(build, wanted)
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

// trimmed drops the oldest results, but never the one of the wanted build,
// which would be built again. The limit does not depend on the number of Jobs:
// a user can make Metacontroller adopt any number of them.
func (h history) trimmed(build *Build, wanted string) history {
	room := max(minHistory, historyLimit(build))
	if h.of(wanted) != nil {
		room--
	}
	return slices.DeleteFunc(h, func(r Result) bool {
		if r.Hash == wanted {
			return false
		}
		room--
		return room < 0
	})
}

func historyLimit(build *Build) int {
	if build.Spec.HistoryLimit == nil {
		return 3
	}
	return min(max(0, int(*build.Spec.HistoryLimit)), maxHistoryLimit)
}

func resultOf(job *observedJob, message string) Result {
	result := Result{
		Hash:           job.hash,
		Revision:       job.revision(),
		Result:         job.result,
		Message:        message,
		StartTime:      job.Status.StartTime,
		CompletionTime: job.endedAt,
	}
	result.Duration = duration(&result)
	return result
}

// duration returns how long a build took, or "" if that is not known.
func duration(r *Result) string {
	if r.StartTime == nil || r.CompletionTime == nil {
		return ""
	}
	return max(0, r.CompletionTime.Sub(r.StartTime.Time)).Round(time.Second).String()
}

// failureText returns the message for a Job's reason of failure.
func failureText(reason string) string {
	switch reason {
	case "DeadlineExceeded":
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
// may be a secret.
func describeFailure(step *operator.ContainerStatus) string {
	ended := step.State.Terminated
	text := fmt.Sprintf("step %s failed with exit code %d", step.Name, ended.ExitCode)
	if step.Name == cloneStep && ended.Message != "" {
		line, _, _ := strings.Cut(strings.TrimSpace(ended.Message), "\n")
		return text + ": " + printable.Line(line, 300)
	}
	if ended.Reason != "" && ended.Reason != "Error" {
		text += " (" + ended.Reason + ")"
	}
	return text
}

// shown returns a text of somebody else as the status shows it: one line,
// without control characters and of limited size. It returns its own results
// unchanged, so that the status stays the same.
func shown(text string, most int) string {
	const cut = "..."
	if len(text) <= most && printable.Line(text, most) == text {
		return text
	}
	line := printable.Line(text, most)
	if len(line) > most {
		line = printable.Line(text, most-len(cut))
	}
	return line
}
