package modelbox

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
)

// allPorts returns the ports of all Services.
func allPorts(box *ModelBox) []Port {
	all := slices.Clone(box.Spec.Ports)
	for _, service := range box.Spec.Services {
		all = append(all, service.Ports...)
	}
	return all
}

// firstTCPPort returns the number of the main container's port behind the first TCP port that is
// no sidecar's: a sidecar may listen long before the main container does.
func firstTCPPort(box *ModelBox) (int32, bool) {
	for _, port := range allPorts(box) {
		if number, isSidecars := port.containerPort(box); !isSidecars && port.protocol() == corev1.ProtocolTCP {
			return number, true
		}
	}
	for _, port := range box.Spec.ContainerPorts {
		if cmp.Or(port.Protocol, corev1.ProtocolTCP) == corev1.ProtocolTCP {
			return port.ContainerPort, true
		}
	}
	return 0, false
}

// containerPorts returns the ports of the main container: each number once, and without those of
// sidecars.
func containerPorts(box *ModelBox) []corev1.ContainerPort {
	var ports []corev1.ContainerPort
	for _, port := range box.Spec.ContainerPorts {
		ports = append(ports, corev1.ContainerPort{
			Name: port.Name, ContainerPort: port.ContainerPort, HostPort: port.HostPort, Protocol: cmp.Or(port.Protocol, corev1.ProtocolTCP),
		})
	}
	for _, port := range allPorts(box) {
		number, isSidecars := port.containerPort(box)
		if isSidecars {
			continue
		}
		listed := slices.IndexFunc(ports, func(p corev1.ContainerPort) bool { return p.ContainerPort == number })
		if listed < 0 {
			listed = len(ports)
			ports = append(ports, corev1.ContainerPort{ContainerPort: number, Protocol: port.protocol()})
		}
		ports[listed].HostPort = cmp.Or(ports[listed].HostPort, port.HostPort)
		if ports[listed].Name == "" && ports[listed].Protocol == port.protocol() && port.canNameItsTarget(box, ports) {
			ports[listed].Name = port.Name
		}
	}
	return ports
}

// canNameItsTarget reports whether a port's own name can be the name of its container port, too: no
// other port has it, in the main container or in a sidecar, whose port it would hide from Services.
func (p *Port) canNameItsTarget(box *ModelBox, ports []corev1.ContainerPort) bool {
	others := slices.Clone(ports)
	for _, container := range sidecars(box) {
		others = append(others, container.Ports...)
	}
	isTaken := slices.ContainsFunc(others, func(other corev1.ContainerPort) bool { return other.Name == p.Name })
	return !isTaken && p.targetPort().Type == intstr.Int && len(validation.IsValidPortName(p.Name)) == 0
}

// isNamed reports whether one of the ports has a name that a Service can lead to.
func isNamed(ports []corev1.ContainerPort, name string, protocol corev1.Protocol) bool {
	return slices.ContainsFunc(ports, func(p corev1.ContainerPort) bool {
		return p.Name == name && cmp.Or(p.Protocol, corev1.ProtocolTCP) == protocol
	})
}

// numberHandledPorts has the probes and handlers of the main container ask by number for what its
// container ports do not have as a name.
func numberHandledPorts(box *ModelBox, container *corev1.Container) {
	for _, asked := range handledPorts(container) {
		name := asked.StrVal
		isNamed := slices.ContainsFunc(container.Ports, func(p corev1.ContainerPort) bool { return p.Name == name })
		if asked.Type == intstr.Int || isNamed {
			continue
		}
		ports := allPorts(box)
		i := slices.IndexFunc(ports, func(p Port) bool { return p.Name == name })
		if i < 0 {
			i = slices.IndexFunc(ports, func(p Port) bool { return p.targetPort().StrVal == name })
		}
		if i < 0 {
			continue // the schema refuses it
		}
		number, _ := ports[i].containerPort(box)
		*asked = intstr.FromInt32(number)
	}
}

// handledPorts returns the ports that the probes and handlers of a container ask for.
func handledPorts(c *corev1.Container) (ports []*intstr.IntOrString) {
	add := func(get *corev1.HTTPGetAction, socket *corev1.TCPSocketAction) {
		if get != nil {
			ports = append(ports, &get.Port)
		}
		if socket != nil {
			ports = append(ports, &socket.Port)
		}
	}
	for _, probe := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
		if probe != nil {
			add(probe.HTTPGet, probe.TCPSocket)
		}
	}
	if c.Lifecycle == nil {
		return ports
	}
	for _, handler := range []*corev1.LifecycleHandler{c.Lifecycle.PostStart, c.Lifecycle.PreStop} {
		if handler != nil {
			add(handler.HTTPGet, handler.TCPSocket)
		}
	}
	return ports
}

// protocol returns the protocol with its default filled in.
func (p *Port) protocol() corev1.Protocol { return cmp.Or(p.Protocol, corev1.ProtocolTCP) }

// targetPort returns the target port with its default filled in.
func (p *Port) targetPort() intstr.IntOrString {
	if p.TargetPort == nil || *p.TargetPort == intstr.FromInt32(0) || *p.TargetPort == intstr.FromString("") {
		return intstr.FromInt32(p.Port)
	}
	return *p.TargetPort
}

// containerPort returns the number of the container port, and whether it is a sidecar's: one that a
// sidecar lists, by this number or name. Another name is that of one of containerPorts, or of a port
// whose target is a number; the schema refuses others.
func (p *Port) containerPort(box *ModelBox) (number int32, isSidecars bool) {
	target := p.targetPort()
	for _, port := range box.Spec.ContainerPorts {
		if target.Type == intstr.String && port.Name == target.StrVal && cmp.Or(port.Protocol, corev1.ProtocolTCP) == p.protocol() {
			return port.ContainerPort, false
		}
	}
	for _, container := range sidecars(box) {
		for _, port := range container.Ports {
			isIt := port.Name == target.StrVal
			if target.Type == intstr.Int {
				isIt = port.ContainerPort == target.IntVal
			}
			if isIt && cmp.Or(port.Protocol, corev1.ProtocolTCP) == p.protocol() {
				return port.ContainerPort, true
			}
		}
	}
	if target.Type == intstr.Int {
		return target.IntVal, false
	}
	for _, other := range allPorts(box) {
		if other.Name == target.StrVal && other.protocol() == p.protocol() && other.targetPort().Type == intstr.Int {
			return other.containerPort(box)
		}
	}
	return 0, false
}

// sidecars returns the containers that run beside the main one, whose ports can receive traffic.
func sidecars(box *ModelBox) []corev1.Container {
	all := slices.Clone(box.Spec.Sidecars)
	for _, c := range box.Spec.InitContainers {
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			all = append(all, c)
		}
	}
	return all
}
