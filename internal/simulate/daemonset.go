package simulate

import (
	appsv1 "k8s.io/api/apps/v1"
)

// daemonSet runs one Pod, for there is one node.
func (k *kubernetes) daemonSet(ref Ref) {
	d := load[appsv1.DaemonSet](k, ref)
	if d == nil {
		return
	}
	hash := templateHash(&d.Spec.Template)
	isUpdated := func(r replica) bool {
		return r.object.GetLabels()[appsv1.ControllerRevisionHashLabelKey] == hash
	}
	pods := k.replicas(d.UID)
	k.reportDaemonSet(d, ref, pods, isUpdated)
	if len(pods) == 0 {
		pod := newPod(&d.Spec.Template, k.generated(d.Name), k.server.Get(ref))
		pod.Labels[appsv1.ControllerRevisionHashLabelKey] = hash
		k.create(pod)
	}
	for _, r := range pods {
		outdated := !isUpdated(r) && d.Spec.UpdateStrategy.Type == appsv1.RollingUpdateDaemonSetStrategyType
		if !r.terminating && (outdated || r.isFinished()) {
			k.drop(r)
		}
	}
	k.awaitAvailable(ref, pods, d.Spec.MinReadySeconds)
}

func (k *kubernetes) reportDaemonSet(d *appsv1.DaemonSet, ref Ref, pods []replica, isUpdated func(replica) bool) {
	pods = live(pods)
	now := k.server.Now()
	isAvailable := func(r replica) bool { return r.isAvailable(now, d.Spec.MinReadySeconds) }
	available := count(pods, isAvailable)
	k.report(ref, &appsv1.DaemonSetStatus{
		ObservedGeneration:     d.Generation,
		DesiredNumberScheduled: 1,
		CurrentNumberScheduled: int32(len(pods)),
		UpdatedNumberScheduled: count(pods, isUpdated),
		NumberReady:            count(pods, func(r replica) bool { return r.ready }),
		NumberAvailable:        available,
		NumberUnavailable:      1 - available,
	})
}
