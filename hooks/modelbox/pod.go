package modelbox

import (
	"cmp"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	box.Spec.setIn(&template.Spec)
	completeVolumes(template.Spec.Volumes)
	operator.RoundUp(&template.Spec)
	operator.DropEmpty(&template.Spec)
	return template
}

// setIn sets its fields in a Pod's spec.
func (f *PodFields) setIn(pod *corev1.PodSpec) {
	pod.TerminationGracePeriodSeconds = f.TerminationGracePeriodSeconds
	pod.PriorityClassName = f.PriorityClassName
	pod.PreemptionPolicy = f.PreemptionPolicy
	pod.TopologySpreadConstraints = f.TopologySpreadConstraints
	pod.SchedulerName = f.SchedulerName
	pod.NodeName = f.NodeName
	pod.RuntimeClassName = f.RuntimeClassName
	pod.Overhead = f.Overhead
	pod.ResourceClaims = f.ResourceClaims
	pod.ReadinessGates = f.ReadinessGates
	pod.AutomountServiceAccountToken = f.AutomountServiceAccountToken
	pod.EnableServiceLinks = f.EnableServiceLinks
	pod.ShareProcessNamespace = f.ShareProcessNamespace
	pod.HostNetwork = f.HostNetwork
	pod.HostPID = f.HostPID
	pod.HostIPC = f.HostIPC
	pod.DNSPolicy = f.DNSPolicy
	pod.DNSConfig = f.DNSConfig
	pod.HostAliases = f.HostAliases
	pod.Hostname = f.Hostname
	pod.Subdomain = f.Subdomain
	pod.SetHostnameAsFQDN = f.SetHostnameAsFQDN
}

// mainContainer returns the container that runs the image.
func (p Policy) mainContainer(box *ModelBox) corev1.Container {
	container := corev1.Container{
		Name:            cmp.Or(box.Spec.ContainerName, box.Name),
		Image:           box.Spec.Image,
		Command:         box.Spec.Command,
		Args:            box.Spec.Args,
		WorkingDir:      box.Spec.WorkingDir,
		Env:             box.Spec.Envs,
		EnvFrom:         box.Spec.EnvFrom,
		Resources:       p.resources(&box.Spec),
		Ports:           containerPorts(box),
		VolumeMounts:    box.Spec.VolumeMounts,
		SecurityContext: box.Spec.SecurityContext,
		LivenessProbe:   box.Spec.LivenessProbe,
		ReadinessProbe:  box.Spec.ReadinessProbe,
		StartupProbe:    box.Spec.StartupProbe,

		ImagePullPolicy:          box.Spec.ImagePullPolicy,
		Lifecycle:                box.Spec.Lifecycle,
		TerminationMessagePath:   box.Spec.TerminationMessagePath,
		TerminationMessagePolicy: box.Spec.TerminationMessagePolicy,
		Stdin:                    box.Spec.Stdin,
		StdinOnce:                box.Spec.StdinOnce,
		TTY:                      box.Spec.TTY,
		VolumeDevices:            box.Spec.VolumeDevices,
		ResizePolicy:             box.Spec.ResizePolicy,
	}
	namePorts(box, &container)
	p.DefaultProbes.add(box, &container)
	return container
}

// completeVolumes sets the API server's defaults where Metacontroller would not leave them alone,
// in place: in a list of items without names, and in a volume without a source, to which the
// emptyDir would stick when it gets one.
func completeVolumes(volumes []corev1.Volume) {
	for i := range volumes {
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
