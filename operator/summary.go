package operator

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Optional conditions, besides those of every operator.
const (
	// ConditionProgressing is True while the operator works on what the newest spec
	// asks for.
	ConditionProgressing = "Progressing"
	// ConditionDegraded is True while something needs a person.
	ConditionDegraded = "Degraded"
)

// State is how far the work on a custom resource is.
type State int

const (
	// Progressing means not done yet, and no person is needed.
	Progressing State = iota
	// Done means that everything is as the newest spec asks for, and works.
	Done
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
}

// SetSummary sets Ready, Stalled if the work has failed, and those of [ConditionProgressing] and
// [ConditionDegraded] that are named. A later call replaces what it sets.
func (c *Conditions) SetSummary(j Summary, also ...string) {
	c.state = j.State
	c.SetSummarized(ConditionReady, j)
	if j.State == Failed {
		c.Set(ConditionStalled, metav1.ConditionTrue, j.Reason, j.Message)
	}
	for _, conditionType := range also {
		status, reason := conditionStatus(j.State == Progressing || j.State == Degraded), j.Reason
		if conditionType == ConditionDegraded {
			status = conditionStatus(j.State == Degraded || j.State == Failed)
		}
		switch {
		case conditionType == ConditionProgressing && j.State == Done:
			reason = "Complete"
		case conditionType == ConditionDegraded && status == metav1.ConditionFalse:
			reason = "AsExpected"
		}
		c.Set(conditionType, status, reason, j.Message)
	}
}

// SetSummarized sets a condition of the operator's own, which is True where the
// summary is Done.
func (c *Conditions) SetSummarized(conditionType string, j Summary) {
	c.Set(conditionType, conditionStatus(j.State == Done), j.Reason, j.Message)
}

func conditionStatus(isTrue bool) metav1.ConditionStatus {
	if isTrue {
		return metav1.ConditionTrue
	}
	return metav1.ConditionFalse
}
