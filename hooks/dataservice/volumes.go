package dataservice

import (
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// conditionVolumesDeleted is absent but in a teardown that waits for StatefulSets to learn
// what becomes of their volumes. It is False while one is to delete them, and Unknown while
// none is (any more).
const conditionVolumesDeleted = "VolumesDeleted"

// reasonRequested is the reason of VolumesDeleted.
const reasonRequested = "Requested"

// commitDelay is how long to wait for a status to be stored, which alone does not make
// Metacontroller call again.
const commitDelay = 2 * time.Second

// updateRetention finds the StatefulSets of the current stage that have yet to learn
// what becomes of their volumes. The status says that they are to be deleted before a
// StatefulSet does: whoever changes that to Retain then keeps them, although the
// StatefulSet in the cache may be older than what it was told.
func (d *teardown) updateRetention(now time.Time) {
	told := meta.FindStatusCondition(d.product.ds.Status.Conditions, conditionVolumesDeleted)
	isTold := told != nil && told.Status == metav1.ConditionFalse
	isLate := isTold || told != nil && now.Sub(told.LastTransitionTime.Time) < operator.ChildGrace
	var names []string
	status := metav1.ConditionUnknown
	for _, child := range d.left {
		set := d.observed.workload(StatefulSet, child.Name)
		if d.stage(child.component) < d.current || child.Kind != metacontroller.StatefulSet.Kind || child.Terminating || set == nil || set.Spec.Retention.WhenDeleted == "" {
			continue
		}
		wanted, isKnown := appsv1.RetainPersistentVolumeClaimRetentionPolicyType, !isLate
		if d.deletesVolumes(child) {
			wanted, isKnown = appsv1.DeletePersistentVolumeClaimRetentionPolicyType, true
		}
		if isKnown && set.Spec.Retention.WhenDeleted == wanted && set.rollout().IsObserved() {
			continue
		}
		if d.deletesVolumes(child) {
			status = metav1.ConditionFalse
			if !isTold {
				wanted = set.Spec.Retention.WhenDeleted
			}
		}
		// The rest is kept unchanged: the current spec may be refused, and then it could
		// never be deleted.
		d.retained = append(d.retained, metacontroller.KeepWith(child.Snapshot, string(wanted), "spec", "persistentVolumeClaimRetentionPolicy", "whenDeleted"))
		names = append(names, child.Ref())
	}
	if len(names) > 0 {
		again := operator.ChildGrace
		if !isTold && status == metav1.ConditionFalse {
			again = commitDelay
		}
		d.resyncAfter = operator.Soonest(d.resyncAfter, again)
		d.conditions.Set(conditionVolumesDeleted, status, reasonRequested,
			"has to learn first what becomes of its volumes: "+strings.Join(names, ", ")+"; where it cannot be updated, set storage.onDelete to Retain")
	}
}

// deletesVolumes reports whether the spec asks for the deletion of a StatefulSet's volumes,
// as far as it can be read.
func (d *teardown) deletesVolumes(child leftChild) bool {
	u := d.product.unit(child.component)
	return d.mayDeleteVolumes && u != nil && u.name == child.Name && u.said.storage != nil && u.said.storage.OnDelete == Delete
}
