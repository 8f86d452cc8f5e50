package modelbox

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/operetta-dev/operetta/operator"
)

// Reasons of Ready once the children are settled, beside the Deployment's own.
const (
	reasonAvailable   = "Available"
	reasonUnavailable = "ReplicasUnavailable"
	reasonRollingOut  = "RollingOut"
)

// progressDeadlineExceeded is the reason with which a Deployment gives up on a
// rollout.
const progressDeadlineExceeded = "ProgressDeadlineExceeded"

// report copies the numbers and addresses that are observed.
func report(box *ModelBox, seen observed) Status {
	status := Status{Selector: selectorLabel + "=" + box.Name}
	if d := seen.deployment; d != nil {
		status.Replicas = d.Status.Replicas
		status.ReadyReplicas = d.Status.ReadyReplicas
		status.UpdatedReplicas = d.Status.UpdatedReplicas
		status.AvailableReplicas = d.Status.AvailableReplicas
		status.Ready = fmt.Sprintf("%d/%d", d.Status.ReadyReplicas, d.Spec.Replicas)
	}
	if seen.service == nil {
		return status
	}
	status.ServiceType = seen.service.Spec.Type
	status.ClusterIP = seen.service.Spec.ClusterIP
	if seen.service.isHeadless() {
		status.ServiceType = ServiceHeadless
	}
	for _, port := range seen.service.Spec.Ports {
		if port.NodePort != 0 {
			status.NodePorts = append(status.NodePorts, port)
		}
	}
	return status
}

// judge tells how the rollout is, of children that are as they are asked for.
func judge(seen observed) operator.Judgement {
	rollout := seen.deployment.condition("Progressing")
	failure := seen.deployment.condition("ReplicaFailure")
	reason, message := seen.deployment.progress()
	switch {
	case reason == reasonAvailable:
		return operator.Judgement{State: operator.Done, Reason: reason, Message: message}
	case rollout.Reason == progressDeadlineExceeded && rollout.Status == corev1.ConditionFalse:
		return operator.Judgement{State: operator.Failed, Reason: progressDeadlineExceeded, Message: rollout.Message}
	case failure.Status == corev1.ConditionTrue:
		return operator.Judgement{State: operator.Hindered, Reason: "ReplicaFailure", Message: failure.Message}
	}
	return operator.Judgement{State: operator.Working, Reason: reason, Message: message}
}

// progress tells how far the rollout is: reasonAvailable when all replicas are
// updated and available and no other is left.
func (d *observedDeployment) progress() (reason, message string) {
	want, status := d.Spec.Replicas, &d.Status
	switch {
	case status.ObservedGeneration < d.Metadata.Generation:
		return reasonRollingOut, "the Deployment's controller has not looked at its newest generation yet"
	case status.UpdatedReplicas < want:
		return reasonRollingOut, fmt.Sprintf("%d of %d replicas are updated", status.UpdatedReplicas, want)
	case status.Replicas > status.UpdatedReplicas:
		return reasonRollingOut, fmt.Sprintf("old replicas still there: %d", status.Replicas-status.UpdatedReplicas)
	case status.Replicas > want:
		return reasonRollingOut, fmt.Sprintf("%d of %d replicas are to go", status.Replicas-want, status.Replicas)
	case status.AvailableReplicas < want:
		return reasonUnavailable, fmt.Sprintf("%d of %d replicas are available", status.AvailableReplicas, want)
	default:
		return reasonAvailable, fmt.Sprintf("%d of %d replicas are available", status.AvailableReplicas, want)
	}
}
