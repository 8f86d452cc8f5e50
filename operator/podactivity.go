package operator

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/operetta-dev/operetta/internal/printable"
)

// maxSentence is the longest sentence, in bytes, that is quoted whole of the scheduler, a kubelet or the
// API server.
const maxSentence = 300

// Activity says why the Pod is not done or ready, in the words of the scheduler and the kubelet: why
// it is not scheduled, what each container waits for or how it ended while others go on, or else
// the phase. The text is the same for the same state and does not grow with time. It contains
// nothing that a program in a container writes.
func (s *PodStatus) Activity() string {
	if c := s.unscheduled(); c != nil {
		return "it is not scheduled: " + quoted(c.Reason, c.Message)
	}
	if facts, _ := s.facts(); len(facts) > 0 {
		return Listed(facts, "; ")
	}
	if s.isLost() {
		return "it is called not ready without a reason: its node does not answer"
	}
	phase := "its phase is " + string(cmp.Or(s.Phase, corev1.PodPending))
	switch ready := s.condition(corev1.PodReady); {
	case s.Reason != "":
		return phase + ": " + quoted(s.Reason, s.Message)
	case s.Phase == corev1.PodRunning && ready != nil && ready.Status != corev1.ConditionTrue && ready.Message != "":
		return phase + ": " + Quoted(ready.Message)
	}
	return phase
}

// IsStuck reports whether the Pod may need a person: it cannot be scheduled, a container cannot
// start or has ended while others go on, or the node is lost. [PodStatus.Activity] says which.
func (s *PodStatus) IsStuck() bool {
	facts, isRoutine := s.facts()
	c := s.unscheduled()
	return c != nil && c.Reason != corev1.PodReasonSchedulingGated || s.Reason != "" || len(facts) > 0 && !isRoutine || s.isLost()
}

// isLost reports whether the node does not answer: all containers were ready when it was heard of last, and
// the node lifecycle controller calls the Pod not ready, for which it gives no reason.
func (s *PodStatus) isLost() bool {
	ready := s.condition(corev1.PodReady)
	return s.Phase == corev1.PodRunning && len(s.ContainerStatuses) > 0 && ready != nil && ready.Status == corev1.ConditionFalse && ready.Reason == "" &&
		!slices.ContainsFunc(s.ContainerStatuses, func(c ContainerStatus) bool { return !c.Ready })
}

// unscheduled returns the condition that says why the Pod is not scheduled, or nil.
func (s *PodStatus) unscheduled() *PodCondition {
	if c := s.condition(corev1.PodScheduled); c != nil && c.Status == corev1.ConditionFalse && c.Reason != "" {
		return c
	}
	return nil
}

// facts are what matters of the containers, the init containers first, and whether that is only
// what comes first in every Pod.
func (s *PodStatus) facts() (facts []string, isRoutine bool) {
	var starting, preparing, probed, runs []string
	hasEnded, isPrepared := false, false // of the containers that should run at the same time
	for i, c := range s.Containers() {
		isInit := i < len(s.InitStatuses)
		switch waiting, ended := c.State.Waiting, c.State.Terminated; {
		case waiting != nil && isStarting(waiting.Reason):
			starting = append(starting, c.Name+" is waiting: "+waiting.Reason)
			isPrepared = isPrepared || !isInit && waiting.Reason == "ContainerCreating"
		case waiting != nil && waiting.Reason != "":
			facts = append(facts, c.Name+" is waiting: "+c.waits())
		case ended != nil && hasFailed(ended):
			facts = append(facts, c.Name+" has ended: "+killed(ended))
			hasEnded = hasEnded || !isInit
		case ended != nil && !isInit:
			facts = append(facts, c.Name+" has completed")
			hasEnded = true
		case c.State.Running != nil && c.LastState.Terminated != nil && !c.Ready:
			facts = append(facts, c.runsAgain())
		case c.State.Running != nil && isInit:
			preparing = []string{"init container " + c.Name + " is running"} // those before it are sidecars
			if c.Started != nil && !*c.Started {                             // it is one, too: others have no probe
				preparing = []string{c.probes()}
			}
		case c.State.Running != nil:
			runs = append(runs, c.Name+" is still running")
			if text := c.probes(); text != "" {
				probed = append(probed, text)
			}
		}
	}
	switch {
	case hasEnded:
		return append(facts, runs...), false
	case len(facts) > 0:
		return facts, false
	case len(runs) == 0 && len(preparing) > 0 && !isPrepared: // else it is a sidecar that runs
		return preparing, true
	case len(starting) > 0:
		return starting[:1], true
	}
	return probed, true
}

