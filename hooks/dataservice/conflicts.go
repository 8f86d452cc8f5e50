package dataservice

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// maxObjectBytes is the size limit of a child as Metacontroller applies it,
// with some room for what is added after it is measured.
const maxObjectBytes = metacontroller.MaxAppliedBytes - 10<<10

// smallBytes is how much user text fits in any encoding: a byte takes up to six
// in JSON, and the rest of a child at most 8 KiB.
const smallBytes = 32 << 10

// tooLarge says which field of the spec makes an object of a component too
// large, or returns "".
func tooLarge(u *unit, all []metacontroller.Object) (string, error) {
	written := 0
	for _, content := range u.said.config {
		written += len(content)
	}
	for name, value := range u.said.env {
		written += len(name) + len(value)
	}
	if written <= smallBytes {
		return "", nil
	}
	for _, object := range all {
		size, err := metacontroller.AppliedSize(object)
		if err != nil {
			return "", fmt.Errorf("%s cannot be encoded: %w", refOf(object), err)
		}
		if size <= maxObjectBytes {
			continue
		}
		field := "env"
		if _, isConfigMap := object.(*corev1.ConfigMap); isConfigMap {
			field = "config"
		}
		return fmt.Sprintf("%s would have %d bytes of at most %d: make spec.%s.%s smaller", refOf(object), size, maxObjectBytes, u.key, field), nil
	}
	return "", nil
}

// yieldNodePorts removes the node ports from a Service if another Service still
// has one of them, and says which; the API server would refuse it. Without any
// node ports it gives up its own: two Services that want each other's would
// otherwise wait for ever.
func yieldNodePorts(service *corev1.Service, observed observed) string {
	for _, port := range service.Spec.Ports {
		holder := observed.nodePortHolder(port.NodePort, service.Name)
		if port.NodePort == 0 || holder == "" {
			continue
		}
		service.Spec.Type = corev1.ServiceTypeClusterIP
		for i := range service.Spec.Ports {
			service.Spec.Ports[i].NodePort = 0
		}
		return fmt.Sprintf("waits for node port %d, which %s still has", port.NodePort, holder)
	}
	return ""
}

// nodePortHolder returns a Service of another name that has a node port, or "".
func (o observed) nodePortHolder(number int32, name string) string {
	for _, service := range o.services {
		for _, port := range service.Spec.Ports {
			if port.NodePort == number && service.Name != name {
				return service.Ref()
			}
		}
	}
	return ""
}

// keepReplicas leaves the number of replicas of a workload to others where the spec has none.
// Of what must never run twice they may only stop the one Pod.
func keepReplicas(u *unit, workload metacontroller.Object, observed *observedWorkload) error {
	switch {
	case u.said.replica != nil || observed == nil:
		return nil
	case u.isSingle && observed.Spec.Replicas != nil && *observed.Spec.Replicas > 1:
		return operator.SetReplicas(workload, 1)
	default:
		return operator.PreserveReplicas(workload, observed.Snapshot, observed.Spec.Replicas)
	}
}

// keepPolicy copies the pod management policy of an observed StatefulSet, which
// is immutable.
func keepPolicy(workload metacontroller.Object, observed *observedWorkload) {
	if set, isSet := workload.(*appsv1.StatefulSet); isSet && observed != nil && observed.Spec.PodManagementPolicy != "" {
		set.Spec.PodManagementPolicy = observed.Spec.PodManagementPolicy
	}
}

// isRival reports whether an observed object is a workload of another kind with
// the name of a component that must not run twice: the Service would select
// both.
func isRival(child observedChild, u *unit) bool {
	return u.isSingle && u.runsHere() && child.Name == u.name && child.Kind != string(u.kind) &&
		slices.Contains([]string{metacontroller.Deployment.Kind, metacontroller.StatefulSet.Kind, metacontroller.DaemonSet.Kind}, child.Kind)
}

// rival returns what a component has to wait for: a workload of its name and
// another kind, or a Pod of that.
func (p *plan) rival(u *unit, workload *observedWorkload) string {
	for _, child := range p.observed.children {
		if isRival(child, u) {
			return child.Ref()
		}
	}
	if !u.isSingle || workload != nil {
		return ""
	}
	for i := range p.observed.pods {
		pod := &p.observed.pods[i]
		if pod.Metadata.Labels.App == u.name && pod.isOwned() && pod.ownerKind() != podOwner[u.kind] {
			return pod.Ref()
		}
	}
	return ""
}

// podOwner is the kind of object that owns the Pods of a workload.
var podOwner = map[WorkloadKind]string{Deployment: "ReplicaSet", StatefulSet: "StatefulSet", DaemonSet: "DaemonSet"}
