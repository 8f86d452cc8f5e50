package kube

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// State is how an object is.
type State string

// The states of an object. [StateOf] never returns Gone.
const (
	Ready   State = "ready"
	Waiting State = "waiting"
	Failing State = "failing"
	Gone    State = "gone"
)

// withoutStatus are kinds that have a generation and no status.
var withoutStatus = []metacontroller.Resource{metacontroller.EndpointSlice, metacontroller.NetworkPolicy}

// StateOf returns the state of an object, as far as its own status tells it. What has no status is
// ready as soon as it is there.
func StateOf(object Object) State {
	ref := RefOf(object)
	owner, _ := ControllerOf(object)
	switch {
	case object.GetDeletionTimestamp() != nil:
		return Waiting
	case ref.Is(metacontroller.ReplicaSet) && owner.Is(metacontroller.Deployment):
		return Ready // the simulation leaves its Pods to the Deployment, and its status empty
	case isWorkload(ref):
		return stateOfWorkload(object)
	case ref.Is(metacontroller.Pod):
		return stateOfPod(object)
	case ref.Is(metacontroller.Job):
		return stateByConditions(object, "Complete", "Failed")
	case ref.Is(metacontroller.CronJob), ref.Is(metacontroller.PodDisruptionBudget), ref.Is(metacontroller.Ingress):
		return Ready
	case ref.Is(metacontroller.HorizontalPodAutoscaler):
		return stateByConditions(object, "AbleToScale", "")
	case ref.Is(metacontroller.PersistentVolumeClaim):
		phase, _, _ := unstructured.NestedString(object.Object, "status", "phase")
		return readyIf(phase == "Bound")
	case ref.Is(metacontroller.Service):
		kind, _, _ := unstructured.NestedString(object.Object, "spec", "type")
		return readyIf(kind != "LoadBalancer" || Progress(object) != "")
	}
	for _, kind := range withoutStatus {
		if ref.Is(kind) {
			return Ready
		}
	}
	if conditions, _, _ := unstructured.NestedFieldNoCopy(object.Object, "status", "conditions"); conditions != nil {
		return stateByConditions(object, operator.ConditionReady, operator.ConditionStalled)
	}
	return readyIf(object.GetGeneration() == 0 || object.Object["status"] != nil)
}

func readyIf(ready bool) State {
	if ready {
		return Ready
	}
	return Waiting
}

// stateByConditions returns the state by the condition that is True when all is well, and those
// that are True when something is wrong.
func stateByConditions(object Object, ready string, failing ...string) State {
	if ConditionOf(object, ready).Status == "True" {
		return Ready
	}
	for _, name := range failing {
		if ConditionOf(object, name).Status == "True" {
			return Failing
		}
	}
	return Waiting
}

// RolloutOf returns the rollout of a Deployment, ReplicaSet, StatefulSet or DaemonSet, and whether the
// object is one.
func RolloutOf(object Object) (operator.Rollout, bool) {
	if !isWorkload(RefOf(object)) {
		return operator.Rollout{}, false
	}
	var w operator.Workload
	if err := Decode(object, &w); err != nil {
		return operator.Rollout{}, false
	}
	return operator.RolloutOf(object.GetKind(), w.Metadata.Generation, w.Spec.Replicas, &w.Status), true
}

func isWorkload(ref Ref) bool {
	return ref.Is(metacontroller.Deployment) || ref.Is(metacontroller.ReplicaSet) || ref.Is(metacontroller.StatefulSet) || ref.Is(metacontroller.DaemonSet)
}

func stateOfWorkload(object Object) State {
	rollout, ok := RolloutOf(object)
	if !ok {
		return Waiting
	}
	switch rollout.Summary().State {
	case operator.Done, operator.Restarted:
		return Ready
	case operator.Failed, operator.Degraded:
		return Failing
	case operator.Progressing:
	}
	return Waiting
}

func stateOfPod(object Object) State {
	var pod struct {
		Status operator.PodStatus `json:"status"`
	}
	if err := Decode(object, &pod); err != nil {
		return Waiting
	}
	status := &pod.Status
	switch {
	case status.Phase == "Failed", !status.IsDone() && !status.IsReady() && status.IsStuck():
		return Failing
	}
	return readyIf(status.Phase == "Succeeded" || status.IsReady())
}
