// +groupName=ci.zt.vapi.cc
// +versionName=v1

package build

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Build runs a build of the newest revision of a Git repository.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=builds,singular=build,scope=Namespaced,shortName=bld,categories=operetta
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Revision",type=string,JSONPath=`.status.revision`
// +kubebuilder:printcolumn:name="Job",type=string,JSONPath=`.status.jobName`
// +kubebuilder:printcolumn:name="Duration",type=string,JSONPath=`.status.duration`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z0-9]([-a-z0-9]{0,50}[a-z0-9])?$')",message="metadata.name is part of the names of the Jobs: use at most 52 lower-case letters, digits and hyphens, beginning and ending with a letter or digit"
type Build struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	// +required
	Spec Spec `json:"spec"`
	// Status is the observed state.
	// +optional
	// +kubebuilder:default={conditions: {{type: "Ready", status: "Unknown", reason: "Pending", message: "no controller has seen this object yet", lastTransitionTime: "1970-01-01T00:00:00Z"}}}
	Status Status `json:"status,omitempty"`
}

// Spec is the desired state of a Build. What is built follows from source.git
// without its secretRef, from what runs (image, command, args, script, env,
// envFrom, volumeMounts, steps), from volumes and from runId: another value of
// any of these is another build. The rest applies from the next build on.
//
// +kubebuilder:validation:XValidation:rule="has(self.image) != has(self.steps)",message="set exactly one of image (a build of one step) and steps"
// +kubebuilder:validation:XValidation:rule="!has(self.steps) || !(has(self.command) || has(self.args) || has(self.script) || has(self.env) || has(self.envFrom) || has(self.resources) || has(self.volumeMounts) || has(self.securityContext))",message="command, args, script, env, envFrom, resources, volumeMounts and securityContext cannot be set together with steps: set them in each step"
// +kubebuilder:validation:XValidation:rule="!has(self.script) || !(has(self.command) || has(self.args))",message="script cannot be set together with command or args: remove one of them"
// +kubebuilder:validation:XValidation:rule="!has(self.volumeMounts) || [has(self.volumes) ? self.volumes.map(v, v.name) : []].all(names, self.volumeMounts.all(m, m.name in names))",message="volumeMounts has a name that is not in volumes: add the volume, or correct the name"
// +kubebuilder:validation:XValidation:rule="!has(self.steps) || [has(self.volumes) ? self.volumes.map(v, v.name) : []].all(names, self.steps.all(s, !has(s.volumeMounts) || s.volumeMounts.all(m, m.name in names)))",message="a step's volumeMounts has a name that is not in volumes: add the volume, or correct the name"
type Spec struct {
	// Source is where the code is.
	// +required
	Source Source `json:"source"`
	// Work is what the build runs, when it has one step.
	Work `json:",inline"`
	// Steps run one after the other, each when the one before has succeeded. They
	// share /workspace.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:XValidation:rule="self.all(s, s.name != 'clone')",message="the name clone is reserved for the step that fetches the code: use another name"
	Steps []Step `json:"steps,omitempty"`
	// Volumes can be mounted by the steps: caches, say, or configuration.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:XValidation:rule="self.all(v, !(v.name in ['workspace', 'clone-tmp', 'git-credentials']))",message="the volume names workspace, clone-tmp and git-credentials are reserved: use another name"
	Volumes []corev1.Volume `json:"volumes,omitempty"`
	// RunID runs the same revision again when it is changed. Any text will do.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	RunID string `json:"runId,omitempty"`

	// ConcurrencyPolicy says what happens to a build that still runs when
	// another is wanted: Replace, the default, deletes it, and the new one begins
	// when it and its Pods are gone; Forbid lets it finish first, and then runs
	// the newest spec; Allow runs both.
	// +optional
	// +kubebuilder:default=Replace
	// +kubebuilder:validation:Enum=Replace;Forbid;Allow
	ConcurrencyPolicy ConcurrencyPolicy `json:"concurrencyPolicy,omitempty"`
	// HistoryLimit is how many finished Jobs are kept for their logs.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=50
	HistoryLimit *int32 `json:"historyLimit,omitempty"`
	// TimeoutSeconds is the longest that a build may take, its retries included.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	TimeoutSeconds *int64 `json:"timeoutSeconds,omitempty"`
	// BackoffLimit is how often a build that fails is tried again, from the clone
	// on.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10
	BackoffLimit *int32 `json:"backoffLimit,omitempty"`
	// ServiceAccountName is the ServiceAccount of the Pod. Without it there is no
	// token in the containers.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self == '' || self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="the name of a ServiceAccount must consist of lower-case letters, digits, hyphens and dots, and begin and end with a letter or digit"
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
	// ImagePullSecrets are Secrets for pulling the images.
	// +optional
	// +listType=map
	// +listMapKey=name
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`
	// PodSecurityContext is that of the Pod. Where it has no fsGroup, that is
	// 65534, which lets a builder of any user write to /workspace. The seccomp
	// profile is RuntimeDefault where none is written.
	// +optional
	PodSecurityContext *corev1.PodSecurityContext `json:"podSecurityContext,omitempty"`
	// NodeSelector chooses nodes by their labels.
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// Tolerations let the Pod run on tainted nodes.
	// +optional
	// +listType=atomic
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`
}

