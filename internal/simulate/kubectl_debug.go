package simulate

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/operetta-dev/operetta/internal/simulate/apiserver"
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

// run runs what a Pod runs. The error is what the command says when it fails.
func (w *World) run(pod *corev1.Pod) error {
	d := debugCommandOf(pod)
	if d == nil {
		return nil
	}
	return w.server.AddEphemeralContainer(apiserver.ByKubernetes, d.target, d.container)
}
