package controllers

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/operetta-dev/operetta/internal/lab/cluster/apiserver"
)

// Times of the node lifecycle controller: its --node-monitor-grace-period in Kubernetes 1.36, and the
// toleration of node.kubernetes.io/unreachable that each Pod has by default.
const (
	untilUnready = 50 * time.Second
	untilEvicted = 5 * time.Minute
)

// freeNode returns the first node that answers. Each has room for everything.
func (b *Builtin) freeNode() string {
	for i := 1; ; i++ {
		name := fmt.Sprintf("node-%d", i)
		if _, down := b.down[name]; !down {
			return name
		}
	}
}

// LoseNode stops the kubelet of a Pod's node.
func (b *Builtin) LoseNode(pod kube.Object) {
	name := nodeOf(pod)
	if name == "" || b.isDown(pod) {
		return
	}
	b.down[name] = b.server.Now()
	b.CheckPods()
}

// MendNodes lets all nodes answer, and admit Pods, again.
func (b *Builtin) MendNodes() {
	clear(b.down)
	clear(b.rejections)
	b.CheckPods()
}

func (b *Builtin) isDown(pod kube.Object) bool {
	_, down := b.down[nodeOf(pod)]
	return down
}

func nodeOf(pod kube.Object) string {
	spec, _ := pod.Object["spec"].(map[string]any)
	name, _ := spec["nodeName"].(string)
	return name
}

// miss does what Kubernetes does to the Pods of a node that does not answer: it is called not ready,
// without a reason, and deleted later. It stays until its kubelet says that it has ended. See MarkPodsNotReady in
// pkg/controller/util/node and pkg/controller/tainteviction.
func (b *Builtin) miss(ref kube.Ref, pod *corev1.Pod) {
	since, now := b.down[pod.Spec.NodeName], b.server.Now()
	unready, evicted := since.Add(untilUnready), since.Add(untilUnready+untilEvicted)
	switch {
	case now.Before(unready):
		b.at(ref, unready)
	case now.Before(evicted):
		if c := podCondition(pod, corev1.PodReady); c != nil {
			b.warn(pod, "NodeNotReady", "Node is not ready")
			b.setPodCondition(pod, corev1.PodCondition{Type: c.Type, Status: corev1.ConditionFalse, Reason: c.Reason, Message: c.Message})
			b.report(ref, &pod.Status)
		}
		b.at(ref, evicted)
	default:
		b.disrupt(pod, "DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint")
		b.report(ref, &pod.Status)
		b.delete(b.server.Get(ref))
	}
}

// Evict disrupts a Pod: a node that is short of "memory" or "disk" fails it, and one that is "preempted" is deleted.
func (b *Builtin) Evict(ref kube.Ref, why string) {
	pod := load[corev1.Pod](b, ref)
	if pod == nil || isOver(pod) {
		return
	}
	if why == Preempted {
		b.disrupt(pod, corev1.PodReasonPreemptionByScheduler, "default-scheduler: preempting to accommodate a higher priority pod")
		b.report(ref, &pod.Status)
		_ = b.server.Delete(apiserver.ByKubernetes, ref, pod.UID) // it is there
		return
	}
	c := "web"
	if len(pod.Spec.Containers) > 0 {
		c = pod.Spec.Containers[0].Name
	}
	pod.Status.Reason, pod.Status.Message = "Evicted", fmt.Sprintf(evictions[why], c)
	b.warn(pod, "Evicted", pod.Status.Message)
	b.disrupt(pod, corev1.PodReasonTerminationByKubelet, pod.Status.Message)
	b.finish(pod, corev1.PodFailed, 137)
	b.report(ref, &pod.Status)
}

// Preempted is how a Pod is evicted that makes room for another.
const Preempted = "preempted"

// evictions are the kubelet's words, see pkg/kubelet/eviction/helpers.go.
var evictions = map[string]string{
	"memory": "The node was low on resource: memory. Threshold quantity: 100Mi, available: 95328Ki. Container %s was using 2153476Ki, request is 1Gi, has larger consumption of memory. ",
	"disk":   "The node was low on resource: ephemeral-storage. Threshold quantity: 8589934592, available: 7311244Ki. Container %s was using 21534Mi, request is 0, has larger consumption of ephemeral-storage. ",
}

func (b *Builtin) disrupt(pod *corev1.Pod, reason, message string) {
	b.setPodCondition(pod, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: reason, Message: message})
}

func podCondition(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == kind {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}
