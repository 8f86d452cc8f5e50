package dataservice

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"

	corev1 "k8s.io/api/core/v1"
	kjson "sigs.k8s.io/json"
)

// Pod is what a component may say about its Pods, in Kubernetes' names.
type Pod struct {
	// EnvFrom are ConfigMaps and Secrets with variables.
	// +optional
	// +listType=atomic
	EnvFrom []corev1.EnvFromSource `json:"envFrom,omitempty"`
	// EnvVars are variables, valueFrom included. They come last, as listed.
	// +optional
	// +listType=map
	// +listMapKey=name
	EnvVars []corev1.EnvVar `json:"envVars,omitempty"`
	// Command replaces the entrypoint of the image.
	// +optional
	// +listType=atomic
	Command []string `json:"command,omitempty"`
	// Args replaces the arguments of the image.
	// +optional
	// +listType=atomic
	Args []string `json:"args,omitempty"`
	// LivenessProbe is a core/v1 Probe. There is none by default.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	LivenessProbe *Probe `json:"livenessProbe,omitempty"`
	// ReadinessProbe replaces the default, TCP on port.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	ReadinessProbe *Probe `json:"readinessProbe,omitempty"`
	// StartupProbe is a core/v1 Probe. There is none by default.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	StartupProbe *Probe `json:"startupProbe,omitempty"`
	// Volumes are core/v1 Volumes.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=50
	Volumes []Volume `json:"volumes,omitempty"`
	// VolumeMounts mount them. One at a generated mountPath replaces it.
	// +optional
	// +listType=map
	// +listMapKey=mountPath
	// +kubebuilder:validation:MaxItems=50
	VolumeMounts []corev1.VolumeMount `json:"volumeMounts,omitempty"`
	// PodAnnotations are annotations of the Pods.
	// +optional
	// +kubebuilder:validation:MaxProperties=50
	PodAnnotations map[string]string `json:"podAnnotations,omitempty"`
	// SecurityContext is the container's.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	SecurityContext *SecurityContext `json:"securityContext,omitempty"`
	// PodSecurityContext is the Pod's. seccomp defaults to RuntimeDefault.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	PodSecurityContext *PodSecurityContext `json:"podSecurityContext,omitempty"`
	// NodeSelector chooses nodes by their labels.
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// Tolerations are core/v1 Tolerations.
	// +optional
	// +listType=atomic
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`
	// Affinity is a core/v1 Affinity.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Affinity *Affinity `json:"affinity,omitempty"`
	// ImagePullSecrets come after those of the product.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=10
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`
	// ServiceAccountName has its token mounted. Without it there is none.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
	// TerminationGracePeriodSeconds is 30 by default.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=86400
	TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds,omitempty"`
}

// The types below are Kubernetes' own. The CRD says only that they are objects: with their fields,
// twelve times over, it would be larger than kubectl apply takes. So a field that is unknown or
// has another type is refused here, and not pruned by the API server.
type (
	// Probe is a core/v1 Probe.
	Probe struct {
		corev1.Probe `json:",inline"`
	}
	// SecurityContext is a core/v1 SecurityContext.
	SecurityContext struct {
		corev1.SecurityContext `json:",inline"`
	}
	// PodSecurityContext is a core/v1 PodSecurityContext.
	PodSecurityContext struct {
		corev1.PodSecurityContext `json:",inline"`
	}
	// Affinity is a core/v1 Affinity.
	Affinity struct {
		corev1.Affinity `json:",inline"`
	}
	// Volume is a core/v1 Volume.
	Volume struct {
		// Name is what volumeMounts refer to.
		// +required
		// +kubebuilder:validation:MaxLength=63
		Name string `json:"name"`
		// VolumeSource is where its content comes from.
		// +optional
		// +kubebuilder:validation:Schemaless
		// +kubebuilder:pruning:PreserveUnknownFields
		corev1.VolumeSource `json:",inline"`
	}
)

// UnmarshalJSON implements [json.Unmarshaler].
func (p *Probe) UnmarshalJSON(text []byte) error { return strictly(text, &p.Probe) }

// UnmarshalJSON implements [json.Unmarshaler].
func (s *SecurityContext) UnmarshalJSON(text []byte) error {
	return strictly(text, &s.SecurityContext)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (s *PodSecurityContext) UnmarshalJSON(text []byte) error {
	return strictly(text, &s.PodSecurityContext)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (a *Affinity) UnmarshalJSON(text []byte) error { return strictly(text, &a.Affinity) }

// UnmarshalJSON implements [json.Unmarshaler].
func (v *Volume) UnmarshalJSON(text []byte) error {
	var volume corev1.Volume
	err := strictly(text, &volume)
	v.Name, v.VolumeSource = volume.Name, volume.VolumeSource
	return err
}

// largeExponent is a quantity that takes long to read.
var largeExponent = regexp.MustCompile(`"[-+]?[0-9.]+[eE][-+]?[0-9.]{3,}"`)

// strictly decodes what the CRD does not describe, with the limits that it has for other fields.
func strictly(text []byte, into any) error {
	switch {
	case largeExponent.Match(text):
		return errors.New("a quantity has an exponent of more than two digits: write it with a suffix, as in 1Gi")
	case bytes.Contains(text, []byte("\u0085")), bytes.Contains(bytes.ToLower(text), []byte(`\u0085`)):
		return errors.New("a text contains the character U+0085, which Metacontroller cannot send: remove it")
	}
	unknown, err := kjson.UnmarshalStrict(text, into)
	if err != nil {
		return fmt.Errorf("not as Kubernetes has it: %w", err)
	}
	return errors.Join(unknown...)
}
