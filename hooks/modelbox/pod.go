package modelbox

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/operetta-dev/operetta/operator"
)

// podTemplate returns the template of the Deployment's Pods.
func (p Policy) podTemplate(box *ModelBox) corev1.PodTemplateSpec {
	podLabels := childLabels(box)
	for key, value := range box.Spec.PodLabels {
		podLabels[key] = string(value)
	}
	maps.Copy(podLabels, selector(box)) // last, so that a user's label cannot replace it
	template := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: podLabels, Annotations: box.Spec.PodAnnotations},
		Spec: corev1.PodSpec{
			InitContainers:     box.Spec.InitContainers,
			Containers:         append([]corev1.Container{p.mainContainer(box)}, box.Spec.Sidecars...),
			Volumes:            box.Spec.Volumes,
			SecurityContext:    operator.SecurityContext(box.Spec.PodSecurityContext),
			ImagePullSecrets:   box.Spec.ImagePullSecrets,
			ServiceAccountName: box.Spec.ServiceAccountName,
			// The API server stores both names of the field, and restores one
			// if only the other is removed.
			DeprecatedServiceAccount: box.Spec.ServiceAccountName,
			NodeSelector:             box.Spec.NodeSelector,
			Tolerations:              box.Spec.Tolerations,
			Affinity:                 box.Spec.Affinity,
		},
	}
	operator.CompleteVolumes(template.Spec.Volumes)
	operator.RoundUp(&template.Spec)
	operator.DropEmpty(&template.Spec)
	return template
}

// mainContainer returns the container that runs the image, named as the
// ModelBox.
func (p Policy) mainContainer(box *ModelBox) corev1.Container {
	container := corev1.Container{
		Name:            box.Name,
		Image:           box.Spec.Image,
		Command:         box.Spec.Command,
		Args:            box.Spec.Args,
		Env:             box.Spec.Envs,
		EnvFrom:         box.Spec.EnvFrom,
		Resources:       p.resources(&box.Spec),
		Ports:           containerPorts(box),
		VolumeMounts:    box.Spec.VolumeMounts,
		SecurityContext: box.Spec.SecurityContext,
		LivenessProbe:   box.Spec.LivenessProbe,
		ReadinessProbe:  box.Spec.ReadinessProbe,
		StartupProbe:    box.Spec.StartupProbe,
	}
	p.DefaultProbes.add(box, &container)
	return container
}

// add adds TCP probes that the user did not write: readiness and liveness, and with either a
// startup probe, so that a model that loads for minutes is not killed.
func (p DefaultProbes) add(box *ModelBox, container *corev1.Container) {
	port, found := firstTCPPort(box)
	off := box.Spec.DefaultProbes != nil && !*box.Spec.DefaultProbes
	if off || !found || container.LivenessProbe != nil && container.ReadinessProbe != nil {
		return
	}
	probe := func(times ProbeTimes) *corev1.Probe {
		return &corev1.Probe{
			ProbeHandler:     corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(port)}},
			PeriodSeconds:    times.PeriodSeconds,
			FailureThreshold: times.FailureThreshold,
		}
	}
	container.ReadinessProbe = cmp.Or(container.ReadinessProbe, probe(p.Readiness))
	container.LivenessProbe = cmp.Or(container.LivenessProbe, probe(p.Liveness))
	container.StartupProbe = cmp.Or(container.StartupProbe, probe(p.Startup))
}

// firstTCPPort returns the number of the container port behind the first TCP
// port.
func firstTCPPort(box *ModelBox) (int32, bool) {
	for _, port := range box.Spec.Ports {
		if port.protocol() == corev1.ProtocolTCP {
			number, _ := port.containerPort(box)
			return number, true
		}
	}
	return 0, false
}

// containerPorts returns the ports of the main container: each number once,
// with a name if a Service's port refers to it, and without those of sidecars.
func containerPorts(box *ModelBox) []corev1.ContainerPort {
	var ports []corev1.ContainerPort
	for _, port := range box.Spec.Ports {
		number, isSidecars := port.containerPort(box)
		if isSidecars {
			continue
		}
		name := port.targetPort().StrVal
		listed := slices.IndexFunc(ports, func(p corev1.ContainerPort) bool { return p.ContainerPort == number })
		if listed >= 0 {
			ports[listed].Name = cmp.Or(ports[listed].Name, name)
			continue
		}
		ports = append(ports, corev1.ContainerPort{Name: name, ContainerPort: number, Protocol: port.protocol()})
	}
	return ports
}

// protocol returns the protocol with its default filled in.
func (p *Port) protocol() corev1.Protocol { return cmp.Or(p.Protocol, corev1.ProtocolTCP) }

// targetPort returns the target port with its default filled in.
func (p *Port) targetPort() intstr.IntOrString {
	if p.TargetPort == nil {
		return intstr.FromInt32(p.Port)
	}
	return *p.TargetPort
}

// containerPort returns the number of the container port, and whether it is a sidecar's. A name
// that no sidecar gives to a port is the main container's, for the first of the ports with it.
func (p *Port) containerPort(box *ModelBox) (number int32, isSidecars bool) {
	target := p.targetPort()
	if target.Type == intstr.Int {
		return target.IntVal, false
	}
	ends := func(c corev1.Container) bool { // its ports receive no traffic
		return c.RestartPolicy == nil || *c.RestartPolicy != corev1.ContainerRestartPolicyAlways
	}
	for _, container := range slices.Concat(box.Spec.Sidecars, slices.DeleteFunc(slices.Clone(box.Spec.InitContainers), ends)) {
		for _, port := range container.Ports {
			if port.Name == target.StrVal {
				return port.ContainerPort, true
			}
		}
	}
	first := slices.IndexFunc(box.Spec.Ports, func(other Port) bool { return other.targetPort() == target })
	return box.Spec.Ports[first].Port, false
}
