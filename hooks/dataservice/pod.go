package dataservice

import (
	"fmt"
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/operetta-dev/operetta/operator"
)

// podTemplate returns the template of a component's Pods.
func (p *product) podTemplate(u *unit, configs []configMap) (corev1.PodTemplateSpec, error) {
	said := &u.said.Pod
	container := p.container(u)
	podLabels := map[string]string{}
	for key, value := range said.PodLabels {
		podLabels[key] = string(value)
	}
	maps.Copy(podLabels, p.labels(u)) // last, so that a user's label replaces none
	template := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: podLabels, Annotations: said.PodAnnotations},
		Spec: corev1.PodSpec{
			// A Service named eureka would set EUREKA_PORT in every container, and
			// Spring would read it.
			EnableServiceLinks: new(false),
			SecurityContext:    operator.SecurityContext(said.PodSecurityContext.value()),
			ImagePullSecrets:   p.pullSecrets(said),
			ServiceAccountName: said.ServiceAccountName,
			// The API server stores both names of the field, and restores one
			// if only the other is removed.
			DeprecatedServiceAccount:      said.ServiceAccountName,
			NodeSelector:                  said.NodeSelector,
			Affinity:                      said.Affinity.value(),
			Tolerations:                   said.Tolerations,
			TerminationGracePeriodSeconds: said.TerminationGracePeriodSeconds,
		},
	}
	if said.ServiceAccountName == "" {
		template.Spec.AutomountServiceAccountToken = new(false)
	}
	said.setIn(&template.Spec)
	addVolumes(u, configs, &template.Spec, &container)
	template.Spec.Containers = []corev1.Container{container}
	operator.CompleteVolumes(template.Spec.Volumes)
	operator.RoundUp(&template.Spec)
	operator.DropEmpty(&template.Spec)
	if p.needsEscaping(u) {
		p.escapeCredentials(u, &template)
	}
	hash, err := configHash(configs)
	if hash != "" {
		annotations := map[string]string{}
		maps.Copy(annotations, said.PodAnnotations)
		annotations[configHashAnnotation] = hash
		template.Annotations = annotations
	}
	return template, err
}

// setIn sets its fields in a Pod's spec.
func (p *Placement) setIn(pod *corev1.PodSpec) {
	pod.RuntimeClassName = p.RuntimeClassName
	pod.PriorityClassName = p.PriorityClassName
	pod.SchedulerName = p.SchedulerName
	pod.HostAliases = p.HostAliases
	pod.DNSPolicy = p.DNSPolicy
	pod.DNSConfig = p.DNSConfig.value()
	for _, spread := range p.TopologySpreadConstraints {
		pod.TopologySpreadConstraints = append(pod.TopologySpreadConstraints, spread.TopologySpreadConstraint)
	}
}

// container returns the one container, without its volumes.
func (p *product) container(u *unit) corev1.Container {
	said := &u.said.Pod
	container := corev1.Container{
		Name: u.key, Image: u.image, Command: said.Command, Args: said.Args,
		EnvFrom: said.EnvFrom, Env: p.environment(u), SecurityContext: said.SecurityContext.value(),
		LivenessProbe: u.probe(said.LivenessProbe.value()), ReadinessProbe: u.probe(said.ReadinessProbe.value()), StartupProbe: u.probe(said.StartupProbe.value()),
		WorkingDir: said.WorkingDir, ImagePullPolicy: said.ImagePullPolicy, Lifecycle: u.lifecycle(said.Lifecycle.value()),
		TerminationMessagePath: said.TerminationMessagePath, TerminationMessagePolicy: said.TerminationMessagePolicy,
		Stdin: said.Stdin, TTY: said.TTY, VolumeDevices: said.VolumeDevices, ResizePolicy: said.ResizePolicy,
	}
	if container.ReadinessProbe == nil {
		container.ReadinessProbe = &corev1.Probe{
			ProbeHandler:  corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(u.port)}},
			PeriodSeconds: 5,
		}
	}
	for _, port := range u.allPorts() {
		container.Ports = append(container.Ports, corev1.ContainerPort{ContainerPort: port.Port, Protocol: corev1.ProtocolTCP})
	}
	if u.said.Resources != nil {
		container.Resources = *u.said.Resources
	}
	return container
}

// pullSecrets are those of the product and then those of the component, each once.
func (p *product) pullSecrets(said *Pod) []corev1.LocalObjectReference {
	all := p.ds.Spec.ImagePullSecrets
	for _, secret := range said.ImagePullSecrets {
		if !slices.Contains(all, secret) {
			all = append(slices.Clip(all), secret)
		}
	}
	return all
}

