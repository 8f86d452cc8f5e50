package simulation

import corev1 "k8s.io/api/core/v1"

// Workload is what a Pod that runs to completion does to a simulated cluster. It
// ignores Pods that it does not know. The error is the termination message of a
// Pod that fails.
type Workload func(cluster Cluster, pod *corev1.Pod) error

// Cluster is what a [Workload] can write to.
type Cluster interface {
	// AddEphemeralContainer adds an ephemeral container to a Pod. The error has
	// the text that kubectl would print.
	AddEphemeralContainer(namespace, pod string, container corev1.EphemeralContainer) error
}