// Failure says how a Pod that is done has failed, in the words of the kubelet and of what disrupted
// it, and with the container that [PodStatus.Failed] returns. It contains nothing that a program
// in a container writes.
func (s *PodStatus) Failure(sidecars ...string) string {
	var facts []string
	if s.Reason != "" {
		facts = append(facts, quoted(s.Reason, s.Message))
	} else if s.Message != "" {
		facts = append(facts, Quoted(s.Message))
	}
	switch c := s.condition(corev1.DisruptionTarget); {
	case s.Disruption() == "":
	case c.Message == s.Message: // it is told
		facts = append(facts, s.Disruption())
	default:
		facts = append(facts, quoted(s.Disruption(), c.Message))
	}
	switch c := s.Failed(sidecars...); {
	case c != nil && len(facts) == 0:
		facts = append(facts, c.Name+" has ended: "+killed(c.State.Terminated))
	case c != nil:
		facts = append(facts, c.Name+" has ended: "+endOf(c.State.Terminated))
	}
	return Listed(facts, "; ")
}

// isStarting reports whether a container waits for what always comes first.
func isStarting(reason string) bool {
	return slices.Contains([]string{"", "PodInitializing", "ContainerCreating"}, reason)
}

// hookExit is how the command of a hook ended.
var hookExit = regexp.MustCompile(`exited with \d+`)

// Why says in the kubelet's words what the container waits for or how it ended, "" while it runs. It
// contains nothing that its program writes.
func (c *ContainerStatus) Why() string {
	switch {
	case c.State.Waiting != nil:
		return c.waits()
	case c.State.Terminated != nil:
		return endOf(c.State.Terminated)
	}
	return ""
}

// waits says what the container waits for. The kubelet's sentence about a back-off tells the time
// that it takes, which grows, and not the cause.
func (c *ContainerStatus) waits() string {
	waiting, before := c.State.Waiting, c.LastState.Terminated
	switch {
	case waiting.Reason == "CrashLoopBackOff" && before != nil:
		return waiting.Reason + ", after it ended: " + killed(before)
	case waiting.Reason == "CrashLoopBackOff":
		return waiting.Reason
	case waiting.Reason == "PostStartHookError": // the sentence ends with what the hook has written
		return quoted(waiting.Reason, hookExit.FindString(waiting.Message))
	}
	return quoted(waiting.Reason, waiting.Message)
}

// runsAgain says how a container ended that runs and is not ready again. It stands between two ends of it,
// where [ContainerStatus.waits] tells the same.
func (c *ContainerStatus) runsAgain() string {
	restarts := "a restart"
	if c.RestartCount > 1 {
		restarts = fmt.Sprintf("%d restarts", c.RestartCount)
	}
	return c.Name + " runs again after " + restarts + "; it ended: " + killed(c.LastState.Terminated)
}

// probes says which probe a running container waits for. Without a probe the kubelet calls it started,
// and ready, at once.
func (c *ContainerStatus) probes() string {
	switch {
	case c.Ready || c.Started == nil:
		return ""
	case *c.Started:
		return c.Name + " runs, and its readiness probe does not succeed"
	}
	return c.Name + " runs, and its startup probe has not succeeded yet"
}

// hasFailed reports whether the container failed. One whose child process was killed for its
// memory may exit with 0.
func hasFailed(t *corev1.ContainerStateTerminated) bool {
	return t.ExitCode != 0 || t.Reason == "OOMKilled"
}

// endOf says how a container ended. The message is quoted where it is the kubelet's: after the
// program has run, it is the program's.
func endOf(t *corev1.ContainerStateTerminated) string {
	reason := cmp.Or(t.Reason, "Error")
	text := fmt.Sprintf("%s, exit code %d", reason, t.ExitCode)
	if slices.Contains([]string{"StartError", "ContainerCannotRun", "ContainerStatusUnknown"}, reason) {
		text = quoted(text, t.Message)
	}
	return text
}

// killed is endOf for a container that the kubelet may have ended: of failed probes, only Events tell.
func killed(t *corev1.ContainerStateTerminated) string {
	text := endOf(t)
	if t.Reason == "Error" && (t.ExitCode == 137 || t.ExitCode == 143) { // SIGKILL, SIGTERM
		text += ", by a signal, as after a failed probe"
	}
	return text
}

// Quoted returns a sentence of the scheduler, a kubelet or the API server as one line. What it names in
// quotes is named once, and then as "...": the reference of an image by its digest stands there three
// times. A sentence that is still too long loses what the scheduler says of preemption, and then its
// middle: the cause stands at the end.
func Quoted(sentence string) string {
	parts := strings.Split(sentence, `"`)
	const short = 16
	for i := 3; i < len(parts)-1; i += 2 {
		if len(parts[i]) > short && slices.Contains(parts[:i], parts[i]) {
			parts[i] = "..."
		}
	}
	sentence = strings.Join(parts, `"`)
	if len(sentence) > maxSentence {
		sentence, _, _ = strings.Cut(sentence, " preemption: ")
		sentence = strings.TrimSuffix(sentence, " no new claims to deallocate,")
	}
	return printable.Ends(sentence, maxSentence)
}

// quoted adds a sentence to a reason.
func quoted(reason, sentence string) string {
	sentence = Quoted(sentence)
	if sentence == "" || sentence == reason {
		return reason
	}
	return reason + ": " + sentence
}
