package podset

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/operetta-dev/operetta/metacontroller"
)

const (
	// maxRequestBytes limits the Pods of one PodSet. Every request carries all of them, and the
	// server accepts 64 MiB: a PodSet beyond that could not even be scaled down.
	maxRequestBytes = 56 << 20
	// A Pod carries its template in its spec, in Metacontroller's annotation and, as names of
	// fields, in managedFields; and defaults, a status and their names.
	copiesPerPod, addedBytesPerPod = 3, 6 << 10
)

// mostPods returns how many Pods of a template a PodSet may have.
func mostPods(template *corev1.PodTemplateSpec) (int, error) {
	size, err := metacontroller.AppliedSize(&corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec})
	if err != nil {
		return 0, fmt.Errorf("spec.template: %w", err)
	}
	return max(1, maxRequestBytes/(copiesPerPod*size+addedBytesPerPod)), nil
}
