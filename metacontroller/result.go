package metacontroller

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Object is a desired child: a pointer to a Kubernetes type with its name
// filled in, or what [Keep] returns. A missing apiVersion and kind are filled
// in for types of k8s.io/api; for other types the hook sets them. The claim
// templates of a StatefulSet are defaulted as the API server does it. The
// namespace may be left out, the status is ignored.
type Object interface {
	runtime.Object
	metav1.Object
}

// Result is what a sync or finalize hook answers.
type Result[S any] struct {
	// Status replaces the parent's status as a whole. It reports what was
	// observed, never what is asked for in the same answer.
	Status S
	// Children are all children that should exist. An observed child that is
	// not among them is deleted.
	Children []Object
	// ResyncAfter asks for another call after this time, which is rounded up to
	// whole seconds and capped at a day. Zero asks for none.
	ResyncAfter time.Duration
	// Finalized reports that the teardown is complete. It is for finalize only, and an error
	// while any child is observed.
	Finalized bool
}

// maxResync is the longest [Result.ResyncAfter]: a longer time may be the
// result of a wrong clock, and an early call costs little.
const maxResync = 24 * time.Hour

// RelatedResync is the [Result.ResyncAfter] of a hook that waits for an event
// of a related object. Metacontroller may have to call customize to find the
// parents of that event, and loses the event if that call fails, for example on
// a busy server.
const RelatedResync = 30 * time.Second

// RulesKept is for how long Metacontroller keeps the answer of a customize hook for a parent
// of the same UID and generation, in all versions from 4.16.0 to 4.17.2. A restart forgets it.
// https://github.com/metacontroller/metacontroller/blob/v4.17.2/pkg/controller/common/customize/manager.go
const RulesKept = 20 * time.Minute

// Rule selects related objects, all of one kind. Names excludes the two
// selectors, Namespace excludes NamespaceSelector, and a rule with neither
// selects all objects of the kind.
//
// They must name each kind of [Controller.Related] that does more than inform.
type Rule struct {
	// APIVersion is that of the objects' own apiVersion field.
	APIVersion string `json:"apiVersion"`
	// Resource is the kind's plural name in lower case.
	Resource string `json:"resource"`
	// LabelSelector selects by labels.
	LabelSelector *metav1.LabelSelector `json:"labelSelector,omitempty"`
	// Namespace selects one namespace. For a namespaced parent it must be the
	// parent's own, unless [Controller.RelatedInAllNamespaces] is set; it is by
	// default.
	Namespace string `json:"namespace,omitempty"`
	// Names selects by name.
	Names []string `json:"names,omitempty"`
	// NamespaceSelector selects namespaces by their labels. For a namespaced parent
	// it needs [Controller.RelatedInAllNamespaces].
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty"`
}
