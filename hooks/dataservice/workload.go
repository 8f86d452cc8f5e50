package dataservice

import (
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// dataVolume is the name of the volume claim of a component with storage.
const dataVolume = "data"

// objects returns the workload of a component, and the ConfigMaps and the Service that it
// refers to.
func (p *product) objects(u *unit) (workload metacontroller.Object, others []metacontroller.Object, err error) {
	configs := p.configMaps(u)
	for _, config := range configs {
		others = append(others, config.ConfigMap)
	}
	others = append(others, p.service(u))
	template, err := p.podTemplate(u, configs)
	switch meta := p.meta(u, u.name); u.kind {
	case StatefulSet:
		workload = p.statefulSet(u, meta, template)
	case DaemonSet:
		workload = &appsv1.DaemonSet{ObjectMeta: meta, Spec: appsv1.DaemonSetSpec{Selector: p.selector(u), Template: template}}
	default:
		deployment := &appsv1.Deployment{
			ObjectMeta: meta,
			Spec: appsv1.DeploymentSpec{
				Replicas: u.said.Replica, Selector: p.selector(u), Template: template, ProgressDeadlineSeconds: u.deadline(),
			},
		}
		deployment.Spec.Strategy = u.strategy()
		workload = deployment
	}
	return workload, others, err
}

// strategy returns how an update replaces the Pods, where that is not the default.
func (u *unit) strategy() appsv1.DeploymentStrategy {
	switch surge := u.said.MaxSurge; {
	case u.isSingle:
		return appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
	case surge == nil:
		return appsv1.DeploymentStrategy{}
	default:
		rolling := &appsv1.RollingUpdateDeployment{MaxSurge: new(intstr.FromInt32(*surge)), MaxUnavailable: new(intstr.FromString("25%"))}
		if *surge == 0 {
			rolling.MaxUnavailable = new(intstr.FromInt32(1))
		}
		return appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType, RollingUpdate: rolling}
	}
}

func (p *product) meta(u *unit, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: p.ds.Namespace, Labels: p.labels(u)}
}

func (p *product) labels(u *unit) map[string]string {
	all := operator.App{Name: u.key, Instance: p.ds.Name, Component: u.key, PartOf: "dataservice"}.Labels()
	maps.Copy(all, p.selector(u).MatchLabels)
	all[componentLabel] = u.key
	return all
}

func (p *product) selector(u *unit) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{productLabel: p.ds.Name, appLabel: u.name}}
}

func (p *product) statefulSet(u *unit, meta metav1.ObjectMeta, template corev1.PodTemplateSpec) *appsv1.StatefulSet {
	set := &appsv1.StatefulSet{
		ObjectMeta: meta,
		Spec: appsv1.StatefulSetSpec{
			Replicas: u.said.Replica, Selector: p.selector(u), ServiceName: u.name, Template: template,
			// With OrderedReady a Pod that never becomes ready is never
			// replaced, not even by a template that would fix it.
			PodManagementPolicy: appsv1.ParallelPodManagement,
		},
	}
	if u.said.storage == nil {
		return set
	}
	set.Spec.PersistentVolumeClaimRetentionPolicy = &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
		WhenDeleted: appsv1.RetainPersistentVolumeClaimRetentionPolicyType,
		WhenScaled:  appsv1.RetainPersistentVolumeClaimRetentionPolicyType,
	}
	storage := corev1.ResourceList{corev1.ResourceStorage: u.said.storage.Size}
	operator.RoundUpList(storage)
	set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{
		ObjectMeta: metav1.ObjectMeta{Name: dataVolume},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			StorageClassName: u.said.storage.StorageClassName,
			Resources:        corev1.VolumeResourceRequirements{Requests: storage},
		},
	}}
	return set
}

// allPorts returns the ports of the Service, the main one first.
func (u *unit) allPorts() []Port {
	return append([]Port{{Name: "main", Port: u.port, NodePort: u.said.NodePort}}, u.said.Ports...)
}

// service returns the Service in front of a component.
func (p *product) service(u *unit) *corev1.Service {
	service := &corev1.Service{
		ObjectMeta: p.meta(u, u.name),
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeClusterIP, Selector: p.selector(u).MatchLabels},
	}
	for _, port := range u.allPorts() {
		name := port.Name
		if len(u.said.Ports) == 0 {
			name = ""
		}
		exposed := corev1.ServicePort{Name: name, Protocol: corev1.ProtocolTCP, Port: port.Port, TargetPort: intstr.FromInt32(port.Port)}
		if port.NodePort != nil {
			service.Spec.Type, exposed.NodePort = corev1.ServiceTypeNodePort, *port.NodePort
		}
		service.Spec.Ports = append(service.Spec.Ports, exposed)
	}
	return service
}
