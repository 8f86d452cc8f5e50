package controllers

import (
	"fmt"
	"slices"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/operetta-dev/operetta/internal/lab/cluster/apiserver"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Endpoints returns where a Service leads to, as in "80 -> Pod/web-0:8080": ports of ready Pods that it
// selects, and on which they listen. They are computed when somebody asks: no controller reads
// EndpointSlices here, which would cost a write for each change of a Pod.
func (b *Builtin) Endpoints(service kube.Ref) (list []string) {
	s := apiserver.Typed[corev1.Service](b.server, service)
	if s == nil || len(s.Spec.Selector) == 0 || s.Spec.Type == corev1.ServiceTypeExternalName {
		return nil
	}
	selector := labels.SelectorFromSet(s.Spec.Selector)
	for _, object := range b.server.List("v1", metacontroller.Pod.Kind) {
		isReady := replicaOf(object).ready || s.Spec.PublishNotReadyAddresses
		if object.GetNamespace() != s.Namespace || !isReady || !selector.Matches(labels.Set(object.GetLabels())) {
			continue
		}
		pod := apiserver.Typed[corev1.Pod](b.server, kube.RefOf(object))
		for i := range s.Spec.Ports {
			if number, found := listensOn(pod, &s.Spec.Ports[i]); found {
				list = append(list, fmt.Sprintf("%d -> Pod/%s:%d", s.Spec.Ports[i].Port, pod.Name, number))
			}
		}
	}
	slices.Sort(list)
	return list
}

// listensOn returns the port of a Pod that a Service's port leads to. A name is found as in FindPort of
// pkg/api/v1/pod/util.go in k8s.io/kubernetes. A number leads nowhere where the Pod declares ports, and
// not that one; a Pod that declares none may listen on any.
func listensOn(pod *corev1.Pod, port *corev1.ServicePort) (number int32, found bool) {
	declares := false
	for _, container := range slices.Concat(pod.Spec.Containers, sidecars(pod)) {
		for _, declared := range container.Ports {
			declares = true
			isIt := declared.Name == port.TargetPort.StrVal
			if port.TargetPort.Type == intstr.Int {
				isIt = declared.ContainerPort == port.TargetPort.IntVal
			}
			if isIt && declared.Protocol == port.Protocol {
				return declared.ContainerPort, true
			}
		}
	}
	return port.TargetPort.IntVal, !declares && port.TargetPort.Type == intstr.Int
}

// sidecars returns the init containers that go on running.
func sidecars(pod *corev1.Pod) (list []corev1.Container) {
	for _, container := range pod.Spec.InitContainers {
		if isSidecar(&container) {
			list = append(list, container)
		}
	}
	return list
}
