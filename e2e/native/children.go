package main

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func labels(box *ModelBox) map[string]string {
	return map[string]string{
		"app.kubernetes.io/component": "model-server", "app.kubernetes.io/instance": box.Name,
		"app.kubernetes.io/managed-by": "native", "app.kubernetes.io/name": box.Name,
		"app.kubernetes.io/part-of": "modelbox", "modelbox": box.Name,
	}
}

func selector(box *ModelBox) map[string]string { return map[string]string{"modelbox": box.Name} }

// deployment is that of Operetta's ModelBox, with its default probes.
func deployment(box *ModelBox) *appsv1.Deployment {
	ratio := intstr.FromString("25%")
	main := corev1.Container{Name: box.Name, Image: box.Spec.Image}
	for _, port := range box.Spec.Ports {
		main.Ports = append(main.Ports, corev1.ContainerPort{ContainerPort: port.Port, Protocol: corev1.ProtocolTCP})
	}
	if len(box.Spec.Ports) > 0 {
		probe := func(period, failures int32) *corev1.Probe {
			open := corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(box.Spec.Ports[0].Port)}}
			return &corev1.Probe{ProbeHandler: open, PeriodSeconds: period, FailureThreshold: failures}
		}
		main.LivenessProbe, main.ReadinessProbe, main.StartupProbe = probe(10, 3), probe(10, 3), probe(5, 60)
	}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: box.Name, Namespace: box.Namespace, Labels: labels(box)},
		Spec: appsv1.DeploymentSpec{
			Replicas: box.Spec.Replicas, MinReadySeconds: 3,
			Selector: &metav1.LabelSelector{MatchLabels: selector(box)},
			Strategy: appsv1.DeploymentStrategy{
				Type:          appsv1.RollingUpdateDeploymentStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDeployment{MaxUnavailable: &ratio, MaxSurge: &ratio},
			},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels(box)},
				Spec: corev1.PodSpec{
					Containers:      []corev1.Container{main},
					SecurityContext: &corev1.PodSecurityContext{SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}},
				},
			},
		},
	}
}

func service(box *ModelBox) *corev1.Service {
	var ports []corev1.ServicePort
	for _, port := range box.Spec.Ports {
		ports = append(ports, corev1.ServicePort{Port: port.Port, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromInt32(port.Port)})
	}
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: box.Name, Namespace: box.Namespace, Labels: labels(box)},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeClusterIP, Selector: selector(box), Ports: ports},
	}
}
