package apiserver

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// set sets a default if the field is zero.
func set[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// point sets the default of an optional field.
func point[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

// eachContainer visits containers and init containers.
func eachContainer(spec *corev1.PodSpec, visit func(*corev1.Container)) {
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			visit(&list[i])
		}
	}
}

func defaultContainer(c *corev1.Container) {
	set(&c.ImagePullPolicy, pullPolicy(c.Image))
	set(&c.TerminationMessagePath, corev1.TerminationMessagePathDefault)
	set(&c.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
	for i := range c.Ports {
		set(&c.Ports[i].Protocol, corev1.ProtocolTCP)
	}
	for i := range c.Env {
		source := c.Env[i].ValueFrom
		if source != nil && source.FieldRef != nil {
			set(&source.FieldRef.APIVersion, "v1")
		}
		if source != nil && source.FileKeyRef != nil {
			point(&source.FileKeyRef.Optional, false)
		}
	}
	for _, probe := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
		defaultProbe(probe)
	}
	if c.Lifecycle != nil {
		for _, handler := range []*corev1.LifecycleHandler{c.Lifecycle.PostStart, c.Lifecycle.PreStop} {
			if handler != nil {
				defaultHTTPGet(handler.HTTPGet)
			}
		}
	}
	roundUp(c.Resources.Limits)
	roundUp(c.Resources.Requests)
}

// pullPolicy returns the default for an image: Always for the tag latest, which
// may change. The volume of a template may have no image.
func pullPolicy(image string) corev1.PullPolicy {
	name, _, pinned := strings.Cut(image, "@")
	_, tag, tagged := strings.Cut(name[strings.LastIndex(name, "/")+1:], ":")
	if tag == "latest" || !tagged && !pinned && image != "" {
		return corev1.PullAlways
	}
	return corev1.PullIfNotPresent
}

func defaultProbe(probe *corev1.Probe) {
	if probe == nil {
		return
	}
	set(&probe.TimeoutSeconds, 1)
	set(&probe.PeriodSeconds, 10)
	set(&probe.SuccessThreshold, 1)
	set(&probe.FailureThreshold, 3)
	defaultHTTPGet(probe.HTTPGet)
	if probe.GRPC != nil {
		point(&probe.GRPC.Service, "")
	}
}

func defaultHTTPGet(action *corev1.HTTPGetAction) {
	if action != nil {
		set(&action.Path, "/")
		set(&action.Scheme, corev1.URISchemeHTTP)
	}
}

// roundUp rounds quantities up to thousandths, as the server does.
func roundUp(list corev1.ResourceList) {
	for name, quantity := range list {
		quantity.RoundUp(resource.Milli)
		list[name] = quantity
	}
}
