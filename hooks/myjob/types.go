// +groupName=myjob.github.com
// +versionName=v1beta1

package myjob

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/operator"
)

// MyJob runs one Pod to completion, once or until one succeeds.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=myjobs,singular=myjob,scope=Namespaced,shortName=mj,categories=operetta
// +kubebuilder:subresource:status
// +kubebuilder:selectablefield:JSONPath=`.status.phase`
// +kubebuilder:selectablefield:JSONPath=`.status.result`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Result",type=string,JSONPath=`.status.result`
// +kubebuilder:printcolumn:name="Exit code",type=integer,JSONPath=`.status.exitCode`
// +kubebuilder:printcolumn:name="Duration",type=string,JSONPath=`.status.duration`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$')",message="metadata.name is also the name and hostname of the Pod: use at most 63 lower-case letters, digits and hyphens, beginning and ending with a letter or digit"
type MyJob struct {
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

// Spec is the desired state of a MyJob.
//
// +kubebuilder:validation:XValidation:rule="self.?activeDeadlineSeconds.orValue(0) == oldSelf.?activeDeadlineSeconds.orValue(0)",message="activeDeadlineSeconds cannot be changed, because a MyJob runs once: create a new MyJob with another name, or delete this one first"
type Spec struct {
	// Template is what the Pod is made of. Its labels and annotations reach the
	// Pod; its name does not, for the Pod has the name of the MyJob. It cannot
	// be changed. Its restartPolicy is Never where it is left out, or OnFailure.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="template cannot be changed, because a MyJob runs once: create a new MyJob with another name, or delete this one first"
	// +kubebuilder:validation:XValidation:rule="self.?spec.?restartPolicy.orValue('Never') in ['Never', 'OnFailure']",message="a MyJob cannot have restartPolicy Always, with which a Pod never completes: use Never or OnFailure, or remove restartPolicy"
	// +kubebuilder:validation:XValidation:rule="size(self.?spec.?containers.orValue([])) > 0",message="a Pod needs containers: set template.spec.containers"
	// +kubebuilder:validation:XValidation:rule="!has(self.spec) || [has(self.spec.volumes) ? self.spec.volumes.map(v, v.name) : []].all(names, (!has(self.spec.containers) || self.spec.containers.all(c, !has(c.volumeMounts) || c.volumeMounts.all(m, m.name in names))) && (!has(self.spec.initContainers) || self.spec.initContainers.all(c, !has(c.volumeMounts) || c.volumeMounts.all(m, m.name in names))))",message="a container's volumeMounts has a name that is not in template.spec.volumes: add the volume, or remove the volumeMount"
	// +kubebuilder:validation:XValidation:rule="[?self.?metadata.?labels].all(l, !('controller-uid' in l))",message="the label controller-uid is reserved for the controller: use another key"
	// +kubebuilder:validation:XValidation:rule="[?self.?metadata.?annotations].all(a, !('operetta.dev/hash' in a) && !('metacontroller.k8s.io/last-applied-configuration' in a))",message="the annotations operetta.dev/hash and metacontroller.k8s.io/last-applied-configuration are reserved for the controller: remove them"
	Template corev1.PodTemplateSpec `json:"template"`
	// ActiveDeadlineSeconds is the longest that the MyJob may take from startTime
	// on, as a Job's: the wait for a node and all attempts together. It then
	// fails with reason DeadlineExceeded, and a Pod that has not ended is
	// deleted. It cannot be changed.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	ActiveDeadlineSeconds *int64 `json:"activeDeadlineSeconds,omitempty"`
	// TTLSecondsAfterFinished is how long the Pod, and with it its logs, is kept
	// after it has finished. It is kept as long as the MyJob where this is left
	// out.
	// +optional
	// +kubebuilder:validation:Minimum=0
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`
	// BackoffLimit is how often a Pod that fails is followed by another, which
	// has a name of its own, after a pause of ten seconds that doubles each time
	// up to six minutes. The failed Pods are kept for their logs. It is 0 where
	// it is left out: the Pod runs once.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	BackoffLimit *int32 `json:"backoffLimit,omitempty"`
	// RetryDisruptions says that a Pod that is disrupted is followed by another, as
	// after a failure, though that does not count for backoffLimit: one that is
	// preempted, drained, evicted, or lost with its node. It goes on until
	// activeDeadlineSeconds. It is false where it is left out, because not every
	// program is safe to repeat.
	// +optional
	RetryDisruptions bool `json:"retryDisruptions,omitempty"`
	// Suspend stops the MyJob: no Pod is created, and a running Pod is deleted. When
	// it is false again, a new Pod begins from the start.
	// +optional
	Suspend *bool `json:"suspend,omitempty"`
}

// Phase is how far a MyJob is.
type Phase string

// The phases.
const (
	// PhasePending is from the first sync until the Pod runs.
	PhasePending Phase = "pending"
	// PhaseRunning is while the Pod runs and is not done.
	PhaseRunning Phase = "running"
	// PhaseCompleted is for good.
	PhaseCompleted Phase = "completed"
)

// Result is how a completed MyJob ended.
type Result string

// The results.
const (
	ResultSucceeded Result = "Succeeded"
	ResultFailed    Result = "Failed"
)

// Status is the observed state of a MyJob. Once its phase is completed, its
// result is never revised.
//
// Conditions are Ready, which is True after success, ChildrenObserved and,
// once the phase is completed, Complete or Failed and Stalled.
type Status struct {
	operator.Status `json:",inline"`

	// Phase is pending, running or completed.
	// +optional
	Phase Phase `json:"phase,omitempty"`
	// Result is Succeeded or Failed, once the phase is completed.
	// +optional
	Result Result `json:"result,omitempty"`
	// Reason tells in one word why it ended: Completed, Error, OOMKilled,
	// DeadlineExceeded, Evicted, PodDeleted, PodLost, ResultUnknown (another
	// operator wrote that it is completed, and not how) or what the Pod says. A
	// disruption tells its own, which is no failure of the program, such as
	// PreemptionByScheduler, EvictionByEvictionAPI or DeletionByTaintManager.
	// +optional
	Reason string `json:"reason,omitempty"`
	// Message is how the last Pod that failed has ended, in the kubelet's words.
	// +optional
	Message string `json:"message,omitempty"`
	// Attempt is the number of the attempt, from the second on.
	// +optional
	Attempt int32 `json:"attempt,omitempty"`
	// Failed is how many attempts have failed, where backoffLimit is set.
	// +optional
	Failed int32 `json:"failed,omitempty"`
	// Disrupted is how many attempts were disrupted and followed by another, where
	// retryDisruptions is set.
	// +optional
	Disrupted int32 `json:"disrupted,omitempty"`
	// NextAttemptTime is when the next attempt may begin, after a pause.
	// +optional
	NextAttemptTime *metav1.Time `json:"nextAttemptTime,omitempty"`
	// ExitCode is the exit code of the first container that failed, or 0. A sidecar's counts
	// only where no other container failed.
	// +optional
	ExitCode *int32 `json:"exitCode,omitempty"`
	// PodName is the name of the Pod, once it has been observed.
	// +optional
	PodName string `json:"podName,omitempty"`
	// StartTime is when the first Pod was made, or the first after it was
	// suspended.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`
	// CompletionTime is when the last container ended or, where the Pod does not
	// tell, when its end was observed.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
	// Duration is the time from startTime to completionTime, as in 1m30s.
	// +optional
	Duration string `json:"duration,omitempty"`
}
