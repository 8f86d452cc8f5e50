package controllers

import (
	appsv1 "k8s.io/api/apps/v1"

	"github.com/operetta-dev/operetta/internal/simulate/apiserver"
)

// daemonSet runs one Pod, for there is one node.
func (b *Builtin) daemonSet(ref apiserver.Ref) {
	d := load[appsv1.DaemonSet](b, ref)
	if d == nil {
		return
	}
	hash := templateHash(&d.Spec.Template)
	isUpdated := func(r replica) bool {
		return apiserver.Label(r.object, appsv1.ControllerRevisionHashLabelKey) == hash
	}
	pods := b.replicas(d.UID)
	b.reportDaemonSet(d, ref, pods, isUpdated)
	if len(pods) == 0 {
		pod := newPod(&d.Spec.Template, b.generated(d.Name), b.server.Get(ref))
		pod.Labels[appsv1.ControllerRevisionHashLabelKey] = hash
		b.create(pod)
	}
	for _, r := range pods {
		outdated := !isUpdated(r) && d.Spec.UpdateStrategy.Type == appsv1.RollingUpdateDaemonSetStrategyType
		if !r.terminating && (outdated || r.isFinished()) {
			b.deletePod(r)
		}
	}
	b.awaitAvailable(ref, pods, d.Spec.MinReadySeconds)
}

func (b *Builtin) reportDaemonSet(d *appsv1.DaemonSet, ref apiserver.Ref, pods []replica, isUpdated func(replica) bool) {
	pods = live(pods)
	now := b.server.Now()
	isAvailable := func(r replica) bool { return r.isAvailable(now, d.Spec.MinReadySeconds) }
	available := count(pods, isAvailable)
	d.Status = appsv1.DaemonSetStatus{
		ObservedGeneration:     d.Generation,
		DesiredNumberScheduled: 1,
		CurrentNumberScheduled: int32(len(pods)),
		UpdatedNumberScheduled: count(pods, isUpdated),
		NumberReady:            count(pods, func(r replica) bool { return r.ready }),
		NumberAvailable:        available,
		NumberUnavailable:      1 - available,
	}
	b.report(ref, &d.Status)
}
