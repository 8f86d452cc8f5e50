package operator

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ReasonRestarted is the reason of [ConditionDegraded] for [Restarted].
const ReasonRestarted = "ContainerRestarted"

// ConditionProgressing is True while the operator works on what the newest spec asks for. Not every
// operator has it.
const ConditionProgressing = "Progressing"

// State is how far the work on a custom resource is.
type State int

const (
	// Progressing means not done yet, and no person is needed.
	Progressing State = iota
	// Done means that everything is as the newest spec asks for, and works.
	Done
	// Restarted means Done, but a container has ended so lately that it may end again.
	Restarted
	// Degraded means that work goes on, but needs a person to complete.
	Degraded
	// Failed means that work has ended or waited for too long, and needs a person.
	Failed
)

// Summary is the overall state of a custom resource. All conditions that sum
// it up are set from one Summary.
type Summary struct {
	State State
	// Reason is one CamelCase word, for programs.
	Reason string
	// Message is for people. It must be the same for the same state: no running
	// times, no random order.
	Message string

	again time.Duration // when to look again without any event, or zero
}

// SetSummary sets Ready, Degraded, Stalled if the work has failed, and, if it is named, [ConditionProgressing]. A
// later call replaces what it sets.
func (c *Conditions) SetSummary(j Summary, also ...string) {
	c.state, c.again = j.State, j.again
	c.SetSummarized(ConditionReady, j)
	if j.State == Failed {
		c.Set(ConditionStalled, metav1.ConditionTrue, j.Reason, j.Message)
	}
	degraded, reason := metav1.ConditionTrue, j.Reason
	switch j.State {
	case Restarted:
		reason = ReasonRestarted
	case Progressing, Done:
		degraded, reason = metav1.ConditionFalse, "AsExpected"
	default: // a person is needed
	}
	c.Set(ConditionDegraded, degraded, reason, j.Message)
	for _, conditionType := range also {
		status, reason := conditionStatus(j.State == Progressing || j.State == Degraded), j.Reason
		if j.isDone() {
			reason = "Complete"
		}
		c.Set(conditionType, status, reason, j.Message)
	}
}

// SetSummarized sets a condition of the operator's own, which is True where the
// summary is Done or Restarted.
func (c *Conditions) SetSummarized(conditionType string, j Summary) {
	c.Set(conditionType, conditionStatus(j.isDone()), j.Reason, j.Message)
}

func (j Summary) isDone() bool { return j.State == Done || j.State == Restarted }

func conditionStatus(isTrue bool) metav1.ConditionStatus {
	if isTrue {
		return metav1.ConditionTrue
	}
	return metav1.ConditionFalse
}
