package modelbox

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
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
			Volumes:            volumes(box.Spec.Volumes),
			SecurityContext:    operator.SecurityContext(box.Spec.PodSecurityContext),
			ImagePullSecrets:   box.Spec.ImagePullSecrets,
			ServiceAccountName: box.Spec.ServiceAccountName,
			// The API server stores both names of the field, and restores one
			// if only the other is removed.
			DeprecatedServiceAccount: box.Spec.ServiceAccountName,
			NodeSelector:             box.Spec.NodeSelector,
			Tolerations:              box.Spec.Tolerations,
			Affinity:                 affinity(box.Spec.Affinity),
		},
	}
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

// add adds TCP probes that the user did not write: readiness and
// liveness, and with either a startup probe, so that a model that loads for
// minutes is not killed.
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
			return port.containerPort(box), true
		}
	}
	return 0, false
}

// containerPorts returns the ports of the main container: each number once,
// with a name if a Service's port refers to it, and without those of sidecars.
func containerPorts(box *ModelBox) []corev1.ContainerPort {
	var ports []corev1.ContainerPort
	index := map[int32]int{}
	for _, port := range box.Spec.Ports {
		target := port.targetPort()
		if _, ofSidecar := sidecarPort(box, target); ofSidecar {
			continue
		}
		number := port.containerPort(box)
		if i, listed := index[number]; listed {
			ports[i].Name = cmp.Or(ports[i].Name, target.StrVal)
			continue
		}
		index[number] = len(ports)
		ports = append(ports, corev1.ContainerPort{
			Name: target.StrVal, ContainerPort: number, Protocol: port.protocol(),
		})
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

// containerPort returns the number of the container port: that of the sidecar
// that names it, or that of the first of the ports that refer to the name.
func (p *Port) containerPort(box *ModelBox) int32 {
	target := p.targetPort()
	if target.Type == intstr.Int {
		return target.IntVal
	}
	if number, found := sidecarPort(box, target); found {
		return number
	}
	for i := range box.Spec.Ports {
		if other := &box.Spec.Ports[i]; other.targetPort() == target {
			return other.Port
		}
	}
	return p.Port
}

// sidecarPort returns the number of the port of that name in a sidecar.
func sidecarPort(box *ModelBox, target intstr.IntOrString) (int32, bool) {
	if target.Type == intstr.Int {
		return 0, false
	}
	for _, containers := range [][]corev1.Container{box.Spec.Sidecars, box.Spec.InitContainers} {
		for i := range containers {
			for _, port := range containers[i].Ports {
				if port.Name == target.StrVal && !endsBeforeTheOthers(box, &containers[i]) {
					return port.ContainerPort, true
				}
			}
		}
	}
	return 0, false
}

// endsBeforeTheOthers reports whether a container is an ordinary init
// container, whose ports receive no traffic.
func endsBeforeTheOthers(box *ModelBox, container *corev1.Container) bool {
	isInit := slices.ContainsFunc(box.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == container.Name })
	return isInit && (container.RestartPolicy == nil || *container.RestartPolicy != corev1.ContainerRestartPolicyAlways)
}

// affinity drops preferred terms without a preference: they have no effect, and
// the API server would store an empty one, which would differ at each sync.
func affinity(wanted *corev1.Affinity) *corev1.Affinity {
	isEmpty := func(term corev1.PreferredSchedulingTerm) bool {
		return len(term.Preference.MatchExpressions) == 0 && len(term.Preference.MatchFields) == 0
	}
	if wanted == nil || wanted.NodeAffinity == nil || !slices.ContainsFunc(wanted.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution, isEmpty) {
		return wanted
	}
	copied := wanted.DeepCopy()
	preferred := &copied.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution
	*preferred = slices.DeleteFunc(*preferred, isEmpty)
	return copied
}

// volumes sets the API server's defaults in projected sources. Metacontroller
// compares a list of items without names as a whole, so a default that the
// server adds would differ at each sync. A volume without a source is an emptyDir:
// Metacontroller would not remove that default when the volume gets a source, and
// the API server refuses a volume with two.
func volumes(wanted []corev1.Volume) []corev1.Volume {
	volumes := make([]corev1.Volume, len(wanted))
	for i := range wanted {
		wanted[i].DeepCopyInto(&volumes[i])
		if volumes[i].VolumeSource == (corev1.VolumeSource{}) {
			volumes[i].EmptyDir = &corev1.EmptyDirVolumeSource{}
		}
		if volumes[i].Projected == nil {
			continue
		}
		for j := range volumes[i].Projected.Sources {
			completeSource(&volumes[i].Projected.Sources[j])
		}
	}
	return volumes
}

// The API server's defaults in projected sources, in seconds.
const (
	tokenExpiration          = int64(3600)
	certificateMaxExpiration = int32(86400)
)

func completeSource(source *corev1.VolumeProjection) {
	if token := source.ServiceAccountToken; token != nil && token.ExpirationSeconds == nil {
		token.ExpirationSeconds = new(tokenExpiration)
	}
	if certificate := source.PodCertificate; certificate != nil && certificate.MaxExpirationSeconds == nil {
		certificate.MaxExpirationSeconds = new(certificateMaxExpiration)
	}
	if source.DownwardAPI == nil {
		return
	}
	for _, file := range source.DownwardAPI.Items {
		if file.FieldRef != nil {
			file.FieldRef.APIVersion = cmp.Or(file.FieldRef.APIVersion, "v1")
		}
		if amount := file.ResourceFieldRef; amount != nil && amount.Divisor.IsZero() {
			amount.Divisor = *resource.NewQuantity(0, resource.DecimalSI) // which means 1
		}
	}
}
