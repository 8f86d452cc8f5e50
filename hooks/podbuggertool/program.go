package podbuggertool

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/operetta-dev/operetta/metacontroller"
)

// kubectlDebug is what the Job's Pod does in a simulation: `kubectl debug` adds
// an ephemeral container to another Pod. The flags are those of Kubernetes
// 1.36; environment and profile are ignored. Permissions are not simulated.
func kubectlDebug(cluster metacontroller.Cluster, pod *corev1.Pod) error {
	first := pod.Spec.Containers[0]
	words := slices.Concat(first.Command, first.Args)
	if len(words) < 3 || words[0] != "kubectl" || words[1] != "debug" {
		return nil
	}
	for i := range words {
		words[i] = strings.ReplaceAll(words[i], "$$", "$") // as the kubelet does
	}
	d := debugCommand{namespace: pod.Namespace}
	d.read(words[2:])
	return cluster.AddEphemeralContainer(d.namespace, d.pod, d.container)
}

// debugCommand are the arguments of a `kubectl debug`.
type debugCommand struct {
	namespace, pod string
	container      corev1.EphemeralContainer
}

// read parses the arguments after `kubectl debug`.
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
			d.namespace = value
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
				d.pod = strings.TrimPrefix(word, "pod/")
			}
		}
	}
}
