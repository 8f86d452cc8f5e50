// Package replicas tells whose the number of replicas of a workload is.
package replicas

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/metacontroller"
)

// owners is what tells who set the number.
type owners struct {
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

// AreOurs reports whether it was a hook that set the number of replicas of an
// observed workload last: then to say nothing would not leave it alone but set
// it to 1, for Metacontroller takes away what it applied, and the API server
// fills in the default. The error says what of the object cannot be read.
func AreOurs(workload metacontroller.Snapshot) (bool, error) {
	var owners owners
	if err := workload.Decode(&owners); err != nil {
		return false, err
	}
	if last := owners.Metadata.Annotations[metacontroller.LastAppliedAnnotation]; last != "" {
		var applied struct {
			Spec map[string]json.RawMessage `json:"spec"`
		}
		if err := json.Unmarshal([]byte(last), &applied); err != nil {
			return false, fmt.Errorf("the annotation %s of %s is damaged", metacontroller.LastAppliedAnnotation, workload.Ref())
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