// Source is where the code is.
type Source struct {
	// Git is a Git repository.
	// +required
	Git Git `json:"git"`
}

// Git is a revision of a Git repository.
type Git struct {
	// URL is the address of the repository, over HTTPS or SSH, without
	// credentials.
	// +required
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self.matches('^((https?|git)://[^-/@?#[:space:][:cntrl:]][^/@?#[:space:][:cntrl:]]*/|ssh://([A-Za-z0-9._][A-Za-z0-9._-]*@)?[^-/@:?#[:space:][:cntrl:]][^/@?#[:space:][:cntrl:]]*/|[A-Za-z0-9._][A-Za-z0-9._-]*@[A-Za-z0-9][A-Za-z0-9.-]*:)[^?#[:space:][:cntrl:]]+$')",message="use https://host/path, ssh://user@host/path or user@host:path, without a newline, ? or #, where user and host do not begin with -; put passwords and tokens into a Secret and set secretRef"
	URL string `json:"url"`
	// Revision is a branch, a tag or a commit. Where a branch and a tag have the
	// same name, it is the tag. A branch that moves on is no change of the spec:
	// write the commit, or change runId.
	// +required
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.matches('^[^-+~^:?*\\\\[\\\\\\\\[:space:][:cntrl:]][^~^:?*\\\\[\\\\\\\\[:space:][:cntrl:]]*$')",message="use the name of a branch or tag, or a commit: it cannot begin with - or +, nor contain a space, a newline, ~ ^ : ? * [ or a backslash"
	Revision string `json:"revision"`
	// SubPath is the folder in the repository in which the build runs.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('/') && self.split('/').all(p, p != '..') && !self.matches('[[:cntrl:]]')",message="use the path of a folder within the repository: it cannot begin with a slash, nor contain .. or a newline"
	SubPath string `json:"subPath,omitempty"`
	// SecretRef names a Secret in the same namespace with what a private
	// repository asks for: username and password (or a token as password) for
	// HTTPS, ssh-privatekey and perhaps known_hosts for SSH. Without known_hosts,
	// the host's first answer is trusted.
	// +optional
	SecretRef *SecretRef `json:"secretRef,omitempty"`
	// Image is the image of the container that clones, for clusters that cannot
	// pull the default one. It has git, ssh and a POSIX shell.
	// +optional
	Image string `json:"image,omitempty"`
}

// SecretRef names a Secret in the same namespace.
type SecretRef struct {
	// Name is the name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="the name of a Secret must consist of lower-case letters, digits, hyphens and dots, and begin and end with a letter or digit"
	Name string `json:"name"`
}

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
	// Args replaces the arguments of the image.
	// +optional
	// +listType=atomic
	Args []string `json:"args,omitempty"`
	// Script is run by the image's /bin/sh, whatever its entrypoint, and ends
	// with the first command that fails.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=65536
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('#!')",message="script is run by /bin/sh and cannot begin with #!: remove that line, or use command and args for another interpreter"
	Script string `json:"script,omitempty"`
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
	// VolumeMounts mount volumes. The repository is at /workspace.
	// +optional
	// +listType=map
	// +listMapKey=mountPath
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:XValidation:rule="self.all(m, m.mountPath != '/workspace' && m.mountPath != '/workspace/')",message="/workspace is where the repository is mounted: use another mountPath"
	VolumeMounts []corev1.VolumeMount `json:"volumeMounts,omitempty"`
	// SecurityContext is that of the container.
	// +optional
	SecurityContext *corev1.SecurityContext `json:"securityContext,omitempty"`
}

// Step is one of several containers that run one after the other.
//
// +kubebuilder:validation:XValidation:rule="has(self.image)",message="a step needs an image: set image"
// +kubebuilder:validation:XValidation:rule="!has(self.script) || !(has(self.command) || has(self.args))",message="a step cannot have script together with command or args: remove one of them"
type Step struct {
	// Name is the name of the container.
	// +required
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="a step's name must consist of lower-case letters, digits and hyphens, and begin and end with a letter or digit"
	Name string `json:"name"`
	// Work is what the step runs.
	Work `json:",inline"`
}

// ConcurrencyPolicy says what happens to a build that still runs when another is
// wanted.
type ConcurrencyPolicy string

// The policies.
const (
	Replace ConcurrencyPolicy = "Replace"
	Forbid  ConcurrencyPolicy = "Forbid"
	Allow   ConcurrencyPolicy = "Allow"
)
