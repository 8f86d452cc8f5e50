package metacontroller

import corev1 "k8s.io/api/core/v1"

// Program is what a Pod that runs to its end does to a simulated cluster. It leaves a
// Pod alone that it does not know. The error is what the Pod says when it fails.
type Program func(cluster Cluster, pod *corev1.Pod) error

// Cluster is what a [Program] can write to.
type Cluster interface {
	// AddEphemeralContainer adds an ephemeral container to a Pod. The error has the
	// words of kubectl.
	AddEphemeralContainer(namespace, pod string, container corev1.EphemeralContainer) error
}
