package apiserver

import (
	"fmt"
	"slices"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// checkPodSpec checks for common mistakes only.
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
		problems = append(problems, checkHandlers(c, containers)...)
		problems = append(problems, checkEnv(c, containers)...)
	})
	problems = append(problems, checkMounts(spec, path)...)
	if len(policies) == 0 || slices.Contains(policies, spec.RestartPolicy) {
		return problems
	}
	return append(problems, field.NotSupported(path.Child("restartPolicy"), spec.RestartPolicy, policies))
}

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

func checkMounts(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	var problems field.ErrorList
	volumes := map[string]bool{}
	for i, volume := range spec.Volumes {
		if volumes[volume.Name] {
			problems = append(problems, field.Duplicate(path.Child("volumes").Index(i).Child("name"), volume.Name))
		}
		if countSet(volume.VolumeSource) > 1 {
			problems = append(problems, field.Forbidden(path.Child("volumes").Index(i), "may not specify more than 1 volume type"))
		}
		if volume.Secret != nil && volume.Secret.SecretName == "" {
			problems = append(problems, field.Required(path.Child("volumes").Index(i).Child("secret", "secretName"), ""))
		}
		if volume.ConfigMap != nil && volume.ConfigMap.Name == "" {
			problems = append(problems, field.Required(path.Child("volumes").Index(i).Child("configMap", "name"), ""))
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
		munged.NodeName = old.Spec.NodeName // a real server has a subresource for the scheduler's write
	}
	if equality.Semantic.DeepEqual(*munged, old.Spec) {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("spec"), "pod updates may not change fields other than "+
		"`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"+
		"`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` "+
		"(allow it to be set to 1 if it was previously negative)")}
}

// hasTolerations reports whether all of these are among the tolerations of a
// Pod, ignoring their seconds.
func hasTolerations(all, these []corev1.Toleration) bool {
	for _, one := range these {
		if !slices.ContainsFunc(all, func(other corev1.Toleration) bool { return one.MatchToleration(&other) }) {
			return false
		}
	}
	return true
}

// AddEphemeralContainer adds an ephemeral container to a Pod. Errors have kubectl's text.
func (s *Server) AddEphemeralContainer(by Actor, pod kube.Ref, container corev1.EphemeralContainer) error {
	object, err := s.Live(pod)
	if err != nil {
		return fmt.Errorf("Error from server (NotFound): %w", err) //nolint:staticcheck // kubectl's words
	}
	target := Typed[corev1.Pod](s, pod)
	if problem := refuseEphemeral(target, &container); problem != "" {
		return fmt.Errorf("The Pod %q is invalid: spec.ephemeralContainers%s", pod.Name, problem) //nolint:staticcheck // kubectl's words
	}
	defaultContainer((*corev1.Container)(&container.EphemeralContainerCommon))
	changed := object.DeepCopy()
	spec := changed.Object["spec"].(map[string]any)
	list, _ := spec["ephemeralContainers"].([]any)
	spec["ephemeralContainers"] = append(list, kube.Encode(&container).Object)
	changed.SetGeneration(object.GetGeneration() + 1)
	s.Replace(by, changed)
	return nil
}

func refuseEphemeral(pod *corev1.Pod, c *corev1.EphemeralContainer) string {
	names := map[string]bool{}
	eachContainer(&pod.Spec, func(other *corev1.Container) { names[other.Name] = true })
	index := len(pod.Spec.EphemeralContainers)
	switch {
	case slices.ContainsFunc(pod.Spec.EphemeralContainers, func(other corev1.EphemeralContainer) bool { return other.Name == c.Name }):
		return fmt.Sprintf(": Forbidden: existing ephemeral containers %q may not be changed", c.Name)
	case names[c.Name]:
		return fmt.Sprintf("[%d].name: Duplicate value: %q", index, c.Name)
	case c.TargetContainerName != "" && !names[c.TargetContainerName]:
		return fmt.Sprintf("[%d].targetContainerName: Not found: %q", index, c.TargetContainerName)
	}
	for i, mount := range c.VolumeMounts {
		if !slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == mount.Name }) {
			return fmt.Sprintf("[%d].volumeMounts[%d].name: Not found: %q", index, i, mount.Name)
		}
	}
	return ""
}
