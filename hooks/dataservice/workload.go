package dataservice

import (
	"fmt"
	"maps"
	"slices"

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
			Spec:       appsv1.DeploymentSpec{Replicas: u.said.Replica, Selector: p.selector(u), Template: template},
		}
		if u.isSingle {
			deployment.Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType
		}
		workload = deployment
	}
	return workload, others, err
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

func (p *product) podTemplate(u *unit, configs []configMap) (corev1.PodTemplateSpec, error) {
	container := corev1.Container{
		Name:  u.key,
		Image: u.image,
		Env:   p.environment(u),
		ReadinessProbe: &corev1.Probe{
			ProbeHandler:  corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(u.port)}},
			PeriodSeconds: 5,
		},
	}
	for _, port := range u.allPorts() {
		container.Ports = append(container.Ports, corev1.ContainerPort{ContainerPort: port.Port, Protocol: corev1.ProtocolTCP})
	}
	if u.said.Resources != nil {
		container.Resources = *u.said.Resources
	}
	template := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: p.labels(u)},
		Spec: corev1.PodSpec{
			AutomountServiceAccountToken: new(false),
			// A Service named eureka would set EUREKA_PORT in every container, and
			// Spring would read it.
			EnableServiceLinks: new(false),
			SecurityContext:    operator.SecurityContext(nil),
			ImagePullSecrets:   p.ds.Spec.ImagePullSecrets,
		},
	}
	for _, config := range configs {
		container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{
			Name: config.volume, MountPath: config.path, SubPath: config.file, ReadOnly: true,
		})
		template.Spec.Volumes = append(template.Spec.Volumes, corev1.Volume{
			Name: config.volume, VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: config.Name},
			}},
		})
	}
	if u.said.storage != nil {
		container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: dataVolume, MountPath: u.dataPath})
	}
	template.Spec.Containers = []corev1.Container{container}
	operator.RoundUp(&template.Spec)
	if p.needsEscaping(u) {
		p.escapeCredentials(&template)
	}
	hash, err := configHash(configs)
	if hash != "" {
		template.Annotations = map[string]string{configHashAnnotation: hash}
	}
	return template, err
}

// configHash returns a hash of the configuration that restarts the Pods when it
// changes, or "" if there is none.
func configHash(configs []configMap) (string, error) {
	hashed := map[string]map[string]string{}
	for _, config := range configs {
		if !config.isOnce {
			hashed[config.volume] = config.Data
		}
	}
	if len(hashed) == 0 {
		return "", nil
	}
	hash, err := operator.HashOf(hashed)
	if err != nil {
		return "", fmt.Errorf("the configuration: %w", err)
	}
	return hash[:16], nil
}

// environment returns the variables, each once: the user's replace the others.
func (p *product) environment(u *unit) []corev1.EnvVar {
	var all []corev1.EnvVar
	add := func(variable corev1.EnvVar) {
		_, isUsers := u.said.Env[variable.Name]
		isThere := slices.ContainsFunc(all, func(v corev1.EnvVar) bool { return v.Name == variable.Name })
		if !isUsers && !isThere {
			all = append(all, variable)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(u.env)) {
		add(corev1.EnvVar{Name: name, Value: u.env[name]})
	}
	if u.said.credentials != nil {
		for _, key := range slices.Sorted(maps.Keys(u.secretEnv)) {
			variable := fromSecret(u.secretEnv[key], u.said.credentials, key)
			if u.user == "" {
				variable = optional(variable)
			}
			add(variable)
		}
	}
	for _, key := range u.uses {
		if used := p.unit(key); used != nil {
			for _, variable := range used.credentialEnv() {
				add(variable)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(u.said.Env)) {
		all = append(all, corev1.EnvVar{Name: name, Value: u.said.Env[name]})
	}
	return all
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
		service.Spec.Ports = append(service.Spec.Ports, corev1.ServicePort{
			Name: name, Protocol: corev1.ProtocolTCP, Port: port.Port, TargetPort: intstr.FromInt32(port.Port), NodePort: port.NodePort,
		})
		if port.NodePort != 0 {
			service.Spec.Type = corev1.ServiceTypeNodePort
		}
	}
	return service
}
