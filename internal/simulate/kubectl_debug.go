package simulate

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Of all that a Pod may run, one thing has an effect: `kubectl debug` in a Pod
// that runs to its end adds an ephemeral container to another Pod. Its flags are
// those of Kubernetes 1.36, of which the environment and the profile are not
// played. Permissions are not modelled, so that it may do what it does.

// debugCommand is what a `kubectl debug` has been asked for.
type debugCommand struct {
	target    Ref
	container corev1.EphemeralContainer
}

// debugCommandOf returns the `kubectl debug` that a Pod runs, or nil.
func debugCommandOf(pod *corev1.Pod) *debugCommand {
	first := pod.Spec.Containers[0]
	words := slices.Concat(first.Command, first.Args)
	for i := range words {
		words[i] = strings.ReplaceAll(words[i], "$$", "$") // as the kubelet does
	}
	if len(words) > 0 && words[0] != "kubectl" && len(first.Command) == 0 {
		words = slices.Concat([]string{"kubectl"}, words) // the image's entrypoint
	}
	if len(words) < 3 || words[0] != "kubectl" || words[1] != "debug" {
		return nil
	}
	d := &debugCommand{target: Ref{APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace}}
	d.read(words[2:])
	return d
}

// read reads the arguments behind `kubectl debug`.
func (d *debugCommand) read(words []string) {
	c := &d.container
	argumentsOnly := false
	for i, word := range words {
		flag, value, _ := strings.Cut(word, "=")
		switch flag {
		case "--":
			if argumentsOnly {
				c.Args = words[i+1:]
			} else {
				c.Command = words[i+1:]
			}
			return
		case "--namespace":
			d.target.Namespace = value
		case "--image":
			c.Image = value
		case "--container":
			c.Name = value
		case "--target":
			c.TargetContainerName = value
		case "--arguments-only":
			argumentsOnly = true
		default:
			if !strings.HasPrefix(word, "-") {
				d.target.Name = strings.TrimPrefix(word, "pod/")
			}
		}
	}
}

// run runs what a Pod runs. It returns what the command says when it fails, or
// nothing.
func (k *kubernetes) run(pod *corev1.Pod) string {
	d := debugCommandOf(pod)
	if d == nil {
		return ""
	}
	object := k.store.get(d.target)
	if object == nil {
		return fmt.Sprintf("Error from server (NotFound): pods %q not found", d.target.Name)
	}
	target := &corev1.Pod{}
	if err := decodeInto(object, target); err != nil {
		return err.Error()
	}
	if problem := d.refusal(target); problem != "" {
		return fmt.Sprintf("The Pod %q is invalid: spec.ephemeralContainers%s", d.target.Name, problem)
	}
	c := &d.container
	defaultContainer((*corev1.Container)(&c.EphemeralContainerCommon))
	changed := object.DeepCopy()
	list, _ := changed.Object["spec"].(map[string]any)["ephemeralContainers"].([]any)
	changed.Object["spec"].(map[string]any)["ephemeralContainers"] = append(list, mustEncode(c).Object)
	changed.SetGeneration(object.GetGeneration() + 1)
	if _, err := k.store.replace(byKubernetes, d.target, changed, object); err != nil {
		return err.Error()
	}
	return ""
}

// refusal returns why the API server refuses the container, or nothing.
func (d *debugCommand) refusal(pod *corev1.Pod) string {
	c := &d.container
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

// startEphemeral runs the ephemeral containers that do not run yet.
func (k *kubernetes) startEphemeral(pod *corev1.Pod) {
	for _, c := range pod.Spec.EphemeralContainers {
		known := slices.ContainsFunc(pod.Status.EphemeralContainerStatuses, func(s corev1.ContainerStatus) bool { return s.Name == c.Name })
		if known || pod.Status.Phase != corev1.PodRunning {
			continue
		}
		status := k.running(corev1.Container{Name: c.Name, Image: c.Image}, false)
		status.Started = nil
		pod.Status.EphemeralContainerStatuses = append(pod.Status.EphemeralContainerStatuses, status)
	}
}
