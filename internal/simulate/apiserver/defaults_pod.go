package apiserver

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// defaultPodSpec fills in what is filled in for a Pod and for a template alike.
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

func defaultVolume(source *corev1.VolumeSource) {
	switch {
	case equality.Semantic.DeepEqual(*source, corev1.VolumeSource{}):
		source.EmptyDir = &corev1.EmptyDirVolumeSource{}
	case source.Secret != nil:
		point(&source.Secret.DefaultMode, corev1.SecretVolumeSourceDefaultMode)
	case source.ConfigMap != nil:
		point(&source.ConfigMap.DefaultMode, corev1.ConfigMapVolumeSourceDefaultMode)
	case source.HostPath != nil:
		point(&source.HostPath.Type, corev1.HostPathUnset)
	case source.DownwardAPI != nil:
		point(&source.DownwardAPI.DefaultMode, corev1.DownwardAPIVolumeSourceDefaultMode)
		defaultFieldRefs(source.DownwardAPI.Items)
	case source.Projected != nil:
		point(&source.Projected.DefaultMode, corev1.ProjectedVolumeSourceDefaultMode)
		for i := range source.Projected.Sources {
			defaultProjection(&source.Projected.Sources[i])
		}
	case source.Ephemeral != nil && source.Ephemeral.VolumeClaimTemplate != nil:
		claim := &source.Ephemeral.VolumeClaimTemplate.Spec
		point(&claim.VolumeMode, corev1.PersistentVolumeFilesystem)
		roundUp(claim.Resources.Requests)
		roundUp(claim.Resources.Limits)
	case source.Image != nil:
		set(&source.Image.PullPolicy, pullPolicy(source.Image.Reference))
	}
}

func defaultProjection(projection *corev1.VolumeProjection) {
	if projection.DownwardAPI != nil {
		defaultFieldRefs(projection.DownwardAPI.Items)
	}
	if projection.ServiceAccountToken != nil {
		point(&projection.ServiceAccountToken.ExpirationSeconds, 3600)
	}
	if projection.PodCertificate != nil {
		point(&projection.PodCertificate.MaxExpirationSeconds, 86400)
	}
}

func defaultFieldRefs(files []corev1.DownwardAPIVolumeFile) {
	for i := range files {
		if files[i].FieldRef != nil {
			set(&files[i].FieldRef.APIVersion, "v1")
		}
	}
}

// checkPodSpec checks the little that people get wrong.
func checkPodSpec(spec *corev1.PodSpec, path *field.Path, policies ...corev1.RestartPolicy) field.ErrorList {
	var problems field.ErrorList
	if len(spec.Containers) == 0 {
		problems = append(problems, field.Required(path.Child("containers"), ""))
	}
	names := map[string]bool{}
	eachContainer(spec, func(c *corev1.Container) {
		containers := path.Child("containers")
		for _, message := range validation.IsDNS1123Label(c.Name) {
			problems = append(problems, field.Invalid(containers.Child("name"), c.Name, message))
		}
		if names[c.Name] {
			problems = append(problems, field.Duplicate(containers.Child("name"), c.Name))
		}
		names[c.Name] = true
		if c.Image == "" {
			problems = append(problems, field.Required(containers.Child("image"), ""))
		}
		problems = append(problems, checkResources(c, containers)...)
	})
	problems = append(problems, checkMounts(spec, path)...)
	if len(policies) == 0 {
		return problems
	}
	allowed := make([]string, len(policies))
	for i, policy := range policies {
		if spec.RestartPolicy == policy {
			return problems
		}
		allowed[i] = string(policy)
	}
	return append(problems, field.NotSupported(path.Child("restartPolicy"), spec.RestartPolicy, allowed))
}

// checkResources checks that no request is over its limit.
func checkResources(c *corev1.Container, path *field.Path) field.ErrorList {
	var problems field.ErrorList
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage} {
		request, limit := c.Resources.Requests[name], c.Resources.Limits[name]
		if !limit.IsZero() && request.Cmp(limit) > 0 {
			problems = append(problems, field.Invalid(path.Child("resources", "requests"), request.String(),
				fmt.Sprintf("must be less than or equal to %s limit of %s", name, &limit)))
		}
	}
	return problems
}

