package modelbox

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// observed is what the hook reads of the children. A child that does not exist
// is nil.
type observed struct {
	deployment *operator.Workload
	service    *observedService
}

// observedService is the part of a Service that the hook reads.
type observedService struct {
	Spec struct {
		Type      ServiceType `json:"type"`
		ClusterIP string      `json:"clusterIP"`
		Ports     []NodePort  `json:"ports"`
	} `json:"spec"`
}

// isHeadless reports whether the Service has no address of its own.
func (s *observedService) isHeadless() bool { return s.Spec.ClusterIP == corev1.ClusterIPNone }

func observe(box *ModelBox, request metacontroller.Observed) (observed, error) {
	var o observed
	var err error
	if o.deployment, err = metacontroller.Get[operator.Workload](
		request.Children, metacontroller.Deployment.APIVersion, metacontroller.Deployment.Kind, box.Name); err != nil {
		return o, err
	}
	o.service, err = metacontroller.Get[observedService](
		request.Children, metacontroller.Service.APIVersion, metacontroller.Service.Kind, box.Name)
	return o, err
}
