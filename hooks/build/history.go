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
	// rememberedResults is how many results the history has at least room for.
	rememberedResults = 10
	// maxHistoryLimit is the largest historyLimit that the schema admits.
	maxHistoryLimit = 50
	// maxRevision is the size of the longest revision that the schema admits: 255
	// characters of up to four bytes.
	maxRevision = 4 * 255
	// maxMessage is how much is told of a failure.
	maxMessage = 600
)

// history is what is known of builds that have ended, the newest first.
type history []Result

// of returns the result of a build, or nil.
func (h history) of(hash string) *Result {
	i := slices.IndexFunc(h, func(r Result) bool { return r.Hash == hash })
	if i < 0 {
		return nil
	}
	return &h[i]
}

// mostRead is how many results of a status are read. The hook writes fewer.
const mostRead = 1000

// committed returns the results that a status shows.
func committed(build *Build) history {
	return history(build.Status.History[:min(len(build.Status.History), mostRead)])
}

// remember adds the results of the Jobs that have ended to what the status
// knew. A result is written once; only a message that names the step may come
// later, for the Pod that tells it is observed apart from its Job.
func remember(build *Build, there observed, wanted string) history {
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
	for i := range there.jobs {
		job := &there.jobs[i]
		if job.isRunning() {
			continue
		}
		message := ""
		if job.result == PhaseFailed {
			message = shown(there.failure(job), maxMessage)
		}
		at, isKnown := byHash[job.hash]
		if !isKnown {
			byHash[job.hash] = len(known)
			known = append(known, resultOf(job, message))
		} else if old := &known[at]; old.Result == PhaseFailed && (old.Message == "" || old.Message == explain(job.reason)) {
			old.Message = message
		}
	}
	if result := orphaned(build, there, wanted); result != nil && known.of(wanted) == nil {
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

// beginOf returns when a build began, or ended where that is not known.
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

// trimmed forgets the oldest results, but not the one that is wanted: it would
// be built again. How many Jobs there are makes no difference: a user can have
// any number of them adopted.
func (h history) trimmed(build *Build, wanted string) history {
	room := max(rememberedResults, historyLimit(build))
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

// duration returns how long a build took, or nothing where that is not known.
func duration(r *Result) string {
	if r.StartTime == nil || r.CompletionTime == nil {
		return ""
	}
	return max(0, r.CompletionTime.Sub(r.StartTime.Time)).Round(time.Second).String()
}

// explain says a Job's reason for failing in words.
func explain(reason string) string {
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

// shown returns a text that somebody else may have written as the status shows
// it: in one line, without control characters and of at most so many bytes. What
// it returns it returns again as it is, so that the status stays the same.
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
