package apiserver

import (
	"fmt"
	"reflect"
	"slices"

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
		if sources := reflect.ValueOf(volume.VolumeSource); countSet(sources) > 1 {
			problems = append(problems, field.Forbidden(path.Child("volumes").Index(i), "may not specify more than 1 volume type"))
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

func countSet(pointers reflect.Value) (set int) {
	for _, pointer := range pointers.Fields() {
		if !pointer.IsNil() {
			set++
		}
	}
	return set
}
