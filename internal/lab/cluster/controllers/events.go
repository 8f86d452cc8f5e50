package controllers

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/operetta-dev/operetta/internal/lab/kube"
)

// sources are the names by which the components of Kubernetes warn, by kind (pkg/controller, and for
// Pods pkg/kubelet, in k8s.io/kubernetes).
var sources = map[string]string{
	"Pod": "kubelet", "Node": "node-controller", "ReplicaSet": "replicaset-controller", "Deployment": "deployment-controller",
	"StatefulSet": "statefulset-controller", "DaemonSet": "daemonset-controller", "Job": "job-controller", "CronJob": "cronjob-controller",
	"Service": "service-controller", "PersistentVolumeClaim": "persistentvolume-controller", "HorizontalPodAutoscaler": "horizontal-pod-autoscaler",
}

// failedCreate is the reason of an Event, and of a condition, that what an owner wants is refused.
const failedCreate = "FailedCreate"

// event records that the component that looks after an object warns about it. That is no change: it
// wakes nobody, and one object has one Event of a reason, with the newest message.
func (b *Builtin) event(object kube.Object, reason, message string) {
	source := sources[object.GetKind()]
	switch reason {
	case "NodeNotReady":
		source = sources["Node"]
	case "FailedScheduling":
		source = "default-scheduler"
	}
	b.server.Warn(source, object, reason, message)
}

// warn records that the kubelet, or whoever else looks after a Pod, warns about it.
func (b *Builtin) warn(pod *corev1.Pod, reason, message string) {
	b.event(b.server.Get(podRef(pod)), reason, message)
}
