package invariants

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/operetta-dev/operetta/simulation"
)

// Workload is what the Job's Pod does in a simulation: `kubectl debug` adds an ephemeral
// container to another Pod. Its environment, its profile and permissions are not simulated.
func Workload(cluster simulation.Cluster, pod *corev1.Pod) error {
	first := pod.Spec.Containers[0]
	words := slices.Concat(first.Command, first.Args)
	if len(words) < 3 || words[0] != "kubectl" || words[1] != "debug" {
		return nil
	}
	for i := range words {
		words[i] = strings.ReplaceAll(words[i], "$$", "$") // as the kubelet does
	}
	namespace, name, container := pod.Namespace, "", corev1.EphemeralContainer{}
	for i, word := range words {
		flag, value, _ := strings.Cut(word, "=")
		switch {
		case word == "--":
			container.Command = words[i+1:]
			return cluster.AddEphemeralContainer(namespace, name, container)
		case flag == "--namespace":
			namespace = value
		case flag == "--image":
			container.Image = value
		case flag == "--container":
			container.Name = value
		case flag == "--custom":
			if err := json.Unmarshal([]byte(pod.Annotations["operetta.dev/custom-container"]), &container.EphemeralContainerCommon); err != nil {
				return fmt.Errorf("%s does not contain a valid container spec: %w", value, err)
			}
		case flag == "--target":
			container.TargetContainerName = value
		case i == 2:
			name = word
		}
	}
	return cluster.AddEphemeralContainer(namespace, name, container)
}