// checkMounts checks that each mounted volume is there.
func checkMounts(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	var problems field.ErrorList
	volumes := map[string]bool{}
	for i, volume := range spec.Volumes {
		if volumes[volume.Name] {
			problems = append(problems, field.Duplicate(path.Child("volumes").Index(i).Child("name"), volume.Name))
		}
		volumes[volume.Name] = true
	}
	eachContainer(spec, func(c *corev1.Container) {
		for i, mount := range c.VolumeMounts {
			if !volumes[mount.Name] {
				problems = append(problems, field.NotFound(path.Child("containers").Child("volumeMounts").Index(i).Child("name"), mount.Name))
			}
		}
	})
	return problems
}

// admitPod fills in what the server and its admission plug-ins add to a Pod.
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
	if old != nil {
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

// defaultRequests takes limits for requests where there are none.
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

// admitTolerations lets a Pod stay on a node in trouble for five minutes.
func admitTolerations(spec *corev1.PodSpec) {
	for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		tolerated := false
		for _, t := range spec.Tolerations {
			matchesKey := t.Key == key || t.Key == "" && t.Operator == corev1.TolerationOpExists
			tolerated = tolerated || matchesKey && (t.Effect == corev1.TaintEffectNoExecute || t.Effect == "")
		}
		if !tolerated {
			seconds := int64(300)
			spec.Tolerations = append(spec.Tolerations, corev1.Toleration{
				Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds,
			})
		}
	}
}

// tokenMountPath is where a Pod finds the token of its ServiceAccount.
const tokenMountPath = "/var/run/secrets/kubernetes.io/serviceaccount"

// mountToken adds the volume with the ServiceAccount's token. The end of its
// name is random on a real server.
func (a *admission) mountToken(pod *corev1.Pod) {
	if mount := pod.Spec.AutomountServiceAccountToken; mount != nil && !*mount {
		return
	}
	seconds := int64(3607)
	name := fmt.Sprintf("kube-api-access-%05d", a.server.uids%100000)
	sources := []corev1.VolumeProjection{
		{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{ExpirationSeconds: &seconds, Path: "token"}},
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
		mode := corev1.ProjectedVolumeSourceDefaultMode
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
			Projected: &corev1.ProjectedVolumeSource{DefaultMode: &mode, Sources: sources},
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

// checkPodUpdate refuses what cannot be changed about a Pod: nearly all.
func checkPodUpdate(pod, old *corev1.Pod) field.ErrorList {
	if !hasTolerations(pod.Spec.Tolerations, old.Spec.Tolerations) {
		return field.ErrorList{field.Forbidden(field.NewPath("spec", "tolerations"), "existing toleration can not be modified except its tolerationSeconds")}
	}
	munged := pod.Spec.DeepCopy()
	munged.ActiveDeadlineSeconds = old.Spec.ActiveDeadlineSeconds
	munged.Tolerations = old.Spec.Tolerations
	munged.SchedulingGates = old.Spec.SchedulingGates
	if len(munged.Containers) != len(old.Spec.Containers) || len(munged.InitContainers) != len(old.Spec.InitContainers) {
		return field.ErrorList{field.Forbidden(field.NewPath("spec", "containers"), "pod updates may not add or remove containers")}
	}
	for i := range munged.Containers {
		munged.Containers[i].Image = old.Spec.Containers[i].Image
	}
	for i := range munged.InitContainers {
		munged.InitContainers[i].Image = old.Spec.InitContainers[i].Image
	}
	if old.Spec.NodeName == "" {
		munged.NodeName = old.Spec.NodeName // the scheduler's write, which has a way of its own on a real server
	}
	if equality.Semantic.DeepEqual(*munged, old.Spec) {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("spec"), "pod updates may not change fields other than "+
		"`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"+
		"`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` "+
		"(allow it to be set to 1 if it was previously negative)")}
}

// hasTolerations reports whether all these are among the tolerations of a Pod, but
// for their seconds.
func hasTolerations(all, these []corev1.Toleration) bool {
	for _, one := range these {
		if !slices.ContainsFunc(all, func(other corev1.Toleration) bool { return one.MatchToleration(&other) }) {
			return false
		}
	}
	return true
}
