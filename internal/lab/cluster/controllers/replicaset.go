package controllers

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/operetta-dev/operetta/metacontroller"
)

// isOfDeployment reports whether an object is a ReplicaSet that a Deployment has made, whose
// Pods are that controller's. It stays so when the Deployment is gone.
func isOfDeployment(object kube.Object) bool {
	return kube.RefOf(object).Is(metacontroller.ReplicaSet) && kube.Label(object, appsv1.DefaultDeploymentUniqueLabelKey) != ""
}

// replicaSet keeps a number of Pods. A new template is for new ones.
func (b *Builtin) replicaSet(ref kube.Ref) {
	s := load[appsv1.ReplicaSet](b, ref)
	if s == nil || isOfDeployment(b.server.Get(ref)) || !b.server.HasRoomFor(ref, *s.Spec.Replicas) {
		return
	}
	all := b.replicas(s.UID, s.Spec.MinReadySeconds)
	pods, terminating := live(all), count(all, func(r replica) bool { return r.terminating })
	surplus := int32(len(pods)) - *s.Spec.Replicas
	owner := b.server.Get(ref)
	refusal := b.createPods(owner, -surplus, func() *corev1.Pod { return newPod(&s.Spec.Template, b.generated(s.Name), owner) })
	b.noteReplicaFailure(&s.Status, refusal)
	b.report(ref, &appsv1.ReplicaSetStatus{
		ObservedGeneration: s.Generation, Replicas: int32(len(pods)), FullyLabeledReplicas: int32(len(pods)),
		ReadyReplicas: count(pods, isReady), AvailableReplicas: count(pods, isAvailable),
		TerminatingReplicas: &terminating, Conditions: s.Status.Conditions,
	})
	b.deletePods(byDeletionOrder(pods)[:max(0, surplus)])
	b.awaitAvailable(ref, pods)
}
