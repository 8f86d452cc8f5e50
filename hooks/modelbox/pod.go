package modelbox

import (
	"cmp"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
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
	operator.CompleteVolumes(template.Spec.Volumes)
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
		Name:            cmp.Or(box.Spec.ContainerName, strings.ReplaceAll(box.Name, ".", "-")),
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
	numberHandledPorts(box, &container)
	p.DefaultProbes.add(box, &container)
	return container
}
