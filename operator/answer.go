package operator

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/metacontroller"
)

// Status is the part that the status of every kind has. Embed it in that of a kind.
type Status struct {
	// ObservedGeneration is the generation that the status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Conditions tell how far the work is: Ready and ChildrenObserved, Stalled
	// while a person is needed, and those of the kind itself.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	PendingChildren `json:",inline"`
}

func (s *Status) common() *Status { return s }

// PendingChildren is the part of a status that lists the children that are
// waited for. People read it, and so does the next sync; since when they are
// waited for is in the conditions.
type PendingChildren struct {
	// MissingChildren are those that have been asked for and are not there, the first 32.
	// +optional
	// +listType=atomic
	MissingChildren []string `json:"missingChildren,omitempty"`
	// OutdatedChildren are those that have been asked to change and have not, the first 32.
	// +optional
	// +listType=atomic
	OutdatedChildren []string `json:"outdatedChildren,omitempty"`
}

// maxPending is the length of each list in a [PendingChildren]. The first of
// more children are the next to appear.
const maxPending = 32

// Answer ends a sync. It completes the status with what the report says, but keeps the old
// one for most of each [ProgressInterval] where only the progress of work differs, asks for
// children that the API server refuses with exponential backoff, and asks to be called again
// when the report, or the soonest of some other times that are not zero, wants it. A status may
// have a method IsProgressOf(old S) bool: what is more than progress is written at once.
func Answer[S any, P interface {
	*S
	common() *Status
}](r *Report, old, status S, children []metacontroller.Object, resync ...time.Duration) metacontroller.Result[S] {
	P(&old).common().ObservedGeneration = 0 // Metacontroller writes it
	common := P(&status).common()
	common.Conditions, common.PendingChildren = r.List(), r.pending
	status, left := pace(r.Conditions, old, status)
	return metacontroller.Result[S]{
		Status:      status,
		Children:    r.backOff(children),
		ResyncAfter: Soonest(append(resync, r.resyncAfter, left)...),
	}
}
