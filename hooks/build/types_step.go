package build

import (
	corev1 "k8s.io/api/core/v1"
)

// Work is what a container of the build runs. With neither command, args nor
// script, that is the entrypoint of its image.
type Work struct {
	// Image is the builder.
	// +optional
	// +kubebuilder:validation:MinLength=1
	Image string `json:"image,omitempty"`
	// Command replaces the entrypoint of the image.
	// +optional
	// +listType=atomic
	Command []string `json:"command,omitempty"`
	// Args replaces the arguments of the image. With script they are its arguments,
	// "$@".
	// +optional
	// +listType=atomic
	Args []string `json:"args,omitempty"`
	// Script is run whatever the entrypoint of the image is. Where it begins with
	// a line as #!/usr/bin/env python3, that interpreter of the image runs it;
	// otherwise it is /bin/sh, and the script ends with the first command that
	// fails. Args are its arguments.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=65536
	Script string `json:"script,omitempty"`
	// WorkingDir is where it runs: a path, or one that is relative to workspacePath.
	// Without it, that is the folder source.git.subPath of the repository.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	WorkingDir string `json:"workingDir,omitempty"`
	// ImagePullPolicy is Always, IfNotPresent or Never. Without it, that is Always
	// for an image with the tag latest or none, and IfNotPresent for others.
	// +optional
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty"`
	// Env are environment variables.
	// +optional
	// +listType=map
	// +listMapKey=name
	Env []corev1.EnvVar `json:"env,omitempty"`
	// EnvFrom are ConfigMaps and Secrets whose entries become environment
	// variables.
	// +optional
	// +listType=atomic
	EnvFrom []corev1.EnvFromSource `json:"envFrom,omitempty"`
	// Resources are requests and limits.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`
	// VolumeMounts mount volumes. The repository is at workspacePath.
	// +optional
	// +listType=map
	// +listMapKey=mountPath
	// +kubebuilder:validation:MaxItems=20
	VolumeMounts []corev1.VolumeMount `json:"volumeMounts,omitempty"`
	// SecurityContext is the container's.
	// +optional
	SecurityContext *corev1.SecurityContext `json:"securityContext,omitempty"`
}

// Step is one of several containers that run one after the other.
//
// +kubebuilder:validation:XValidation:rule="has(self.image)",message="a step needs an image: set image"
// +kubebuilder:validation:XValidation:rule="!has(self.script) || !has(self.command)",message="a step cannot have script together with command: remove one of them"
// +kubebuilder:validation:XValidation:rule="!has(self.timeoutSeconds) && !has(self.when) && self.?onError.orValue('stopAndFail') != 'continue' || has(self.command) || has(self.script)",message="a step with timeoutSeconds, onError or when needs command or script, because what the image runs by itself is not known: write it as command"
type Step struct {
	// Name is the name of the container. A step named clone has the container
	// step-clone, because clone is the container that fetches the code. So have a step
	// named results, if there are results, and a step named prepare without a source.
	// +required
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="a step's name must consist of lower-case letters, digits and hyphens, and begin and end with a letter or digit"
	Name string `json:"name"`
	// Work is what the step runs.
	Work `json:",inline"`
	// TimeoutSeconds is the longest that the step may take. It needs /bin/sh and
	// timeout in the image.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	TimeoutSeconds *int64 `json:"timeoutSeconds,omitempty"`
	// OnError says what happens when the step fails: stopAndFail, the default,
	// fails the build; continue goes on with the next step, and needs /bin/sh in
	// the image.
	// +optional
	// +kubebuilder:validation:Enum=stopAndFail;continue
	OnError OnError `json:"onError,omitempty"`
	// When are conditions: the step is skipped, and ends well, unless all of them
	// hold. It needs /bin/sh and cat in the image.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	When []When `json:"when,omitempty"`
}

// When is a condition on what an earlier step has written, or on a variable.
//
// +kubebuilder:validation:XValidation:rule="has(self.result) != has(self.env)",message="set exactly one of result and env"
type When struct {
	// Result is the name of a result of the build, without the newline at its end.
	// A result that no step has written is empty.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Result string `json:"result,omitempty"`
	// Env is the name of an environment variable of the step. A variable that is not
	// set is empty.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z_][A-Za-z0-9_]*$')",message="use the name of a variable that a shell can read: letters, digits and underscores, not beginning with a digit"
	Env string `json:"env,omitempty"`
	// Operator is in or notin.
	// +required
	// +kubebuilder:validation:Enum=in;notin
	Operator string `json:"operator"`
	// Values are those that it is compared with.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MaxLength=1024
	Values []string `json:"values"`
}

// Sidecar is a container that runs beside the steps, such as a Docker daemon or a
// database for tests.
//
// +kubebuilder:validation:XValidation:rule="has(self.image)",message="a sidecar needs an image: set image"
// +kubebuilder:validation:XValidation:rule="!has(self.script) || !has(self.command)",message="a sidecar cannot have script together with command: remove one of them"
type Sidecar struct {
	// Name is the name of the container.
	// +required
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$') && !(self in ['clone', 'results'])",message="a sidecar's name must consist of lower-case letters, digits and hyphens, begin and end with a letter or digit, and be neither clone nor results"
	Name string `json:"name"`
	// Work is what the sidecar runs.
	Work `json:",inline"`
	// StartupProbe is what the first step waits for. Without it, that is the start of
	// the container.
	// +optional
	StartupProbe *corev1.Probe `json:"startupProbe,omitempty"`
}

// OnError says what happens when a step fails.
type OnError string

// What happens, in Tekton's words.
const (
	StopAndFail OnError = "stopAndFail"
	Continue    OnError = "continue"
)

// ResultType is what a result is.
type ResultType string

// ResultArray is a JSON array of strings; other results are texts.
const ResultArray ResultType = "array"

// DeclaredResult is a small text, or several, that a step writes.
type DeclaredResult struct {
	// Name is the name of the file in the folder /operetta/results, whose path is
	// in the variable RESULTS_DIR of the steps.
	// +required
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9][-A-Za-z0-9_.]*$')",message="the name of a result must consist of letters, digits, hyphens, underscores and dots, and begin with a letter or digit"
	Name string `json:"name"`
	// Type is string, the default, or array: then the file has a JSON array of
	// strings.
	// +optional
	// +kubebuilder:validation:Enum=string;array
	Type ResultType `json:"type,omitempty"`
	// Description is for people.
	// +optional
	Description string `json:"description,omitempty"`
}
