package dataservice

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/operetta-dev/operetta/internal/printable"
)

// Pod is what a component may say about its Pods, in Kubernetes' names.
type Pod struct {
	Container `json:",inline"`
	Placement `json:",inline"`

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
	LivenessProbe *Unchecked[corev1.Probe] `json:"livenessProbe,omitempty"`
	// ReadinessProbe replaces the default, TCP on port.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	ReadinessProbe *Unchecked[corev1.Probe] `json:"readinessProbe,omitempty"`
	// StartupProbe is a core/v1 Probe. There is none by default.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	StartupProbe *Unchecked[corev1.Probe] `json:"startupProbe,omitempty"`
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
	SecurityContext *Unchecked[corev1.SecurityContext] `json:"securityContext,omitempty"`
	// PodSecurityContext is the Pod's. seccomp defaults to RuntimeDefault.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	PodSecurityContext *Unchecked[corev1.PodSecurityContext] `json:"podSecurityContext,omitempty"`
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
	Affinity *Unchecked[corev1.Affinity] `json:"affinity,omitempty"`
	// ImagePullSecrets come after the product's.
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

// Unchecked is a type of Kubernetes'. The CRD says only that it is an object: with its fields,
// twelve times over, the CRD would be larger than kubectl apply takes. So nothing prunes an unknown
// field there, and what is wrong is told for the component.
type Unchecked[T any] struct {
	Value T
	Wrong string
}

// UnmarshalJSON implements [json.Unmarshaler].
func (u *Unchecked[T]) UnmarshalJSON(text []byte) error {
	u.Wrong = strictly(text, &u.Value)
	return nil
}

// value returns what is written, or nil.
func (u *Unchecked[T]) value() *T {
	if u == nil {
		return nil
	}
	return &u.Value
}

// wrong says what is wrong with it, or returns "".
func (u *Unchecked[T]) wrong() string {
	if u == nil {
		return ""
	}
	return u.Wrong
}

// Volume is a core/v1 Volume.
type Volume struct {
	// Name is what volumeMounts refer to.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
	// VolumeSource is where its content comes from.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	corev1.VolumeSource `json:",inline"`

	Wrong string `json:"-"`
}

// UnmarshalJSON implements [json.Unmarshaler].
func (v *Volume) UnmarshalJSON(text []byte) error {
	var volume corev1.Volume
	v.Wrong = strictly(text, &volume)
	v.Name, v.VolumeSource = volume.Name, volume.VolumeSource
	return nil
}

// largeExponent is a quantity that takes long to read.
var largeExponent = regexp.MustCompile(`"[-+]?[0-9.]+[eE][-+]?[0-9.]{3,}"`)

// strictly decodes what the CRD does not describe, with the limits that it has for other fields, and
// returns what is wrong with it, without its values.
func strictly(text []byte, into any) string {
	switch {
	case largeExponent.Match(text):
		return "a quantity has an exponent of more than two digits: write it with a suffix, as in 1Gi"
	case bytes.Contains(text, []byte("\u0085")), bytes.Contains(bytes.ToLower(text), []byte(`\u0085`)):
		return "a text contains the character U+0085, which Metacontroller cannot send: remove it"
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(into)
	var other *json.UnmarshalTypeError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &other):
		return fmt.Sprintf("%s is no %s", cmp.Or(other.Field, "it"), other.Type)
	case strings.HasPrefix(err.Error(), "json: unknown field"):
		return printable.Line(strings.TrimPrefix(err.Error(), "json: "), 100)
	}
	return "it has a value that cannot be read"
}

// wrong says which field is not as Kubernetes has it, or returns "".
func (p *Pod) wrong() string {
	found := map[string]string{
		"livenessProbe": p.LivenessProbe.wrong(), "readinessProbe": p.ReadinessProbe.wrong(), "startupProbe": p.StartupProbe.wrong(),
		"securityContext": p.SecurityContext.wrong(), "podSecurityContext": p.PodSecurityContext.wrong(), "affinity": p.Affinity.wrong(),
		"lifecycle": p.Lifecycle.wrong(), "dnsConfig": p.DNSConfig.wrong(),
	}
	for _, spread := range p.TopologySpreadConstraints {
		found["topologySpreadConstraints"] = cmp.Or(found["topologySpreadConstraints"], spread.Wrong)
	}
	for _, volume := range p.Volumes {
		found["volumes"] = cmp.Or(found["volumes"], volume.Wrong)
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if found[name] != "" {
			return name + ": " + found[name]
		}
	}
	return ""
}
