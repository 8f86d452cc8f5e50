package dataservice

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/metacontroller"
)

// conditionVolumesDeleted is False in a teardown that waits for StatefulSets to learn
// what becomes of their volumes, and absent otherwise.
const conditionVolumesDeleted = "VolumesDeleted"

// reasonRequested is the reason of VolumesDeleted=False.
const reasonRequested = "Requested"

// updateRetention finds the StatefulSets of the current stage that have yet to learn
// what becomes of their volumes.
func (d *teardown) updateRetention() {
	var names []string
	for _, child := range d.left {
		if d.stage(child.component) < d.current {
			continue
		}
		if set := d.withRetention(child); set != nil {
			d.retained = append(d.retained, set)
			names = append(names, child.Ref())
		}
	}
	if len(names) > 0 {
		d.conditions.Set(conditionVolumesDeleted, metav1.ConditionFalse, reasonRequested,
			"has to learn first what becomes of its volumes: "+strings.Join(names, ", ")+"; where it cannot be updated, set storage.onDelete to Retain")
	}
}

// withRetention returns a StatefulSet with the retention policy that the spec asks for,
// which keeps the volumes where that cannot be read, or nil once its controller has
// observed that. The rest is kept unchanged: the current spec may be refused, and then
// it could never be deleted.
func (d *teardown) withRetention(child leftChild) metacontroller.Object {
	if child.Kind != metacontroller.StatefulSet.Kind || child.Terminating {
		return nil
	}
	wanted := appsv1.RetainPersistentVolumeClaimRetentionPolicyType
	u := d.product.unit(child.component)
	if d.mayDeleteVolumes && u != nil && u.name == child.Name && u.said.storage != nil && u.said.storage.OnDelete == Delete {
		wanted = appsv1.DeletePersistentVolumeClaimRetentionPolicyType
	}
	observed := d.observed.workload(StatefulSet, child.Name)
	if observed == nil || observed.Spec.Retention.WhenDeleted == "" || observed.Spec.Retention.WhenDeleted == wanted && observed.rollout().IsObserved() {
		return nil
	}
	return metacontroller.KeepWith(child.Snapshot, string(wanted), "spec", "persistentVolumeClaimRetentionPolicy", "whenDeleted")
}
