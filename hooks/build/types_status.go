package build

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operetta-dev/operetta/operator"
)

// Phase is how far the newest build is.
type Phase string

// The phases.
const (
	PhasePending   Phase = "Pending"
	PhaseRunning   Phase = "Running"
	PhaseSucceeded Phase = "Succeeded"
	PhaseFailed    Phase = "Failed"
	PhaseCanceled  Phase = "Canceled"
)

// Status is the observed state of a Build.
//
// Conditions are Ready, which is True when the newest build has succeeded,
// Succeeded, which is Unknown until it has ended, ChildrenObserved and, when
// it has failed, Stalled.
type Status struct {
	operator.Status `json:",inline"`

	// Phase is how far the newest build is: Pending, Running, Succeeded, Failed or
	// Canceled.
	// +optional
	Phase Phase `json:"phase,omitempty"`
	// JobName is the name of its Job, which may yet have to be made.
	// +optional
	JobName string `json:"jobName,omitempty"`
	// Revision is what it builds. It is empty without a source.
	// +optional
	Revision string `json:"revision,omitempty"`
	// Commit is the commit that the revision was, once it is cloned.
	// +optional
	Commit string `json:"commit,omitempty"`
	// Results are what its steps wrote, when it has succeeded: of the results that
	// the spec names those that were written. A text is one line.
	// +optional
	// +listType=map
	// +listMapKey=name
	Results []ResultValue `json:"results,omitempty"`
	// StartTime is when it began.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`
	// CompletionTime is when it ended.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
	// Duration is the time from startTime to completionTime, as in 1m30s.
	// +optional
	Duration string `json:"duration,omitempty"`
	// Active are the Jobs that run or may do so: also those that are about to be
	// made, and for a few seconds those that are gone.
	// +optional
	// +listType=map
	// +listMapKey=name
	Active []ActiveJob `json:"active,omitempty"`
	// History are the results of the last builds, the newest first. A build in it
	// is not run again.
	// +optional
	// +listType=map
	// +listMapKey=hash
	History []Result `json:"history,omitempty"`
}

// ActiveJob is a Job that may run.
type ActiveJob struct {
	// Name is its name.
	Name string `json:"name"`
	// UID is its UID, once it has been observed.
	// +optional
	UID types.UID `json:"uid,omitempty"`
	// GoneSince is since when it was asked for, or has been gone, without being
	// observed. It is empty before it is asked for.
	// +optional
	GoneSince *metav1.Time `json:"goneSince,omitempty"`
	// LacksPodSince is since when it has had no Pod, of a Job that may try again.
	// +optional
	LacksPodSince *metav1.Time `json:"lacksPodSince,omitempty"`
}

// Result is how a build ended.
type Result struct {
	// Hash stands for what was built. It ends the name of the Job.
	Hash string `json:"hash"`
	// Revision is what was built. It is empty without a source.
	// +optional
	Revision string `json:"revision,omitempty"`
	// Commit is the commit that the revision was.
	// +optional
	Commit string `json:"commit,omitempty"`
	// Result is Succeeded, Failed or Canceled.
	Result Phase `json:"result"`
	// Message tells why it failed: the step and its exit code, where they could
	// be seen.
	// +optional
	Message string `json:"message,omitempty"`
	// StartTime is when it began.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`
	// CompletionTime is when it ended.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
	// Duration is the time between the two, as in 1m30s.
	// +optional
	Duration string `json:"duration,omitempty"`
	// Results are what the steps wrote.
	// +optional
	// +listType=map
	// +listMapKey=name
	Results []ResultValue `json:"results,omitempty"`
}

// ResultValue is what a step wrote.
type ResultValue struct {
	// Name is the name of the result.
	Name string `json:"name"`
	// Value is its text.
	Value string `json:"value"`
	// Values are the entries of a result of the type array.
	// +optional
	// +listType=atomic
	Values []string `json:"values,omitempty"`
	// Omitted says why the value is left out, which happens only to a whole one.
	// +optional
	Omitted string `json:"omitted,omitempty"`
}
