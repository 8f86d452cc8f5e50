package operator

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// RoundUp rounds all requests and limits of a Pod up to thousandths, in place, as the API server
// does. Otherwise dynamic-apply would write the child at each sync, because the stored value
// differs. Size limits of volumes are stored unrounded.
func RoundUp(spec *corev1.PodSpec) {
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			RoundUpList(list[i].Resources.Requests)
			RoundUpList(list[i].Resources.Limits)
		}
	}
	if spec.Resources != nil {
		RoundUpList(spec.Resources.Requests)
		RoundUpList(spec.Resources.Limits)
	}
	RoundUpList(spec.Overhead)
	for i := range spec.Volumes {
		if ephemeral := spec.Volumes[i].Ephemeral; ephemeral != nil && ephemeral.VolumeClaimTemplate != nil {
			RoundUpList(ephemeral.VolumeClaimTemplate.Spec.Resources.Requests)
			RoundUpList(ephemeral.VolumeClaimTemplate.Spec.Resources.Limits)
		}
	}
}

// RoundUpList rounds quantities up to thousandths, in place.
func RoundUpList(list corev1.ResourceList) {
	for name, quantity := range list {
		quantity.RoundUp(resource.Milli)
		list[name] = quantity
	}
}
