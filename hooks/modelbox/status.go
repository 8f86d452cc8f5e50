package modelbox

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/operator"
)

// Conditions beside those that every operator has.
const (
	conditionProgressing = "Progressing"
	conditionDegraded    = "Degraded"
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

// judge sets Ready, Progressing, Degraded and Stalled. Where the children are
// not settled, Ready is False already and tells why.
func judge(conditions *operator.Conditions, settled bool, seen observed) {
	if !settled {
		judgeUnsettled(conditions)
		return
	}
	rollout := seen.deployment.condition("Progressing")
	failure := seen.deployment.condition("ReplicaFailure")
	reason, message := seen.deployment.progress()
	switch {
	case reason == reasonAvailable:
		conditions.Set(operator.ConditionReady, metav1.ConditionTrue, reason, message)
		conditions.Set(conditionProgressing, metav1.ConditionFalse, "Complete", message)
		conditions.Set(conditionDegraded, metav1.ConditionFalse, "AsExpected", message)
	case rollout.Reason == progressDeadlineExceeded && rollout.Status == corev1.ConditionFalse:
		conditions.Set(operator.ConditionReady, metav1.ConditionFalse, progressDeadlineExceeded, rollout.Message)
		conditions.Set(conditionProgressing, metav1.ConditionFalse, progressDeadlineExceeded, rollout.Message)
		conditions.Set(conditionDegraded, metav1.ConditionTrue, progressDeadlineExceeded, rollout.Message)
		conditions.Set(operator.ConditionStalled, metav1.ConditionTrue, progressDeadlineExceeded, rollout.Message)
	case failure.Status == corev1.ConditionTrue:
		conditions.Set(operator.ConditionReady, metav1.ConditionFalse, "ReplicaFailure", failure.Message)
		conditions.Set(conditionProgressing, metav1.ConditionTrue, "ReplicaFailure", failure.Message)
		conditions.Set(conditionDegraded, metav1.ConditionTrue, "ReplicaFailure", failure.Message)
	default:
		conditions.Set(operator.ConditionReady, metav1.ConditionFalse, reason, message)
		conditions.Set(conditionProgressing, metav1.ConditionTrue, reason, message)
		conditions.Set(conditionDegraded, metav1.ConditionFalse, "AsExpected", message)
	}
}

// judgeUnsettled repeats in Progressing and Degraded what Ready says of
// children that are missing or not yet as they are asked for.
func judgeUnsettled(conditions *operator.Conditions) {
	ready := conditions.Find(operator.ConditionReady)
	progressing, degraded := metav1.ConditionTrue, metav1.ConditionFalse
	if ready.Reason == operator.ReasonChildBlocked || ready.Reason == operator.ReasonUpdateBlocked {
		progressing, degraded = metav1.ConditionFalse, metav1.ConditionTrue
	}
	conditions.Set(conditionProgressing, progressing, ready.Reason, ready.Message)
	conditions.Set(conditionDegraded, degraded, ready.Reason, ready.Message)
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
