package dataservice

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// addVolumes adds the configuration, the storage and the user's volumes to a Pod with one container.
// A user's mount replaces a generated one at the same path.
func addVolumes(u *unit, configs []configMap, spec *corev1.PodSpec, container *corev1.Container) {
	said := &u.said.Pod
	mount := func(generated corev1.VolumeMount) {
		isThere := slices.ContainsFunc(said.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == generated.MountPath })
		if !isThere {
			container.VolumeMounts = append(container.VolumeMounts, generated)
		}
	}
	for _, config := range configs {
		name := u.volumeName(config.volume)
		mount(corev1.VolumeMount{Name: name, MountPath: config.path, SubPath: config.file, ReadOnly: true})
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: config.Name},
		}}})
	}
	if u.said.storage != nil {
		mount(corev1.VolumeMount{Name: dataVolume, MountPath: u.dataPath})
	}
	for _, volume := range said.Volumes {
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: volume.Name, VolumeSource: volume.VolumeSource})
	}
	container.VolumeMounts = append(container.VolumeMounts, said.VolumeMounts...)
}

// volumeName returns the name of a generated volume, which is another one where a user's has it.
func (u *unit) volumeName(name string) string {
	for slices.ContainsFunc(u.said.Volumes, func(v Volume) bool { return v.Name == name }) {
		name = "generated-" + name
	}
	return name
}
