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

// volumesTime is how long a teardown waits for StatefulSets to take over that their
// volumes go with them. That takes seconds, unless the update fails each time: an
// admission webhook refuses it, or somebody has written annotations onto the set
// with which Metacontroller cannot update it. The volumes stay then.
const volumesTime = 5 * time.Minute

// conditionVolumesDeleted is False, and absent otherwise, in a teardown that waits
// for that or has given it up. Its lastTransitionTime remembers since when.
const conditionVolumesDeleted = "VolumesDeleted"

// Reasons of VolumesDeleted=False.
const (
	reasonAsked   = "Asked"
	reasonGivenUp = "GivenUp"
)

// tellSets finds the StatefulSets of the current stage that have yet to take over
// that their volumes go with them, unless they have had the time for it.
func (d *teardown) tellSets(now time.Time) {
	var names []string
	for _, child := range d.left {
		if d.stage(child.component) < d.current {
			continue
		}
		if set := d.withVolumes(child); set != nil {
			d.told = append(d.told, set)
			names = append(names, child.Ref())
		}
	}
	isGivenUp := d.product.ds.Status.VolumesGivenUp
	if len(d.told) == 0 && !isGivenUp {
		return
	}
	d.conditions.Set(conditionVolumesDeleted, metav1.ConditionFalse, reasonAsked,
		fmt.Sprintf("asked to delete its volumes with it: %s; they stay if it cannot be updated for %s", strings.Join(names, ", "), volumesTime))
	rest := volumesTime - now.Sub(d.conditions.Find(conditionVolumesDeleted).LastTransitionTime.Time)
	if rest > 0 && !isGivenUp {
		d.again = operator.Soonest(d.again, rest)
		return
	}
	d.told, d.hasGivenUp = nil, true
	d.conditions.Set(conditionVolumesDeleted, metav1.ConditionFalse, reasonGivenUp,
		fmt.Sprintf("a StatefulSet could not be updated for %s, and its volumes stay: delete its PersistentVolumeClaims", volumesTime))
}

// withVolumes returns a StatefulSet with the retention policy that deletes its
// claims, or nil once its controller has taken note of it. The rest of it stays as
// it is: what the spec asks for by now may be refused, and then it could never go.
func (d *teardown) withVolumes(child leftChild) metacontroller.Object {
	if !d.mayDeleteVolumes || child.Terminating || child.Kind != metacontroller.StatefulSet.Kind {
		return nil
	}
	u := d.product.unit(child.component)
	if u == nil || u.name != child.Name || u.said.storage == nil || u.said.storage.OnDelete != Delete {
		return nil
	}
	there := d.there.workload(StatefulSet, child.Name) // a search, which few get to
	if there == nil {
		return nil
	}
	goes := appsv1.DeletePersistentVolumeClaimRetentionPolicyType
	if there.Spec.Retention.WhenDeleted == goes && there.rollout().IsObserved() {
		return nil
	}
	return metacontroller.KeepWith(child.Snapshot, string(goes), "spec", "persistentVolumeClaimRetentionPolicy", "whenDeleted")
}
