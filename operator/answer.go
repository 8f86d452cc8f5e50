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

// Report is what a sync has to say of its children, while the operator adds what it has to
// say itself. [Answer] makes the answer of it.
type Report struct {
	*Conditions
	ChildrenReport

	differs  metacontroller.Difference
	pending  PendingChildren
	observed metacontroller.Objects
}

// NewReport begins with how the observed children differ from the desired ones, which
// [metacontroller.Observed.Compare] returns. The old status is that of the request.
func NewReport(parent metav1.Object, old Status, request metacontroller.Observed, differs metacontroller.Difference) *Report {
	conditions := NewConditions(old.Conditions, parent.GetGeneration(), request.Now)
	return &Report{conditions, conditions.ReportChildren(differs, old.PendingChildren), differs, old.PendingChildren, request.Children}
}

// Answer ends a sync. It completes the status with what the report says, but keeps the old
// one for some time where only the progress of work differs (see [Pace]), holds back children
// that the API server refuses (see [Conditions.BackOffRejected]), and asks to be called again
// when the report, or the soonest of some other times that are not zero, wants it. A status
// may have a method IsProgressOf(old S) bool, which Pace asks.
func Answer[S any, P interface {
	*S
	common() *Status
}](r *Report, old, status S, children []metacontroller.Object, resync ...time.Duration) metacontroller.Result[S] {
	common := P(&status).common()
	common.Conditions, common.PendingChildren = r.List(), r.Pending
	var isProgress func(status, old S) bool
	if _, tells := any(status).(interface{ IsProgressOf(S) bool }); tells {
		isProgress = func(status, old S) bool { return any(status).(interface{ IsProgressOf(S) bool }).IsProgressOf(old) }
	}
	status, left := Pace(r.Conditions, old, status, isProgress)
	return metacontroller.Result[S]{
		Status:      status,
		Children:    r.BackOffRejected(children, r.differs, r.pending, r.observed),
		ResyncAfter: Soonest(append(resync, r.ResyncAfter, left)...),
	}
}
