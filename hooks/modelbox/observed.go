package modelbox

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/operetta-dev/operetta/metacontroller"
)

// observed is what the hook reads of the children. A child that does not exist
// is nil.
type observed struct {
	deployment *observedDeployment
	service    *observedService
}

// observedDeployment is the part of a Deployment that the hook reads.
type observedDeployment struct {
	metacontroller.Snapshot `json:"-"`

	Metadata struct {
		Generation int64 `json:"generation"`
	} `json:"metadata"`
	Spec struct {
		Replicas int32 `json:"replicas"`
	} `json:"spec"`
	Status struct {
		ObservedGeneration int64                 `json:"observedGeneration"`
		Replicas           int32                 `json:"replicas"`
		ReadyReplicas      int32                 `json:"readyReplicas"`
		UpdatedReplicas    int32                 `json:"updatedReplicas"`
		AvailableReplicas  int32                 `json:"availableReplicas"`
		Conditions         []deploymentCondition `json:"conditions"`
	} `json:"status"`
}

type deploymentCondition struct {
	Type    string                 `json:"type"`
	Status  corev1.ConditionStatus `json:"status"`
	Reason  string                 `json:"reason"`
	Message string                 `json:"message"`
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

func observe(box *ModelBox, seen metacontroller.Observed) (observed, error) {
	var o observed
	var err error
	if o.deployment, err = metacontroller.Get[observedDeployment](
		seen.Children, deploymentKind.APIVersion, deploymentKind.Kind, box.Name); err != nil {
		return o, err
	}
	o.service, err = metacontroller.Get[observedService](
		seen.Children, serviceKind.APIVersion, serviceKind.Kind, box.Name)
	return o, err
}

// condition returns the Deployment's condition of a type, or an empty one.
func (d *observedDeployment) condition(conditionType string) deploymentCondition {
	for _, c := range d.Status.Conditions {
		if c.Type == conditionType {
			return c
		}
	}
	return deploymentCondition{}
}
