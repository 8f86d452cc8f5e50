// +groupName=ci.zt.vapi.cc
// +versionName=v1

package build

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Build runs a build: of the newest revision of a Git repository, or of none.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=builds,singular=build,scope=Namespaced,shortName=bld,categories=operetta
// +kubebuilder:subresource:status
// +kubebuilder:selectablefield:JSONPath=`.status.phase`
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
// without its secretRef, env, image and resources, from what runs (image, command, args,
// script, workingDir, env, envFrom, volumeMounts, steps with onError and when,
// sidecars), from volumes, from workspacePath, from the names of results and from runId:
// another value of any of these is another build. The rest applies from the next build on.
//
// +kubebuilder:validation:XValidation:rule="has(self.image) != has(self.steps)",message="set exactly one of image (a build of one step) and steps"
// +kubebuilder:validation:XValidation:rule="!has(self.steps) || !(has(self.command) || has(self.args) || has(self.script) || has(self.env) || has(self.envFrom) || has(self.resources) || has(self.volumeMounts) || has(self.securityContext) || has(self.workingDir) || has(self.imagePullPolicy))",message="command, args, script, env, envFrom, resources, volumeMounts, securityContext, workingDir and imagePullPolicy cannot be set together with steps: set them in each step"
// +kubebuilder:validation:XValidation:rule="!has(self.command) || !has(self.script)",message="script cannot be set together with command: remove one of them"
// +kubebuilder:validation:XValidation:rule="!has(self.volumeMounts) || [has(self.volumes) ? self.volumes.map(v, v.name) : []].all(names, self.volumeMounts.all(m, m.name in names))",message="volumeMounts has a name that is not in volumes: add the volume, or correct the name"
// +kubebuilder:validation:XValidation:rule="!has(self.steps) || [has(self.volumes) ? self.volumes.map(v, v.name) : []].all(names, self.steps.all(s, !has(s.volumeMounts) || s.volumeMounts.all(m, m.name in names)))",message="a step's volumeMounts has a name that is not in volumes: add the volume, or correct the name"
// +kubebuilder:validation:XValidation:rule="[self.?workspacePath.orValue('/workspace')].all(path, (!has(self.volumeMounts) || self.volumeMounts.all(m, m.mountPath != path && m.mountPath != path + '/')) && (!has(self.steps) || self.steps.all(s, !has(s.volumeMounts) || s.volumeMounts.all(m, m.mountPath != path && m.mountPath != path + '/'))) && (!has(self.sidecars) || self.sidecars.all(s, !has(s.volumeMounts) || s.volumeMounts.all(m, m.mountPath != path && m.mountPath != path + '/'))))",message="the repository is mounted at workspacePath, which is /workspace where it is left out: use another mountPath, or another workspacePath"
// +kubebuilder:validation:XValidation:rule="!has(self.sidecars) || [has(self.volumes) ? self.volumes.map(v, v.name) : []].all(names, self.sidecars.all(s, !has(s.volumeMounts) || s.volumeMounts.all(m, m.name in names)))",message="a sidecar's volumeMounts has a name that is not in volumes: add the volume, or correct the name"
// +kubebuilder:validation:XValidation:rule="!has(self.sidecars) || [has(self.steps) ? self.steps.map(s, s.name) : ['build']].all(names, self.sidecars.all(s, !(s.name in names)))",message="a sidecar cannot have the name of a step, nor build where there are no steps: use another name"
// +kubebuilder:validation:XValidation:rule="!has(self.steps) || [has(self.results) ? self.results.map(r, r.name) : []].all(names, self.steps.all(s, !has(s.when) || s.when.all(w, !has(w.result) || w.result in names)))",message="a step's when has a result that is not in results: add the result, or correct the name"
type Spec struct {
	// Source is where the code is. Without it, the build begins in an empty folder.
	// +optional
	Source *Source `json:"source,omitempty"`
	// WorkspacePath is where the containers find the repository, /workspace where
	// it is left out. What an image has at that path is hidden.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^(/[.]?[A-Za-z0-9_-][A-Za-z0-9_.-]*)+$') && !self.matches('^/(operetta|tmp|credentials)(/.*)?$')",message="use an absolute path as /src, of letters, digits, hyphens, underscores and dots, without a slash at its end, and neither at nor below /operetta, /tmp and /credentials"
	WorkspacePath string `json:"workspacePath,omitempty"`
	// Work is what the build runs, when it has one step.
	Work      `json:",inline"`
	PodFields `json:",inline"`
	// Steps run one after the other, each when the one before has succeeded. They
	// share the folder workspacePath.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	Steps []Step `json:"steps,omitempty"`
	// Sidecars run beside the steps: each begins after the clone, and when its
	// startupProbe has succeeded, the next one does, and then the first step. They
	// are started again when they end, and stopped after the last step. Without
	// workingDir a sidecar runs in the folder that its image sets. It needs Kubernetes 1.29.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=10
	Sidecars []Sidecar `json:"sidecars,omitempty"`
	// Volumes can be mounted by the steps: caches, say, or configuration.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=20
	Volumes []corev1.Volume `json:"volumes,omitempty"`
	// Results are small texts that the steps write for the status, as the digest
	// of an image: each the file of its name in the folder that RESULTS_DIR names.
	// Who may read the Build can read them.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=20
	Results []DeclaredResult `json:"results,omitempty"`
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
	// Suspend cancels the build that runs: its Job is deleted, and history tells
	// that it was canceled. Nothing begins while suspend is true. When it is false
	// again, a build that was waiting begins; a canceled build begins only with
	// another runId.
	// +optional
	Suspend *bool `json:"suspend,omitempty"`
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
	// RetryDisruptions says that a build is tried again, from the clone on, when
	// its Pod is disrupted: preempted, drained, evicted, or lost with its node.
	// That does not count for backoffLimit, and goes on until timeoutSeconds. It
	// is false where it is left out, because a build that has begun to deploy may
	// not be safe to repeat.
	// +optional
	RetryDisruptions bool `json:"retryDisruptions,omitempty"`
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
	// PodSecurityContext is the Pod's. Where it has no fsGroup, the group is
	// 65534, which lets a builder of any user write to the workspace. The seccomp
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

// ConcurrencyPolicy says what happens to a build that still runs when another is
// wanted.
type ConcurrencyPolicy string

// The policies.
const (
	Replace ConcurrencyPolicy = "Replace"
	Forbid  ConcurrencyPolicy = "Forbid"
	Allow   ConcurrencyPolicy = "Allow"
)
