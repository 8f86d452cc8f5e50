package bluegreendeployment

import (
	"fmt"

	"github.com/operetta-dev/operetta/operator"
)

// Reasons of Ready, beside those of package operator.
const (
	reasonSwitching  = "Switching"
	reasonCleaningUp = "CleaningUp"
)

// status reports what is observed. What every status has is added by operator.Answer.
func status(o observed, p plan) Status {
	return Status{
		ActiveColor: o.active, SwitchingTo: p.switchingTo,
		Active: numbers(o.sets[o.active]), Inactive: numbers(o.sets[o.active.other()]),
	}
}

func numbers(set *observedSet) ReplicaSetStatus {
	r := set.rollout()
	return ReplicaSetStatus{Replicas: r.Existing, ReadyReplicas: r.Ready, AvailableReplicas: r.Available}
}

// summary judges what is observed.
func summary(deployment *BlueGreenDeployment, o observed, p plan) operator.Summary {
	want, active, inactive := wantedReplicas(deployment), o.active, o.active.other()
	rolled := active // the color that gets the newest template
	if set := o.sets[active]; set == nil || !set.isNewest {
		rolled = inactive
	}
	r := o.sets[rolled].rollout()
	available := fmt.Sprintf("%d of %d replicas of %s are available", r.Available, want, rolled)
	switch {
	case p.switchingTo != "":
		return operator.Summary{Reason: reasonSwitching, Message: fmt.Sprintf("the Service is switched to %s", p.switchingTo)}
	case rolled == inactive && !o.sets[inactive].isDrained() && !o.sets[inactive].isNewest:
		return operator.Summary{Reason: reasonCleaningUp, Message: fmt.Sprintf("waiting for old replicas of %s to terminate", inactive)}
	case r.Failure != "":
		return operator.Summary{State: operator.Degraded, Reason: operator.ReasonReplicaFailure, Message: r.Failure}
	case !o.sets[rolled].has(want):
		return operator.Summary{Reason: operator.ReasonUnavailable, Message: available}
	case rolled == inactive:
		return operator.Summary{Reason: operator.ReasonRollingOut, Message: available}
	case !o.sets[inactive].isDrained():
		return operator.Summary{Reason: reasonCleaningUp, Message: fmt.Sprintf("waiting for old replicas of %s to terminate", inactive)}
	}
	return operator.Summary{State: operator.Done, Reason: operator.ReasonAvailable, Message: available}
}
