package modelbox

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// ResourceClass sizes the main container.
type ResourceClass string

// The classes.
const (
	ClassSmall  ResourceClass = "small"
	ClassMedium ResourceClass = "medium"
	ClassLarge  ResourceClass = "large"
	ClassCustom ResourceClass = "custom"
)

// resources returns the requests and limits of the main container.
func resources(spec *Spec) corev1.ResourceRequirements {
	switch spec.ResourceClass {
	case ClassSmall:
		return class("250m", "256Mi", "500m", "512Mi")
	case ClassMedium:
		return class("500m", "1Gi", "1", "2Gi")
	case ClassLarge:
		return class("2", "4Gi", "4", "8Gi")
	case ClassCustom:
	}
	if spec.Resources == nil {
		return corev1.ResourceRequirements{}
	}
	return corev1.ResourceRequirements{Requests: spec.Resources.Requests, Limits: spec.Resources.Limits}
}

// class returns a row of the table above.
func class(cpu, memory, cpuLimit, memoryLimit string) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{
		Requests: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory),
		},
		Limits: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse(cpuLimit), corev1.ResourceMemory: resource.MustParse(memoryLimit),
		},
	}
}
