package podbuggertool

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

const (
	// customAnnotation of a Job's Pod is the file for kubectl debug --custom. The downward API
	// makes a file of it: a Job cannot have one of its own, and the image need not have a shell.
	customAnnotation = "operetta.dev/custom-container"
	customDir        = "/etc/podbuggertool"
	customFile       = "container.json"
)

// Custom is the part of the debug container that kubectl debug takes from a file. All of it is
// written to that file.
type Custom struct {
	// Stdin keeps the standard input of the container open, as kubectl attach
	// --stdin needs it.
	// +optional
	Stdin bool `json:"stdin,omitempty"`
	// TTY gives the container a terminal, which needs stdin, too.
	// +optional
	TTY bool `json:"tty,omitempty"`
	// EnvFrom are ConfigMaps and Secrets of the namespace whose entries become
	// environment variables. One in env takes precedence.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	EnvFrom []corev1.EnvFromSource `json:"envFrom,omitempty"`
	// VolumeMounts mount volumes that the Pods have. A Pod without a volume of
	// that name is reported as failed.
	// +optional
	// +listType=map
	// +listMapKey=mountPath
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:XValidation:rule="self.all(m, (!has(m.subPath) || m.subPath == '') && (!has(m.subPathExpr) || m.subPathExpr == ''))",message="a debug container cannot mount a part of a volume: remove subPath and subPathExpr, and look for it below mountPath"
	VolumeMounts []corev1.VolumeMount `json:"volumeMounts,omitempty"`
	// SecurityContext is that of the container. What it sets takes the place of
	// what the profile sets.
	// +optional
	SecurityContext *corev1.SecurityContext `json:"securityContext,omitempty"`
}

// customContainer returns the content of the file, or "" if there is no need of one.
func (c *Custom) customContainer() (string, error) {
	content, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("encoding the container for kubectl debug: %w", err)
	}
	if string(content) == "{}" {
		return "", nil
	}
	return string(content), nil
}

// mountCustom lets kubectl read the file.
func mountCustom(template *corev1.PodTemplateSpec, content string) {
	const volume = "custom"
	template.Annotations = map[string]string{customAnnotation: content}
	template.Spec.Volumes = append(template.Spec.Volumes, corev1.Volume{
		Name: volume,
		VolumeSource: corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{
			Items: []corev1.DownwardAPIVolumeFile{{
				Path:     customFile,
				FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.annotations['" + customAnnotation + "']"},
			}},
			DefaultMode: new(corev1.DownwardAPIVolumeSourceDefaultMode),
		}},
	})
	kubectl := &template.Spec.Containers[0]
	kubectl.VolumeMounts = append(kubectl.VolumeMounts, corev1.VolumeMount{Name: volume, MountPath: customDir, ReadOnly: true})
	kubectl.Args = slices.Insert(kubectl.Args, 2, "--custom="+path.Join(customDir, customFile)) // behind debug and the Pod
}
