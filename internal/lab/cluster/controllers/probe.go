package controllers

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// canBeReady reports whether the probes of a container can succeed. Of a liveness probe that
// asks no port a kubelet only makes events; here it shows, because it checks nothing.
func canBeReady(c corev1.Container) bool {
	return !isUnreachable(c, c.StartupProbe) && !isUnreachable(c, c.ReadinessProbe) && !isUnreachable(c, c.LivenessProbe)
}

// isUnreachable reports whether a probe names a port that its container does not have.
func isUnreachable(c corev1.Container, probe *corev1.Probe) bool {
	var port intstr.IntOrString
	switch {
	case probe == nil:
	case probe.HTTPGet != nil:
		port = probe.HTTPGet.Port
	case probe.TCPSocket != nil:
		port = probe.TCPSocket.Port
	}
	return port.Type == intstr.String && !slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.Name == port.StrVal })
}
