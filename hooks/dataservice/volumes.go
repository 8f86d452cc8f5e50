package dataservice

import (
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// volumesTime is how long a teardown waits for StatefulSets to be updated so
// that their volumes are deleted with them. That takes seconds, unless the
// update fails each time: an admission webhook refuses it, or somebody has
// written annotations onto the StatefulSet that Metacontroller cannot handle.
// The volumes are kept then.
const volumesTime = 5 * time.Minute

// conditionVolumesDeleted is False in a teardown that waits for that or has
// given up, and absent otherwise. Its lastTransitionTime stores since when.
const conditionVolumesDeleted = "VolumesDeleted"

// Reasons of VolumesDeleted=False.
const (
	reasonAsked   = "Asked"
	reasonGivenUp = "GivenUp"
)

// setVolumeRetention finds the StatefulSets of the current stage that have yet
// to be updated so that their volumes are deleted with them, within the time
// limit.
func (d *teardown) setVolumeRetention(now time.Time) {
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
	isGivenUp := d.product.ds.Status.VolumesGivenUp
	if len(d.retained) == 0 && !isGivenUp {
		return
	}
	d.conditions.Set(conditionVolumesDeleted, metav1.ConditionFalse, reasonAsked,
		fmt.Sprintf("asked to delete its volumes with it: %s; they stay if it cannot be updated for %s", strings.Join(names, ", "), volumesTime))
	rest := volumesTime - now.Sub(d.conditions.Find(conditionVolumesDeleted).LastTransitionTime.Time)
	if rest > 0 && !isGivenUp {
		d.resyncAfter = operator.Soonest(d.resyncAfter, rest)
		return
	}
	d.retained, d.hasGivenUp = nil, true
	d.conditions.Set(conditionVolumesDeleted, metav1.ConditionFalse, reasonGivenUp,
		fmt.Sprintf("a StatefulSet could not be updated for %s, and its volumes stay: delete its PersistentVolumeClaims", volumesTime))
}

// withVolumes returns a StatefulSet with the retention policy that deletes its
// claims, or nil once its controller has observed that. The rest is kept
// unchanged: the current spec may be refused, and then it could never be
// deleted.
func (d *teardown) withVolumes(child leftChild) metacontroller.Object {
	if !d.mayDeleteVolumes || child.Terminating || child.Kind != metacontroller.StatefulSet.Kind {
		return nil
	}
	u := d.product.unit(child.component)
	if u == nil || u.name != child.Name || u.said.storage == nil || u.said.storage.OnDelete != Delete {
		return nil
	}
	observed := d.observed.workload(StatefulSet, child.Name) // a linear search, but rarely reached
	if observed == nil {
		return nil
	}
	goes := appsv1.DeletePersistentVolumeClaimRetentionPolicyType
	if observed.Spec.Retention.WhenDeleted == goes && observed.rollout().IsObserved() {
		return nil
	}
	return metacontroller.KeepWith(child.Snapshot, string(goes), "spec", "persistentVolumeClaimRetentionPolicy", "whenDeleted")
}
