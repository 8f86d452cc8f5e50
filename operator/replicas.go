package operator

import (
	"encoding/json"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/metacontroller"
)

// owners is what tells who set the number. Users can write all of it, so each
// part is read by itself and one that cannot be read counts as absent.
type owners struct {
	Metadata struct {
		Annotations   json.RawMessage `json:"annotations"`
		ManagedFields []manager       `json:"managedFields"`
	} `json:"metadata"`
}

// manager is an entry of metadata.managedFields.
type manager struct {
	Operation   metav1.ManagedFieldsOperationType `json:"operation"`
	Subresource string                            `json:"subresource"`
	Fields      json.RawMessage                   `json:"fieldsV1"`
}

// fields is what is read of the fields that a manager owns.
type fields struct {
	Metadata struct {
		Annotations map[string]json.RawMessage `json:"f:annotations"`
	} `json:"f:metadata"`
	Spec map[string]json.RawMessage `json:"f:spec"`
}

// PreserveReplicas keeps the number of replicas of an observed workload where the spec
// names none any more and a hook had set the number: without it Metacontroller would
// take the field away, and the API server would set it to 1. The hash leaves the number
// out, because an autoscaler may change it, so the workload is stamped here. The errors
// are those of [metacontroller.Stamp] and of a call that has ended early.
func PreserveReplicas(workload metacontroller.Object, observed metacontroller.Snapshot, replicas *int32) error {
	if replicas == nil {
		return nil
	}
	ours, err := ownsReplicas(observed)
	if err != nil || !ours {
		return err
	}
	if err := metacontroller.Stamp(workload); err != nil {
		return err
	}
	switch workload := workload.(type) {
	case *appsv1.Deployment:
		workload.Spec.Replicas = replicas
	case *appsv1.StatefulSet:
		workload.Spec.Replicas = replicas
	}
	return nil
}

// ownsReplicas reports whether it was a hook that set the number of replicas of an
// observed workload last: then to say nothing would not leave it alone but set
// it to 1, for Metacontroller takes away what it applied, and the API server
// fills in the default.
//
// The annotation of Metacontroller tells it. Where there is none, or none that
// can be read, the managed fields do. The error is the one of a call that has
// ended early.
func ownsReplicas(workload metacontroller.Snapshot) (bool, error) {
	var owners owners
	if err := workload.Decode(&owners); err != nil {
		return false, err
	}
	if applied := lastApplied(owners.Metadata.Annotations); applied != nil {
		_, ours := applied["replicas"]
		return ours, nil
	}
	for _, manager := range owners.Metadata.ManagedFields {
		if manager.hasApplied() {
			return true, nil
		}
	}
	return false, nil
}

// lastApplied returns the spec that Metacontroller applied last, or nil where
// nothing readable tells it. It is empty where a workload without one was applied.
func lastApplied(annotations json.RawMessage) map[string]json.RawMessage {
	var texts map[string]json.RawMessage
	var text string
	if json.Unmarshal(annotations, &texts) != nil || json.Unmarshal(texts[metacontroller.LastAppliedAnnotation], &text) != nil {
		return nil
	}
	var applied *struct {
		Spec map[string]json.RawMessage `json:"spec"`
	}
	if json.Unmarshal([]byte(text), &applied) != nil || applied == nil {
		return nil
	}
	if applied.Spec == nil {
		return map[string]json.RawMessage{}
	}
	return applied.Spec
}

// hasApplied reports whether a hook set the number with this entry: whoever
// applies it, or Metacontroller where it updates, which is told by the hash that
// every child carries.
func (m manager) hasApplied() bool {
	var fields fields
	if m.Subresource != "" || json.Unmarshal(m.Fields, &fields) != nil {
		return false
	}
	_, hasHash := fields.Metadata.Annotations["f:"+metacontroller.HashAnnotation]
	_, hasReplicas := fields.Spec["f:replicas"]
	return hasReplicas && (hasHash || m.Operation == metav1.ManagedFieldsOperationApply)
}
