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
	// LastProgressTime is when the status last said how far work is, absent where a condition
	// has changed since.
	// +optional
	LastProgressTime *metav1.Time `json:"lastProgressTime,omitempty"`

	PendingChildren `json:",inline"`
}

func (s *Status) common() *Status { return s }

// inStatus is a pointer to a status that embeds a [Status].
type inStatus[S any] interface {
	*S
	common() *Status
}

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
// one until a [ProgressInterval] has passed where only the progress of work differs, asks for
// children that the API server refuses with exponential backoff, and asks to be called again
// when the report, or the soonest of some other times that are not zero, wants it. A status may
// have a method IsProgressOf(old S) bool: what is more than progress is written at once.
func Answer[S any, P inStatus[S]](r *Report, old, status S, children []metacontroller.Object, resync ...time.Duration) metacontroller.Result[S] {
	P(&old).common().ObservedGeneration = 0 // Metacontroller writes it
	common := P(&status).common()
	common.Conditions, common.PendingChildren, common.LastProgressTime = r.List(), r.pending, P(&old).common().LastProgressTime
	status, left := pace[S, P](r.Conditions, old, status)
	return metacontroller.Result[S]{
		Status:      status,
		Children:    r.backOff(children),
		ResyncAfter: Soonest(append(resync, r.resyncAfter, r.again, left)...),
	}
}
