package apiserver

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// AddEphemeralContainer adds an ephemeral container to a Pod. Errors have
// kubectl's text.
func (s *Server) AddEphemeralContainer(by Actor, pod Ref, container corev1.EphemeralContainer) error {
	object := s.Get(pod)
	if object == nil {
		return fmt.Errorf("Error from server (NotFound): %w", apierrors.NewNotFound(corev1.Resource("pods"), pod.Name)) //nolint:staticcheck // kubectl's words
	}
	target := &corev1.Pod{}
	if err := Decode(object, target); err != nil {
		return err
	}
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
	for _, other := range pod.Spec.EphemeralContainers {
		if other.Name == c.Name {
			return fmt.Sprintf(": Forbidden: existing ephemeral containers %q may not be changed", c.Name)
		}
	}
	names := map[string]bool{}
	for _, other := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		names[other.Name] = true
	}
	index := len(pod.Spec.EphemeralContainers)
	switch {
	case names[c.Name]:
		return fmt.Sprintf("[%d].name: Duplicate value: %q", index, c.Name)
	case c.TargetContainerName != "" && !names[c.TargetContainerName]:
		return fmt.Sprintf("[%d].targetContainerName: Not found: %q", index, c.TargetContainerName)
	}
	return ""
}
