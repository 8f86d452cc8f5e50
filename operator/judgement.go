package operator

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Conditions that an operator may have beside those of every operator.
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
	// Working is the state of what is not done yet, and needs nobody.
	Working State = iota
	// Done is the state of what is as the newest spec asks for, and works.
	Done
	// Hindered is the state of what goes on, and needs a person to come to an end.
	Hindered
	// Failed is the state of what has ended, or has been waited for for too long, and
	// needs a person.
	Failed
)

// Judgement is how a custom resource is. All conditions that sum it up follow from one.
type Judgement struct {
	State State
	// Reason is one CamelCase word, for programs.
	Reason string
	// Message is for people. It says the same for the same state: no running times, no
	// random order.
	Message string
}

// Judge sets Ready, where the work has failed Stalled, and those of
// [ConditionProgressing] and [ConditionDegraded] that are named. A later judgement
// replaces what it sets.
func (c *Conditions) Judge(j Judgement, also ...string) {
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

// SetJudged sets a condition of the operator's own that is True where a part of the work
// is done.
func (c *Conditions) SetJudged(conditionType string, j Judgement) {
	c.Set(conditionType, conditionStatus(j.State == Done), j.Reason, j.Message)
}

func conditionStatus(isTrue bool) metav1.ConditionStatus {
	if isTrue {
		return metav1.ConditionTrue
	}
	return metav1.ConditionFalse
}
