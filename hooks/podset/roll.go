package podset

import (
	"k8s.io/apimachinery/pkg/util/intstr"
)

// roll is how a change of the template may go on, in Pods.
type roll struct {
	maxUnavailable, maxSurge int
	partition                int
	paused                   bool
}

// rollOf returns what the spec asks for. As with a Deployment, one Pod may be unavailable where
// both shares are rounded to none.
func rollOf(set *PodSet) roll {
	size := int(*set.Spec.Size)
	r := roll{
		maxUnavailable: 1, maxSurge: scaled(set.Spec.MaxSurge, size, true),
		partition: int(set.Spec.Partition), paused: set.Spec.Paused,
	}
	if set.Spec.MaxUnavailable != nil {
		r.maxUnavailable = scaled(set.Spec.MaxUnavailable, size, false)
	}
	if r.maxSurge == 0 {
		r.maxUnavailable = max(1, r.maxUnavailable)
	}
	return r
}

func scaled(value *intstr.IntOrString, size int, up bool) int {
	if value == nil {
		return 0
	}
	count, err := intstr.GetScaledValueFromIntOrPercent(value, size, up)
	if err != nil {
		return 0 // the schema allows nothing else
	}
	return count
}

// outdated returns how many of some Pods are to be replaced once nothing is paused, and how many
// of them because they are listed.
func (r roll) outdated(pods []*observedPod) (all, listed int) {
	for _, pod := range pods {
		switch {
		case pod.listed:
			listed++
		case !pod.current:
			all++
		}
	}
	return max(0, all-r.partition) + listed, listed
}

// toReplace returns how many of some Pods are to be replaced.
func (r roll) toReplace(pods []*observedPod) int {
	all, listed := r.outdated(pods)
	if r.paused {
		return listed
	}
	return all
}

// surge returns how many Pods there may be beyond the size. While it is paused, those stay that
// are there.
func (r roll) surge(pods []*observedPod, size int) int {
	all, _ := r.outdated(pods)
	if r.paused {
		return min(r.maxSurge, all, max(0, len(pods)-size))
	}
	return min(r.maxSurge, all)
}
