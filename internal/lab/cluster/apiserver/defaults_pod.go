package apiserver

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func defaultPodSpec(spec *corev1.PodSpec) {
	set(&spec.DNSPolicy, corev1.DNSClusterFirst)
	set(&spec.RestartPolicy, corev1.RestartPolicyAlways)
	set(&spec.SchedulerName, corev1.DefaultSchedulerName)
	point(&spec.SecurityContext, corev1.PodSecurityContext{})
	point(&spec.TerminationGracePeriodSeconds, corev1.DefaultTerminationGracePeriodSeconds)
	set(&spec.ServiceAccountName, spec.DeprecatedServiceAccount)
	spec.DeprecatedServiceAccount = spec.ServiceAccountName
	roundUp(spec.Overhead)
	if spec.Resources != nil {
		roundUp(spec.Resources.Requests)
		roundUp(spec.Resources.Limits)
	}
	eachContainer(spec, defaultContainer)
	for i := range spec.EphemeralContainers {
		defaultContainer((*corev1.Container)(&spec.EphemeralContainers[i].EphemeralContainerCommon))
	}
	for i := range spec.Volumes {
		defaultVolume(&spec.Volumes[i].VolumeSource)
	}
}

// admitPod sets what the server and its admission plug-ins add to a Pod.
func admitPod(a *admission, pod, old *corev1.Pod) field.ErrorList {
	defaultPodSpec(&pod.Spec)
	defaultRequests(&pod.Spec)
	point(&pod.Spec.EnableServiceLinks, corev1.DefaultEnableServiceLinks)
	if pod.Spec.HostNetwork {
		eachContainer(&pod.Spec, func(c *corev1.Container) {
			for i := range c.Ports {
				set(&c.Ports[i].HostPort, c.Ports[i].ContainerPort)
			}
		})
	}
	admitTolerations(&pod.Spec)
	if !a.isNew {
		return checkPodUpdate(pod, old)
	}
	point(&pod.Spec.Priority, 0)
	point(&pod.Spec.PreemptionPolicy, corev1.PreemptLowerPriority)
	set(&pod.Spec.ServiceAccountName, "default")
	pod.Spec.DeprecatedServiceAccount = pod.Spec.ServiceAccountName
	a.mountToken(pod)
	pod.Status = corev1.PodStatus{Phase: corev1.PodPending, QOSClass: qosClass(&pod.Spec)}
	return checkPodSpec(&pod.Spec, field.NewPath("spec"))
}

func defaultRequests(spec *corev1.PodSpec) {
	eachContainer(spec, func(c *corev1.Container) {
		if c.Resources.Limits != nil && c.Resources.Requests == nil {
			c.Resources.Requests = corev1.ResourceList{}
		}
		for name, limit := range c.Resources.Limits {
			if _, found := c.Resources.Requests[name]; !found {
				c.Resources.Requests[name] = limit.DeepCopy()
			}
		}
	})
}

// admitTolerations lets a Pod stay for five minutes on a node that is not ready.
func admitTolerations(spec *corev1.PodSpec) {
	for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		tolerated := false
		for _, t := range spec.Tolerations {
			matchesKey := t.Key == key || t.Key == "" && t.Operator == corev1.TolerationOpExists
			tolerated = tolerated || matchesKey && (t.Effect == corev1.TaintEffectNoExecute || t.Effect == "")
		}
		if !tolerated {
			spec.Tolerations = append(spec.Tolerations, corev1.Toleration{
				Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(300)),
			})
		}
	}
}

const tokenMountPath = "/var/run/secrets/kubernetes.io/serviceaccount"

// mountToken adds the volume with the ServiceAccount's token. The end of its
// name is random on a real server.
func (a *admission) mountToken(pod *corev1.Pod) {
	if mount := pod.Spec.AutomountServiceAccountToken; mount != nil && !*mount {
		return
	}
	name := fmt.Sprintf("kube-api-access-%05d", a.server.uids%100000)
	sources := []corev1.VolumeProjection{
		{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{ExpirationSeconds: new(int64(3607)), Path: "token"}},
		{ConfigMap: &corev1.ConfigMapProjection{
			LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"},
			Items:                []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}},
		}},
		{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{
			{Path: "namespace", FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.namespace"}},
		}}},
	}
	mounted := false
	eachContainer(&pod.Spec, func(c *corev1.Container) {
		for _, mount := range c.VolumeMounts {
			if mount.MountPath == tokenMountPath {
				return
			}
		}
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: name, ReadOnly: true, MountPath: tokenMountPath})
		mounted = true
	})
	if mounted {
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
			Projected: &corev1.ProjectedVolumeSource{DefaultMode: new(corev1.ProjectedVolumeSourceDefaultMode), Sources: sources},
		}})
	}
}

func qosClass(spec *corev1.PodSpec) corev1.PodQOSClass {
	guaranteed, bestEffort := true, true
	eachContainer(spec, func(c *corev1.Container) {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			request, limit := c.Resources.Requests[name], c.Resources.Limits[name]
			bestEffort = bestEffort && request.IsZero() && limit.IsZero()
			guaranteed = guaranteed && !limit.IsZero() && request.Cmp(limit) == 0
		}
	})
	switch {
	case bestEffort:
		return corev1.PodQOSBestEffort
	case guaranteed:
		return corev1.PodQOSGuaranteed
	default:
		return corev1.PodQOSBurstable
	}
}

func set[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func point[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

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
