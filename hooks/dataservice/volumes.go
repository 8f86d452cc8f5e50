package dataservice

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/metacontroller"
)

// conditionVolumesDeleted is False in a teardown that waits for StatefulSets to be
// updated so that their volumes are deleted with them, and absent otherwise.
const conditionVolumesDeleted = "VolumesDeleted"

// reasonAsked is the reason of VolumesDeleted=False.
const reasonAsked = "Asked"

// updateRetention finds the StatefulSets of the current stage that have yet to be
// updated so that their volumes are deleted with them.
func (d *teardown) updateRetention() {
	var names []string
	for _, child := range d.left {
		if d.stage(child.component) < d.current {
			continue
		}
		if set := d.withVolumes(child); set != nil {
			d.retained = append(d.retained, set)
			names = append(names, child.Ref())
		}
	}
	if len(names) > 0 {
		d.conditions.Set(conditionVolumesDeleted, metav1.ConditionFalse, reasonAsked,
			"asked to delete its volumes with it: "+strings.Join(names, ", ")+"; where it cannot be updated, set storage.onDelete to Retain")
	}
}

// withVolumes returns a StatefulSet with the retention policy that deletes its
// claims, or nil once its controller has observed that. The rest is kept
// unchanged: the current spec may be refused, and then it could never be
// deleted.
func (d *teardown) withVolumes(child leftChild) metacontroller.Object {
	u := d.product.unit(child.component)
	if !d.mayDeleteVolumes || u == nil || u.name != child.Name || u.said.storage == nil || u.said.storage.OnDelete != Delete {
		return nil
	}
	observed := d.observed.workload(StatefulSet, child.Name)
	if child.Kind != metacontroller.StatefulSet.Kind || child.Terminating || observed == nil {
		return nil
	}
	goes := appsv1.DeletePersistentVolumeClaimRetentionPolicyType
	if observed.Spec.Retention.WhenDeleted == goes && observed.rollout().IsObserved() {
		return nil
	}
	return metacontroller.KeepWith(child.Snapshot, string(goes), "spec", "persistentVolumeClaimRetentionPolicy", "whenDeleted")
}
