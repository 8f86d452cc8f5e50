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
)

// Status is the observed state of a Build.
//
// Conditions are Ready, which is True when the newest build has succeeded,
// Succeeded, which is Unknown until it has ended, ChildrenObserved and, when
// it has failed, Stalled.
type Status struct {
	operator.Status `json:",inline"`

	// Phase is Pending, Running, Succeeded or Failed: that of the newest build.
	// +optional
	Phase Phase `json:"phase,omitempty"`
	// JobName is the name of its Job, which may yet have to be made.
	// +optional
	JobName string `json:"jobName,omitempty"`
	// Revision is what it builds.
	// +optional
	Revision string `json:"revision,omitempty"`
	// StartTime is when it began.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`
	// CompletionTime is when it ended.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
	// Duration is the time from startTime to completionTime, as in 1m30s.
	// +optional
	Duration string `json:"duration,omitempty"`
	// Asked is a Job that has been asked for, or is about to be, and has not been
	// observed since.
	// +optional
	Asked *Asked `json:"asked,omitempty"`
	// Active are the Jobs that run. One that is gone stays here for five seconds,
	// and for as long as a Pod of it runs.
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

// Asked is a Job that may exist without having been observed.
type Asked struct {
	// JobName is its name.
	// +optional
	JobName string `json:"jobName,omitempty"`
	// State is Announced, Made or Withdrawn.
	State AskedState `json:"state"`
	// Since is when it came to that.
	Since metav1.Time `json:"since"`
}

// AskedState is how far a Job is that has not been observed.
type AskedState string

// The states.
const (
	// Announced is a Job that will be asked for as soon as the status that says so
	// is stored.
	Announced AskedState = "Announced"
	// Made is a Job that has been asked for.
	Made AskedState = "Made"
	// Withdrawn is a Job that is not wanted any more and may yet appear.
	Withdrawn AskedState = "Withdrawn"
)

// ActiveJob is a Job that runs.
type ActiveJob struct {
	// Name is its name.
	Name string `json:"name"`
	// UID is its UID.
	// +optional
	UID types.UID `json:"uid,omitempty"`
	// GoneSince is since when it has not been observed any more.
	// +optional
	GoneSince *metav1.Time `json:"goneSince,omitempty"`
}

// Result is how a build ended.
type Result struct {
	// Hash stands for what was built. It ends the name of the Job.
	Hash string `json:"hash"`
	// Revision is what was built.
	// +optional
	Revision string `json:"revision,omitempty"`
	// Result is Succeeded or Failed.
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
}
