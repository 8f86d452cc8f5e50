package rediscache

import (
	"cmp"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// children returns the ConfigMap, the headless Service and the StatefulSet.
func children(cache *RedisCache) ([]metacontroller.Object, error) {
	config := configMap(cache)
	hash, err := operator.HashOf(config.Data)
	if err != nil {
		return nil, err
	}
	storage, err := resource.ParseQuantity(cache.Spec.Storage)
	if err != nil {
		return nil, fmt.Errorf("spec.storage: %w", err)
	}
	return []metacontroller.Object{config, service(cache), statefulSet(cache, storage, hash[:16])}, nil
}

func configMap(cache *RedisCache) *corev1.ConfigMap {
	var conf strings.Builder
	fmt.Fprintf(&conf, "dir /data\nmaxmemory-policy %s\n", cmp.Or(cache.Spec.Eviction, "noeviction"))
	if cache.Spec.MaxMemory != "" {
		fmt.Fprintf(&conf, "maxmemory %s\n", cache.Spec.MaxMemory)
	}
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: cache.Name, Labels: labels(cache)},
		Data:       map[string]string{"redis.conf": conf.String()},
	}
}

func service(cache *RedisCache) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: cache.Name, Labels: labels(cache)},
		Spec: corev1.ServiceSpec{
			ClusterIP: corev1.ClusterIPNone, Selector: selector(cache),
			Ports: []corev1.ServicePort{{Name: "redis", Port: 6379}},
		},
	}
}

func statefulSet(cache *RedisCache, storage resource.Quantity, configHash string) *appsv1.StatefulSet {
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: cache.Name, Labels: labels(cache)},
		Spec: appsv1.StatefulSetSpec{
			Replicas: cache.Spec.Replicas, ServiceName: cache.Name,
			Selector: &metav1.LabelSelector{MatchLabels: selector(cache)},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels(cache), Annotations: map[string]string{"acme.example.com/config": configHash}},
				Spec: corev1.PodSpec{
					SecurityContext: operator.SecurityContext(nil), Containers: containers(cache),
					Volumes: []corev1.Volume{{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
						LocalObjectReference: corev1.LocalObjectReference{Name: cache.Name},
					}}}},
				},
			},
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{
				ObjectMeta: metav1.ObjectMeta{Name: "data"},
				Spec: corev1.PersistentVolumeClaimSpec{
					AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
					Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: storage}},
				},
			}},
		},
	}
}

func containers(cache *RedisCache) []corev1.Container {
	redis := corev1.Container{
		Name: "redis", Image: cache.Spec.Image, Args: []string{"/etc/redis/redis.conf"},
		Ports:        []corev1.ContainerPort{{Name: "redis", ContainerPort: 6379}},
		VolumeMounts: []corev1.VolumeMount{{Name: "config", MountPath: "/etc/redis"}, {Name: "data", MountPath: "/data"}},
	}
	if cache.Spec.ExporterImage == "" {
		return []corev1.Container{redis}
	}
	return []corev1.Container{redis, {
		Name: "exporter", Image: cache.Spec.ExporterImage, Ports: []corev1.ContainerPort{{Name: "metrics", ContainerPort: 9121}},
	}}
}

func labels(cache *RedisCache) map[string]string {
	labels := operator.App{Name: "redis", Instance: cache.Name, Component: "cache", PartOf: "rediscache"}.Labels()
	labels["rediscache"] = cache.Name
	return labels
}

func selector(cache *RedisCache) map[string]string {
	return map[string]string{"rediscache": cache.Name}
}
