package modelbox

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

// appliedReplicas is what tells who set a Deployment's number of replicas.
type appliedReplicas struct {
	Metadata struct {
		Annotations   map[string]string `json:"annotations"`
		ManagedFields []struct {
			Operation metav1.ManagedFieldsOperationType `json:"operation"`
			Fields    struct {
				Spec map[string]json.RawMessage `json:"f:spec"`
			} `json:"fieldsV1"`
		} `json:"managedFields"`
	} `json:"metadata"`
}

// replicasAreOurs reports whether it was the hook that set the Deployment's
// number of replicas last: then to say nothing would not leave it alone but set
// it to 1, for Metacontroller takes away what it applied, and the API server
// fills in the default.
func (d *observedDeployment) replicasAreOurs() (bool, error) {
	var owners appliedReplicas
	if err := d.Decode(&owners); err != nil {
		return false, err
	}
	if last := owners.Metadata.Annotations[metacontroller.LastAppliedAnnotation]; last != "" {
		var applied struct {
			Spec map[string]json.RawMessage `json:"spec"`
		}
		if err := json.Unmarshal([]byte(last), &applied); err != nil {
			return false, fmt.Errorf("the annotation %s of %s is damaged", metacontroller.LastAppliedAnnotation, d.Ref())
		}
		_, ours := applied.Spec["replicas"]
		return ours, nil
	}
	for _, manager := range owners.Metadata.ManagedFields {
		_, ours := manager.Fields.Spec["f:replicas"]
		if ours && manager.Operation == metav1.ManagedFieldsOperationApply {
			return true, nil
		}
	}
	return false, nil
}
