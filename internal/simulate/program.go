package simulate

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/operetta-dev/operetta/internal/simulate/apiserver"
)

func (w *World) runProgram(pod *corev1.Pod) error {
	for _, controller := range w.options.Controllers {
		if controller.SimulatedWorkload == nil {
			continue
		}
		if err := controller.SimulatedWorkload(cluster{w.server}, pod); err != nil {
			return err
		}
	}
	return nil
}

type cluster struct{ server *apiserver.Server }

func (c cluster) AddEphemeralContainer(namespace, pod string, container corev1.EphemeralContainer) error {
	return c.server.AddEphemeralContainer(apiserver.ByKubernetes, Ref{APIVersion: "v1", Kind: "Pod", Namespace: namespace, Name: pod}, container)
}
