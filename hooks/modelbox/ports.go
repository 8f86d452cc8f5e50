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
	return 0, false
}

// containerPorts returns the ports of the main container: each number once,
// with a name if a Service's port refers to it, and without those of sidecars.
func containerPorts(box *ModelBox) []corev1.ContainerPort {
	var ports []corev1.ContainerPort
	for _, port := range allPorts(box) {
		number, isSidecars := port.containerPort(box)
		if isSidecars {
			continue
		}
		name := port.targetPort().StrVal
		listed := slices.IndexFunc(ports, func(p corev1.ContainerPort) bool { return p.ContainerPort == number })
		if listed >= 0 {
			ports[listed].Name = cmp.Or(ports[listed].Name, name)
			ports[listed].HostPort = cmp.Or(ports[listed].HostPort, port.HostPort)
			continue
		}
		ports = append(ports, corev1.ContainerPort{Name: name, ContainerPort: number, HostPort: port.HostPort, Protocol: port.protocol()})
	}
	return ports
}

// namePorts has each port that a probe or handler of the main container names be one of its
// container ports. A port that has another name, or cannot have this one, is asked for by number.
func namePorts(box *ModelBox, container *corev1.Container) {
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
		listed := slices.IndexFunc(container.Ports, func(p corev1.ContainerPort) bool { return p.ContainerPort == number && p.Name == "" })
		if listed >= 0 && len(validation.IsValidPortName(name)) == 0 {
			container.Ports[listed].Name = name
		} else {
			*asked = intstr.FromInt32(number)
		}
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
	if p.TargetPort == nil {
		return intstr.FromInt32(p.Port)
	}
	return *p.TargetPort
}

// containerPort returns the number of the container port, and whether it is a sidecar's: one that a
// sidecar lists, by this number or name. Another name is the main container's, for the first of the
// ports that have it as target, or else as their own name.
func (p *Port) containerPort(box *ModelBox) (number int32, isSidecars bool) {
	target := p.targetPort()
	for _, container := range sidecars(box) {
		for _, port := range container.Ports {
			isIt := port.ContainerPort == target.IntVal && cmp.Or(port.Protocol, corev1.ProtocolTCP) == p.protocol()
			if target.Type == intstr.Int && isIt || target.Type == intstr.String && port.Name == target.StrVal {
				return port.ContainerPort, true
			}
		}
	}
	if target.Type == intstr.Int {
		return target.IntVal, false
	}
	for _, ports := range [][]Port{box.Spec.Ports, allPorts(box)} {
		if first := slices.IndexFunc(ports, func(other Port) bool { return other.targetPort() == target }); first >= 0 {
			return ports[first].Port, false
		}
		if named := slices.IndexFunc(ports, func(other Port) bool { return other.Name == target.StrVal }); named >= 0 {
			return ports[named].containerPort(box)
		}
	}
	return p.Port, false
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
