package controllers

import (
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/internal/lab/kube"
)

// The conditions are written in the order, and with the times, of pkg/controller/deployment/progress.go and
// util/deployment_util.go in k8s.io/kubernetes: one that changes moves to the end.

// notePause sets the condition of a Deployment that is paused, or goes on, unless it has failed.
func (b *Builtin) notePause(r *rollout) {
	switch reason := findCondition(r.Status.Conditions, appsv1.DeploymentProgressing).Reason; {
	case r.Spec.Paused && reason != "ProgressDeadlineExceeded":
		b.setProgress(&r.Status, corev1.ConditionUnknown, "DeploymentPaused", "Deployment is paused")
	case !r.Spec.Paused && reason == "DeploymentPaused":
		b.setProgress(&r.Status, corev1.ConditionUnknown, "DeploymentResumed", "Deployment is resumed")
	}
}

// setProgressing sets Progressing: a rollout past its progress deadline has
// failed, and a complete one stays complete.
func (b *Builtin) setProgressing(r *rollout, status *appsv1.DeploymentStatus) {
	old, want := &r.Status, *r.Spec.Replicas
	name := fmt.Sprintf("ReplicaSet %q", r.newest.GetName())
	current := findCondition(old.Conditions, appsv1.DeploymentProgressing)
	if current.Reason == "NewReplicaSetAvailable" && status.Replicas == status.UpdatedReplicas {
		return
	}
	moved := status.UpdatedReplicas > old.UpdatedReplicas || status.ReadyReplicas > old.ReadyReplicas ||
		status.AvailableReplicas > old.AvailableReplicas || status.Replicas-status.UpdatedReplicas < old.Replicas-old.UpdatedReplicas
	deadline := current.LastUpdateTime.Add(time.Duration(*r.Spec.ProgressDeadlineSeconds) * time.Second)
	switch {
	case status.UpdatedReplicas == want && status.Replicas == want && status.AvailableReplicas == want:
		b.setProgress(status, corev1.ConditionTrue, "NewReplicaSetAvailable", name+" has successfully progressed.")
		return
	case moved:
		removeCondition(status, appsv1.DeploymentProgressing)
		b.setProgress(status, corev1.ConditionTrue, "ReplicaSetUpdated", name+" is progressing.")
		if current.Status == corev1.ConditionTrue {
			status.Conditions[len(status.Conditions)-1].LastTransitionTime = current.LastTransitionTime
		}
	case current.Reason == "NewReplicaSetAvailable":
	case b.server.Now().After(deadline):
		b.setProgress(status, corev1.ConditionFalse, "ProgressDeadlineExceeded", name+" has timed out progressing.")
	}
	now := findCondition(status.Conditions, appsv1.DeploymentProgressing)
	if now.Reason != "ProgressDeadlineExceeded" {
		b.at(r.ref, now.LastUpdateTime.Add(time.Duration(*r.Spec.ProgressDeadlineSeconds+1)*time.Second))
	}
}

// copyReplicaFailure copies the condition of a ReplicaSet, the newest first.
func (b *Builtin) copyReplicaFailure(r *rollout, status *appsv1.DeploymentStatus) {
	for _, set := range append([]kube.Object{r.newest}, r.sets...) {
		c := kube.ConditionOf(set, string(appsv1.ReplicaSetReplicaFailure))
		if c.Status != string(corev1.ConditionTrue) {
			continue
		}
		since := metav1.NewTime(c.Since)
		setDeploymentCondition(status, appsv1.DeploymentCondition{
			Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Reason: c.Reason, Message: c.Message,
			LastUpdateTime: since, LastTransitionTime: since,
		})
		return
	}
	removeCondition(status, appsv1.DeploymentReplicaFailure)
}

// setReplicaFailure sets the condition of a ReplicaSet whose Pods are refused, or removes it. It keeps the
// words of the first refusal (pkg/controller/replicaset/replica_set_utils.go in k8s.io/kubernetes).
func (b *Builtin) setReplicaFailure(set kube.Object, refusal error) {
	ref := kube.RefOf(set)
	s := load[appsv1.ReplicaSet](b, ref)
	if s == nil || !b.noteReplicaFailure(&s.Status, refusal) {
		return
	}
	s.Status.ObservedGeneration = s.Generation
	b.report(ref, &s.Status)
}

// noteReplicaFailure reports whether the condition changes.
func (b *Builtin) noteReplicaFailure(status *appsv1.ReplicaSetStatus, refusal error) bool {
	isFailure := func(c appsv1.ReplicaSetCondition) bool { return c.Type == appsv1.ReplicaSetReplicaFailure }
	hasFailed := slices.ContainsFunc(status.Conditions, isFailure)
	if hasFailed == (refusal != nil) {
		return false
	}
	if hasFailed {
		status.Conditions = slices.DeleteFunc(status.Conditions, isFailure)
		return true
	}
	status.Conditions = append(status.Conditions, appsv1.ReplicaSetCondition{
		Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionTrue, LastTransitionTime: b.now(), Reason: failedCreate, Message: refusal.Error(),
	})
	return true
}

func findCondition(list []appsv1.DeploymentCondition, kind appsv1.DeploymentConditionType) (found appsv1.DeploymentCondition) {
	if i := slices.IndexFunc(list, func(c appsv1.DeploymentCondition) bool { return c.Type == kind }); i >= 0 {
		found = list[i]
	}
	return found
}

func removeCondition(status *appsv1.DeploymentStatus, kind appsv1.DeploymentConditionType) {
	status.Conditions = slices.DeleteFunc(status.Conditions, func(c appsv1.DeploymentCondition) bool { return c.Type == kind })
}

func (b *Builtin) setProgress(status *appsv1.DeploymentStatus, value corev1.ConditionStatus, reason, message string) {
	setDeploymentCondition(status, appsv1.DeploymentCondition{
		Type: appsv1.DeploymentProgressing, Status: value, Reason: reason, Message: message,
		LastUpdateTime: b.now(), LastTransitionTime: b.now(),
	})
}

// setDeploymentCondition sets a condition, unless it has that status and reason.
func setDeploymentCondition(status *appsv1.DeploymentStatus, condition appsv1.DeploymentCondition) {
	old := findCondition(status.Conditions, condition.Type)
	if old.Status == condition.Status && old.Reason == condition.Reason {
		return
	}
	if old.Status == condition.Status {
		condition.LastTransitionTime = old.LastTransitionTime
	}
	removeCondition(status, condition.Type)
	status.Conditions = append(status.Conditions, condition)
}
