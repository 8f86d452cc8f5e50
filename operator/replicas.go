package operator

import (
	"encoding/json"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/metacontroller"
)

// owners is the part of the metadata that shows which field manager owns
// spec.replicas. Users can write all of it, so each part is decoded separately
// and counts as absent if it cannot be.
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

// fields is the part of fieldsV1 that is read. Like the other texts that users
// can write, it is decoded into a struct, not a map: a map of a million keys takes
// many times the memory that is reserved for the text.
type fields struct {
	Metadata struct {
		Annotations struct {
			Hash json.RawMessage `json:"f:operetta.dev/hash"` // metacontroller.HashAnnotation
		} `json:"f:annotations"`
	} `json:"f:metadata"`
	Spec struct {
		Replicas json.RawMessage `json:"f:replicas"`
	} `json:"f:spec"`
}

// applied is the part of what Metacontroller applied last that is read.
type applied struct {
	Spec struct {
		Replicas json.RawMessage `json:"replicas"`
	} `json:"spec"`
}

// PreserveReplicas copies the number of replicas of an observed workload if the
// spec has none any more and a hook had set it: otherwise Metacontroller would
// remove the field, and the API server would default it to 1. The hash must not
// contain the number, because an autoscaler may change it, so the workload is
// stamped here. The errors are those of [metacontroller.Stamp] and of a
// canceled call.
func PreserveReplicas(workload metacontroller.Object, observed metacontroller.Snapshot, replicas *int32) error {
	if replicas == nil {
		return nil
	}
	ours, err := ownsReplicas(observed)
	if err != nil || !ours {
		return err
	}
	return SetReplicas(workload, *replicas)
}

// SetReplicas sets the number of replicas of a Deployment or a StatefulSet that its hash
// must not contain, so the workload is stamped here. The error is that of
// [metacontroller.Stamp].
func SetReplicas(workload metacontroller.Object, replicas int32) error {
	if err := metacontroller.Stamp(workload); err != nil {
		return err
	}
	switch workload := workload.(type) {
	case *appsv1.Deployment:
		workload.Spec.Replicas = &replicas
	case *appsv1.StatefulSet:
		workload.Spec.Replicas = &replicas
	}
	return nil
}

// ownsReplicas reports whether a hook applied spec.replicas of an observed
// workload last. Leaving it out would then not keep the number but set it to 1,
// because Metacontroller removes what it applied, and the API server fills in
// the default.
//
// Metacontroller's annotation decides. If it is missing or cannot be read,
// managedFields does. The error is that of a canceled call.
func ownsReplicas(workload metacontroller.Snapshot) (bool, error) {
	var owners owners
	if err := workload.Decode(&owners); err != nil {
		return false, err
	}
	if applied := lastApplied(owners.Metadata.Annotations); applied != nil {
		return applied.Spec.Replicas != nil, nil
	}
	for _, manager := range owners.Metadata.ManagedFields {
		if manager.hasApplied() {
			return true, nil
		}
	}
	return false, nil
}

// lastApplied returns what Metacontroller applied last, or nil if it cannot be
// read.
func lastApplied(annotations json.RawMessage) *applied {
	var texts struct {
		LastApplied string `json:"metacontroller.k8s.io/last-applied-configuration"` // metacontroller.LastAppliedAnnotation
	}
	var applied *applied
	if json.Unmarshal(annotations, &texts) != nil || json.Unmarshal([]byte(texts.LastApplied), &applied) != nil {
		return nil
	}
	return applied
}

// hasApplied reports whether this managedFields entry is a hook's: any apply
// operation, or an update by Metacontroller, which is recognized by the hash
// that every child carries.
func (m manager) hasApplied() bool {
	var fields fields
	if m.Subresource != "" || json.Unmarshal(m.Fields, &fields) != nil {
		return false
	}
	hasHash := fields.Metadata.Annotations.Hash != nil
	return fields.Spec.Replicas != nil && (hasHash || m.Operation == metav1.ManagedFieldsOperationApply)
}
