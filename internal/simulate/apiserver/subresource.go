package apiserver

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// AddEphemeralContainer adds an ephemeral container to a Pod. Errors have
// kubectl's text.
func (s *Server) AddEphemeralContainer(by Actor, pod Ref, container corev1.EphemeralContainer) error {
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
	spec["ephemeralContainers"] = append(list, Encode(&container).Object)
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
	return ""
}
