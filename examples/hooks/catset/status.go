package catset

import (
	"fmt"

	"github.com/operetta-dev/operetta/operator"
)

// Reasons of Ready, beside those of package operator.
const (
	reasonReady       = "Ready"
	reasonStarting    = "Starting"
	reasonReplacing   = "Replacing"
	reasonScalingDown = "ScalingDown"
)

// status reports what is observed. What every status has is added by operator.Answer.
func status(set *CatSet, o observed) Status {
	return Status{Replicas: int32(len(o)), ReadyReplicas: int32(o.ready(wantedReplicas(set)))}
}

// summary judges what is observed.
func summary(set *CatSet, o observed) operator.Summary {
	replicas := wantedReplicas(set)
	ready := o.ready(replicas)
	outdated := 0
	for _, pod := range o {
		if !pod.isNewest {
			outdated++
		}
	}
	switch {
	case ready < replicas:
		return operator.Summary{Reason: reasonStarting, Message: fmt.Sprintf("waiting for Pod %s, %d of %d Pods are ready", podName(set, ready), ready, replicas)}
	case o.last() >= replicas:
		return operator.Summary{Reason: reasonScalingDown, Message: fmt.Sprintf("%d Pods exist, %d wanted", len(o), replicas)}
	case outdated > 0:
		return operator.Summary{Reason: reasonReplacing, Message: fmt.Sprintf("%d Pods are of an older template", outdated)}
	}
	return operator.Summary{State: operator.Done, Reason: reasonReady, Message: fmt.Sprintf("%d of %d Pods are ready", ready, replicas)}
}
