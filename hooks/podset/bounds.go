package podset

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/operetta-dev/operetta/metacontroller"
)

const (
	// maxSize is the largest size in the schema, also for requests that were
	// not validated.
	maxSize = 5000
	// maxRequestBytes limits the Pods of one PodSet in a request. Every request
	// contains all of them, and if the server refuses it, the PodSet could not
	// even be scaled down. The server accepts 64 MiB.
	maxRequestBytes = 56 << 20
	// A Pod contains its template in its spec, in Metacontroller's annotation
	// and, as field names, in managedFields. Defaults, the status and their
	// field names are added.
	copiesPerPod     = 3
	addedBytesPerPod = 6 << 10
)

// bounds limit how many Pods of a template are created.
type bounds struct {
	most int // in all
	// perPod is the estimated size of a Pod in a request.
	perPod int
}

// boundsOf returns the bounds for a template.
func boundsOf(template *corev1.PodTemplateSpec) (bounds, error) {
	pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	size, err := metacontroller.AppliedSize(pod) // Metacontroller's encoder escapes some characters in requests, too
	if err != nil {
		return bounds{}, fmt.Errorf("spec.template: %w", err)
	}
	perPod := copiesPerPod*size + addedBytesPerPod
	return bounds{most: min(maxSize, max(1, maxRequestBytes/perPod)), perPod: perPod}, nil
}

// tooLarge says why there are fewer Pods than size.
func (b bounds) tooLarge(size int) string {
	if size > maxSize {
		return fmt.Sprintf("spec.size is %d: write at most %d", size, maxSize)
	}
	return fmt.Sprintf("spec.size is %d, and of so large a template a PodSet has at most %d Pods, of about %d KiB each with their status: "+
		"make the template smaller, for instance by moving its content to a ConfigMap, or write a smaller size", size, b.most, b.perPod>>10)
}