// probe returns a user's probe. A name of a port becomes its number, for the ports of the container
// have no names.
func (u *unit) probe(said *corev1.Probe) *corev1.Probe {
	if said == nil {
		return nil
	}
	probe := said.DeepCopy()
	u.number(portsOf(probe.HTTPGet, probe.TCPSocket))
	return probe
}

// lifecycle returns a user's handlers, with numbers for the names of ports.
func (u *unit) lifecycle(said *corev1.Lifecycle) *corev1.Lifecycle {
	if said == nil {
		return nil
	}
	lifecycle := said.DeepCopy()
	for _, handler := range [...]*corev1.LifecycleHandler{lifecycle.PostStart, lifecycle.PreStop} {
		if handler != nil {
			u.number(portsOf(handler.HTTPGet, handler.TCPSocket))
		}
	}
	return lifecycle
}

// number replaces names of ports by their numbers.
func (u *unit) number(ports []*intstr.IntOrString) {
	for _, port := range ports {
		if number, isNamed := u.portNumber(*port); isNamed {
			*port = intstr.FromInt32(number)
		}
	}
}

// portsOf returns where a probe or handler names its port.
func portsOf(get *corev1.HTTPGetAction, socket *corev1.TCPSocketAction) []*intstr.IntOrString {
	var ports []*intstr.IntOrString
	if get != nil {
		ports = append(ports, &get.Port)
	}
	if socket != nil {
		ports = append(ports, &socket.Port)
	}
	return ports
}

// portNumber returns the number of the port of that name.
func (u *unit) portNumber(port intstr.IntOrString) (number int32, isNamed bool) {
	if port.Type != intstr.String {
		return 0, false
	}
	for _, known := range u.allPorts() {
		if known.Name == port.StrVal {
			return known.Port, true
		}
	}
	return 0, false
}

// unknownVolume says which mount names a volume that the component has not, or returns "".
func (u *unit) unknownVolume() string {
	isKnown := map[string]bool{dataVolume: u.said.storage != nil}
	for _, config := range u.wantedConfigs() {
		isKnown[u.volumeName("config"+config.suffix)] = true
	}
	for _, volume := range u.said.Volumes {
		isKnown[volume.Name] = true
	}
	for _, mount := range u.said.VolumeMounts {
		if !isKnown[mount.Name] {
			return fmt.Sprintf("spec.%s.volumeMounts has the name %q, which is not in volumes: add the volume, or correct the name", u.key, mount.Name)
		}
	}
	for _, device := range u.said.VolumeDevices {
		if !isKnown[device.Name] {
			return fmt.Sprintf("spec.%s.volumeDevices has the name %q, which is not in volumes: add the volume, or correct the name", u.key, device.Name)
		}
	}
	return ""
}

// unknownPort says which probe or handler names a port that the component has not, or returns "".
func (u *unit) unknownPort() string {
	said := &u.said.Pod
	asked := map[string][]*intstr.IntOrString{}
	for name, probe := range map[string]*corev1.Probe{
		"livenessProbe": said.LivenessProbe.value(), "readinessProbe": said.ReadinessProbe.value(), "startupProbe": said.StartupProbe.value(),
	} {
		if probe != nil {
			asked[name] = portsOf(probe.HTTPGet, probe.TCPSocket)
		}
	}
	if lifecycle := said.Lifecycle.value(); lifecycle != nil {
		for name, handler := range map[string]*corev1.LifecycleHandler{"lifecycle.postStart": lifecycle.PostStart, "lifecycle.preStop": lifecycle.PreStop} {
			if handler != nil {
				asked[name] = portsOf(handler.HTTPGet, handler.TCPSocket)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		for _, port := range asked[name] {
			if _, isNamed := u.portNumber(*port); port.Type == intstr.String && !isNamed {
				return fmt.Sprintf("spec.%s.%s names the port %q: write its number, main for the field port, or a name in ports", u.key, name, port.StrVal)
			}
		}
	}
	return ""
}

// In seconds, for the progress of a Deployment: the API server's default, and the longest that counts.
const (
	progressDeadline  = 600
	longestOfDeadline = math.MaxInt32 - 1 // more means none, and no condition Progressing
)

// deadline is the time for a Deployment to make progress, or nil for the API server's default: it
// begins when the probes have granted the containers all that they may take to start.
func (u *unit) deadline() *int32 {
	said := &u.said.Pod
	budget := operator.ProbeSeconds(said.StartupProbe.value()) + max(operator.ProbeSeconds(said.LivenessProbe.value()), operator.ProbeSeconds(said.ReadinessProbe.value()))
	if budget <= progressDeadline/2 {
		return nil
	}
	return new(int32(min(budget+progressDeadline, longestOfDeadline)))
}
