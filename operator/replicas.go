package operator

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/operetta-dev/operetta/metacontroller"
)

// KeepScaled is [metacontroller.Keep] for a workload of a kind that is updated in place, with
// another number of replicas and nothing else: what a rollout leaves behind is scaled to 0, and
// keeps the template that it had, whatever the spec says by now.
func KeepScaled(observed metacontroller.Snapshot, replicas int32) metacontroller.Object {
	return metacontroller.KeepWith(observed, int64(replicas), "spec", "replicas")
}

// SetReplicas sets the number of replicas of a Deployment, StatefulSet or ReplicaSet that its hash
// must not contain, so the workload is stamped here. A number that others own needs nothing: what
// a hook leaves out stays as it is. The error is that of [metacontroller.Stamp], or of another type.
func SetReplicas(workload metacontroller.Object, replicas int32) error {
	if err := metacontroller.Stamp(workload); err != nil {
		return err
	}
	switch workload := workload.(type) {
	case *appsv1.Deployment:
		workload.Spec.Replicas = &replicas
	case *appsv1.StatefulSet:
		workload.Spec.Replicas = &replicas
	case *appsv1.ReplicaSet:
		workload.Spec.Replicas = &replicas
	default:
		return fmt.Errorf("the replicas of a %T cannot be set", workload)
	}
	return nil
}
