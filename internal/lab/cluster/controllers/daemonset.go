package controllers

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/operetta-dev/operetta/internal/lab/kube"
)

// daemonSet runs one Pod, for there is one node.
func (b *Builtin) daemonSet(ref kube.Ref) {
	d := load[appsv1.DaemonSet](b, ref)
	if d == nil {
		return
	}
	hash := templateHash(&d.Spec.Template)
	isUpdated := func(r replica) bool {
		return kube.Label(r.object, appsv1.ControllerRevisionHashLabelKey) == hash
	}
	pods := b.replicas(d.UID, d.Spec.MinReadySeconds)
	present := live(pods)
	available := count(present, isAvailable)
	d.Status = appsv1.DaemonSetStatus{
		ObservedGeneration:     d.Generation,
		DesiredNumberScheduled: 1,
		CurrentNumberScheduled: int32(len(present)),
		UpdatedNumberScheduled: count(present, isUpdated),
		NumberReady:            count(present, isReady),
		NumberAvailable:        available,
		NumberUnavailable:      1 - available,
	}
	b.report(ref, &d.Status)
	if len(pods) == 0 {
		owner := b.server.Get(ref)
		_ = b.createPods(owner, 1, func() *corev1.Pod { // an Event tells
			pod := newPod(&d.Spec.Template, b.generated(d.Name), owner)
			pod.Labels[appsv1.ControllerRevisionHashLabelKey] = hash
			return pod
		})
	}
	for _, r := range pods {
		outdated := !isUpdated(r) && d.Spec.UpdateStrategy.Type == appsv1.RollingUpdateDaemonSetStrategyType
		if !r.terminating && (outdated || r.isFinished()) {
			b.delete(r.object)
		}
	}
	b.awaitAvailable(ref, pods)
}
