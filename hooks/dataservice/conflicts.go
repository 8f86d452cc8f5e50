package dataservice

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/operetta-dev/operetta/metacontroller"
)

// maxObjectBytes is how large a child may be as Metacontroller applies it. Some room
// is left for what is added to the child after it is measured.
const maxObjectBytes = metacontroller.MaxAppliedBytes - 10<<10

// smallBytes is how much a user can write of what fits in any form: six bytes is
// the most that one of them takes in JSON, and a child has at most 8 KiB besides.
const smallBytes = 32 << 10

// tooLarge tells which field of the spec makes an object of a component too
// large, or nothing.
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

// yieldNodePorts tells which Service has a node port that a component wants, or
// nothing. Until that one goes or gives it up, to ask for the port is refused. A
// Service without node ports is asked for in the meantime: one that kept those it
// has would never give them up, and two that want each other's would wait for ever.
func yieldNodePorts(service *corev1.Service, there observed) string {
	for _, port := range service.Spec.Ports {
		holder := there.nodePortHolder(port.NodePort, service.Name)
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

// nodePortHolder returns a Service of another name that has a node port, or
// nothing.
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

// keepPolicy asks for the pod management policy that a StatefulSet has: it cannot
// be changed.
func keepPolicy(workload metacontroller.Object, there *observedWorkload) {
	if set, isSet := workload.(*appsv1.StatefulSet); isSet && there != nil && there.Spec.PodManagementPolicy != "" {
		set.Spec.PodManagementPolicy = there.Spec.PodManagementPolicy
	}
}

// isRival reports whether an observed object is a workload of another kind with
// the name of a component that must not run twice: the Service would send to both.
func isRival(child observedChild, u *unit) bool {
	return u.isSingle && u.runsHere() && child.Name == u.name && child.Kind != string(u.kind) &&
		slices.Contains([]string{metacontroller.Deployment.Kind, metacontroller.StatefulSet.Kind, metacontroller.DaemonSet.Kind}, child.Kind)
}

// rival returns what of another kind a component has to wait for: a workload of
// its name, or a Pod of that.
func (p *plan) rival(u *unit, workload *observedWorkload) string {
	for _, child := range p.there.children {
		if isRival(child, u) {
			return child.Ref()
		}
	}
	if !u.isSingle || workload != nil {
		return ""
	}
	for i := range p.there.pods {
		pod := &p.there.pods[i]
		if pod.Metadata.Labels.App == u.name && pod.isOwned() && pod.ownerKind() != podOwner[u.kind] {
			return pod.Ref()
		}
	}
	return ""
}

// podOwner is the kind of object that owns the Pods of a workload.
var podOwner = map[WorkloadKind]string{Deployment: "ReplicaSet", StatefulSet: "StatefulSet", DaemonSet: "DaemonSet"}
