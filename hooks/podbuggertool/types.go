// +groupName=apps.jicki.cn
// +versionName=v1alpha1

package podbuggertool

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/operator"
)

// PodBuggerTool puts a debug container, as an ephemeral container, into the
// running Pods of its namespace that match. A Pod runs as soon as it is scheduled:
// the kubelet starts debug containers also while init containers run or hang.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=podbuggertools,singular=podbuggertool,scope=Namespaced,shortName=pbt,categories=operetta
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.ready`,description="Pods in which the container is, and has not failed, of those that shall"
// +kubebuilder:printcolumn:name="Failed",type=integer,JSONPath=`.status.failed`
// +kubebuilder:printcolumn:name="Outdated",type=integer,JSONPath=`.status.outdated`,description="Pods whose container has another image"
// +kubebuilder:printcolumn:name="Image",type=string,JSONPath=`.spec.image`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$')",message="metadata.name is also the name of the debug container: use at most 63 lower-case letters, digits and hyphens, beginning and ending with a letter or digit"
// +kubebuilder:validation:XValidation:rule="!has(self.spec.targetContainer) || self.spec.targetContainer != self.metadata.name",message="spec.targetContainer: targetContainer cannot be the name of the tool, which the debug container has: rename the tool, or set the container to debug"
type PodBuggerTool struct {
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

// Spec is the desired state of a PodBuggerTool. What the container is made of can
// be changed, but a Pod that has the container keeps it as it is: Kubernetes
// neither changes nor removes ephemeral containers.
type Spec struct {
	// Selector selects Pods of the namespace by their labels. Pods of the Jobs
	// of any PodBuggerTool, mirror Pods and finished or terminating Pods are
	// never among them.
	// +required
	Selector Selector `json:"selector"`
	// Image is the image of the debug container.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.matches('^\\\\S+$')",message="an image cannot contain spaces: use name:tag or name@digest"
	Image string `json:"image"`
	// Command takes the place of the image's entrypoint. Choose one that keeps
	// running, such as sleep: a debug container that ends is not started again.
	// Where args are written too, they follow the command.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=4096
	Command []string `json:"command,omitempty"`
	// Args are the arguments of the command, or of the image's entrypoint where
	// there is no command.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=4096
	Args []string `json:"args,omitempty"`
	// Env are environment variables of the debug container. They are written in
	// no particular order, so that one cannot refer to another. They stand in
	// the Job and in the Pod for everybody to read who may read those: no place
	// for secrets.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=50
	Env []EnvVar `json:"env,omitempty"`

	Custom `json:",inline"`

	// TargetContainer is the container whose processes the debug container
	// shall see, where the container runtime allows it. A Pod without a
	// container of that name is reported as failed.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	TargetContainer string `json:"targetContainer,omitempty"`
	// Profile is what the debug container may do, as kubectl debug has it. A
	// namespace with a Pod Security Standard refuses what is above it.
	// +optional
	// +kubebuilder:default=general
	// +kubebuilder:validation:Enum=general;baseline;restricted;netadmin;sysadmin
	Profile string `json:"profile,omitempty"`
	// MaxPods is how many running Pods get the container at most. Those that
	// have it come first, then those whose Job exists, then the oldest. A Pod
	// whose Job has failed keeps its place.
	// +optional
	// +kubebuilder:default=50
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=500
	MaxPods *int32 `json:"maxPods,omitempty"`
	// KubectlImage is the image of the Jobs that add the container. It needs
	// kubectl on its path, of a version that the cluster's supports. It defaults
	// to the official image of a version that this operator is tested with.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.matches('^\\\\S+$')",message="the image of kubectl cannot contain spaces: use name:tag or name@digest"
	KubectlImage string `json:"kubectlImage,omitempty"`
}

// Selector is a label selector: the Pods that have all of matchLabels and meet all
// of matchExpressions. It is in the answer of customize, which Metacontroller keeps
// for 20 to 30 minutes for each generation of a tool, however often one is edited.
//
// +structType=atomic
// +kubebuilder:validation:XValidation:rule="(has(self.matchLabels) && size(self.matchLabels) > 0) || (has(self.matchExpressions) && size(self.matchExpressions) > 0)",message="an empty selector would match every Pod of the namespace: set matchLabels or matchExpressions"
// +kubebuilder:validation:XValidation:rule="!has(self.matchLabels) || !('operetta.dev/podbuggertool' in self.matchLabels)",message="the label operetta.dev/podbuggertool is on the Pods of the tools' own Jobs, which are never matched: use another key"
// +kubebuilder:validation:XValidation:rule="!has(self.matchLabels) || self.matchLabels.all(key, key.indexOf('/') <= 253 && key.matches('^([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$'))",message="matchLabels: the key of a label must have at most 63 letters, digits, hyphens, underscores and dots, beginning and ending with a letter or digit, optionally after a DNS name and a slash: for example app or example.com/app"
type Selector struct {
	// MatchLabels are labels that a Pod must have.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	MatchLabels map[string]LabelValue `json:"matchLabels,omitempty"`
	// MatchExpressions are requirements that the labels of a Pod must meet.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	MatchExpressions []Requirement `json:"matchExpressions,omitempty"`
}

// LabelValue is the value of a label.
//
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:XValidation:rule="self.matches('^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$')",message="the value of a label must consist of letters, digits, hyphens, underscores and dots, and begin and end with a letter or digit"
type LabelValue string

// Requirement is what the value of a label must be, or whether there is one.
//
// +kubebuilder:validation:XValidation:rule="self.operator in ['In', 'NotIn'] ? has(self.values) && size(self.values) > 0 : self.operator in ['Exists', 'DoesNotExist'] && (!has(self.values) || size(self.values) == 0)",message="matchExpressions: the operators In and NotIn need values, Exists and DoesNotExist cannot have any: change the operator or values"
type Requirement struct {
	// Key is the key of the label.
	// +required
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:XValidation:rule="self != 'operetta.dev/podbuggertool'",message="matchExpressions: the label operetta.dev/podbuggertool is on the Pods of the tools' own Jobs, which are never matched: use another key"
	// +kubebuilder:validation:XValidation:rule="self.indexOf('/') <= 253 && self.matches('^([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$')",message="matchExpressions: the key of a label must have at most 63 letters, digits, hyphens, underscores and dots, beginning and ending with a letter or digit, optionally after a DNS name and a slash: for example app or example.com/app"
	Key string `json:"key"`
	// Operator is In, NotIn, Exists or DoesNotExist.
	// +required
	// +kubebuilder:validation:MaxLength=12
	Operator string `json:"operator"`
	// Values are the values for the operators In and NotIn. Exists and DoesNotExist
	// have none.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Values []LabelValue `json:"values,omitempty"`
}

// EnvVar is an environment variable. It has no valueFrom, which kubectl debug
// does not know: for values of a Secret or a ConfigMap use envFrom.
type EnvVar struct {
	// Name is the name of the variable.
	// +required
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.matches('^[-._a-zA-Z][-._a-zA-Z0-9]*$')",message="the name of a variable must consist of letters, digits, hyphens, underscores and dots, and cannot begin with a digit: rename it"
	Name string `json:"name"`
	// Value is the value of the variable.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	// +kubebuilder:validation:XValidation:rule="!self.contains('\\r')",message="the value cannot contain carriage returns, which kubectl drops: remove them"
	// +kubebuilder:validation:XValidation:rule=`self.matches('[,"\\n]') || !self.matches('[\\[\\]\\s\\v\\pZ]$')`,message="the value cannot end in a bracket or white space, which kubectl drops unless there is a comma in it: remove that, or pass it in args"
	Value string `json:"value,omitempty"`
}

// PodState is how far a Pod is.
// +kubebuilder:validation:Enum=Injected;NotRunning;Outdated;Pending;Failed;Waiting;Skipped
type PodState string

// The states of a Pod.
const (
	// PodInjected has the container.
	PodInjected PodState = "Injected"
	// PodNotRunning has the container, which has yet to start, cannot start or has failed.
	PodNotRunning PodState = "NotRunning"
	// PodOutdated has the container, with another image than is asked for now.
	PodOutdated PodState = "Outdated"
	// PodPending does not have the container yet. Its Job is under way.
	PodPending PodState = "Pending"
	// PodFailed cannot get the container.
	PodFailed PodState = "Failed"
	// PodWaiting is not scheduled yet.
	PodWaiting PodState = "Waiting"
	// PodSkipped runs, and is beyond maxPods.
	PodSkipped PodState = "Skipped"
)

// PodStatus is the observed state of one Pod that matches.
type PodStatus struct {
	// Name is the name of the Pod.
	// +required
	Name string `json:"name"`
	// State is Injected, NotRunning (it has the container, which has yet to start,
	// cannot start or has failed), Outdated (it has the container, with another image), Pending (its Job is under way), Failed, Waiting (it is not scheduled yet) or
	// Skipped (it is beyond maxPods).
	// +required
	State PodState `json:"state"`
	// Message tells more: what the container is at, what the Job waits for or
	// why it has failed.
	// +optional
	Message string `json:"message,omitempty"`
}

// Status is the observed state of the Pods that match.
//
// Conditions are Ready, which is True when every running Pod within maxPods
// has the container, each has started and none has failed, ChildrenObserved and, when a Pod cannot
// get it or it has failed, Stalled.
type Status struct {
	operator.Status `json:",inline"`

	// Ready reads 3/4: Pods in which the container runs or has ended well, of
	// those that run, within maxPods.
	// +optional
	Ready string `json:"ready,omitempty"`
	// Matched is the number of Pods that match, those that do not run yet and
	// those beyond maxPods included.
	// +optional
	Matched int32 `json:"matched"`
	// Injected is the number of running Pods that have the container.
	// +optional
	Injected int32 `json:"injected"`
	// NotRunning is the number of those injected whose container has yet to start,
	// cannot start or has failed. Kubernetes starts none that has failed again:
	// another Pod has to take its place.
	// +optional
	NotRunning int32 `json:"notRunning"`
	// Pending is the number of running Pods that shall have the container, and
	// do not have it yet.
	// +optional
	Pending int32 `json:"pending"`
	// Failed is the number of running Pods that cannot get the container. A Job
	// that has failed is not tried again until what it is made of or the Pod
	// changes, or the Job is deleted.
	// +optional
	Failed int32 `json:"failed"`
	// Outdated is the number of those injected whose container has another
	// image than spec.image. They keep it as long as they live.
	// +optional
	Outdated int32 `json:"outdated"`
	// Skipped is the number of running Pods beyond maxPods.
	// +optional
	Skipped int32 `json:"skipped"`
	// Pods are the Pods that match, up to 100 of them: the failed ones first,
	// then those not running (of which those that have yet to start last), pending, outdated, injected, waiting and skipped, each by name.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=100
	Pods []PodStatus `json:"pods,omitempty"`
}
