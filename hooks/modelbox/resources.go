package modelbox

import (
	corev1 "k8s.io/api/core/v1"
)

// ResourceClass sizes the main container.
type ResourceClass string

// The classes. The sizes of the first three are in the [Policy].
const (
	ClassSmall  ResourceClass = "small"
	ClassMedium ResourceClass = "medium"
	ClassLarge  ResourceClass = "large"
	ClassCustom ResourceClass = "custom"
)

// resources returns the requests and limits of the main container.
func (p Policy) resources(spec *Spec) corev1.ResourceRequirements {
	if size, found := p.ResourceClasses[spec.ResourceClass]; found { // resources are for the class custom
		return corev1.ResourceRequirements{Requests: size.Requests.DeepCopy(), Limits: size.Limits.DeepCopy()}
	}
	if spec.Resources == nil {
		return corev1.ResourceRequirements{}
	}
	return corev1.ResourceRequirements{Requests: spec.Resources.Requests, Limits: spec.Resources.Limits, Claims: spec.Resources.Claims}
}
