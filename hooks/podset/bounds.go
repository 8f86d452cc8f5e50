package podset

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

const (
	// maxSize is the largest size that the schema admits. A request that has
	// not passed it makes no more Pods than that either.
	maxSize = 5000
	// maxRequestBytes is how much the Pods of one PodSet may have together in a
	// request. Every request carries all of them, and one that the server, or
	// Metacontroller's timeout, refuses could not even make the PodSet smaller.
	// The server takes twice as much: an older template's Pods may be there
	// beside the newest's.
	maxRequestBytes = 128 << 20
	// What is asked for stands in a Pod's spec, in the annotation that
	// Metacontroller writes and, by the names of its fields, in managedFields.
	// Defaults, the status and their fields' names come on top.
	copiesPerPod     = 3
	addedBytesPerPod = 6 << 10
)

// bounds are how many Pods may be made of a template.
type bounds struct {
	burst int // in one sync
	most  int // in all
	// perPod is how many bytes a Pod is reckoned to have in a request.
	perPod int
}

// boundsOf returns the bounds for the newest template.
func boundsOf(set *PodSet, hash string) (bounds, error) {
	template := podTemplate(set, hash)
	pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	size, inRequest, err := metacontroller.Sizes(pod)
	if err != nil {
		return bounds{}, fmt.Errorf("spec.template: %w", err)
	}
	perPod := copiesPerPod*inRequest + addedBytesPerPod
	return bounds{burst: operator.Burst(size), most: min(maxSize, max(1, maxRequestBytes/perPod)), perPod: perPod}, nil
}

// tooLarge tells why there are fewer Pods than size.
func (b bounds) tooLarge(size int) string {
	if size > maxSize {
		return fmt.Sprintf("spec.size is %d: write at most %d", size, maxSize)
	}
	return fmt.Sprintf("spec.size is %d, and of so large a template a PodSet has at most %d Pods, of about %d KiB each with their status: "+
		"make the template smaller, for instance by moving its content to a ConfigMap, or write a smaller size", size, b.most, b.perPod>>10)
}
