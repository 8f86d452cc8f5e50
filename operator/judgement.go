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
	// Working means not done yet, and no person is needed.
	Working State = iota
	// Done means that everything is as the newest spec asks for, and works.
	Done
	// Hindered means that work goes on, but needs a person to complete.
	Hindered
	// Failed means that work has ended or waited for too long, and needs a person.
	Failed
)

// Judgement is the overall state of a custom resource. All conditions that sum
// it up are set from one Judgement.
type Judgement struct {
	State State
	// Reason is one CamelCase word, for programs.
	Reason string
	// Message is for people. It must be the same for the same state: no running
	// times, no random order.
	Message string
}

// Judge sets Ready, Stalled if the work has failed, and those of
// [ConditionProgressing] and [ConditionDegraded] that are named. A later call
// replaces what it sets.
func (c *Conditions) Judge(j Judgement, also ...string) {
	c.state = j.State
	c.SetJudged(ConditionReady, j)
	if j.State == Failed {
		c.Set(ConditionStalled, metav1.ConditionTrue, j.Reason, j.Message)
	}
	for _, conditionType := range also {
		status, reason := conditionStatus(j.State == Working || j.State == Hindered), j.Reason
		if conditionType == ConditionDegraded {
			status = conditionStatus(j.State == Hindered || j.State == Failed)
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

// SetJudged sets a condition of the operator's own, which is True where the
// judgement is Done.
func (c *Conditions) SetJudged(conditionType string, j Judgement) {
	c.Set(conditionType, conditionStatus(j.State == Done), j.Reason, j.Message)
}

func conditionStatus(isTrue bool) metav1.ConditionStatus {
	if isTrue {
		return metav1.ConditionTrue
	}
	return metav1.ConditionFalse
}
