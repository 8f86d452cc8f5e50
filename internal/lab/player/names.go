package player

import (
	"github.com/operetta-dev/operetta/internal/lab/cluster/apiserver"
	"github.com/operetta-dev/operetta/internal/lab/cluster/composite"
)

// Types of package apiserver in this package's events.
type (
	// Object is a Kubernetes object of any kind. Its numbers are int64 and float64.
	Object = apiserver.Object
	// Ref names an object.
	Ref = apiserver.Ref
	// Write is a write to the API server that has changed something.
	Write = apiserver.Write
)

// Types of package composite in this package's options and events.
type (
	// Call calls a hook.
	Call = composite.Call
	// Strategy is Metacontroller's apply strategy.
	Strategy = composite.Strategy
	// Answer is the answer of a sync or finalize hook.
	Answer = composite.Answer
	// Refusal is a child that could not be created or updated.
	Refusal = composite.Refusal
	// Memory is what worlds of the same operators share.
	Memory = composite.Memory
	// Asked is a child that Metacontroller creates or updates.
	Asked = composite.Asked
)

// The strategies of Metacontroller.
const (
	DynamicApply    = composite.DynamicApply
	ServerSideApply = composite.ServerSideApply
)

// NewMemory returns an empty memory.
func NewMemory() *Memory { return composite.NewMemory() }

// RefOf returns the reference to an object.
func RefOf(object Object) Ref { return apiserver.RefOf(object) }

// IsOwnedBy reports whether an object is one of another's owners.
func IsOwnedBy(object, owner Object) bool { return apiserver.IsOwnedBy(object, owner) }

// TargetOf returns what a HorizontalPodAutoscaler scales.
func TargetOf(autoscaler Object) Ref { return apiserver.TargetOf(autoscaler) }

// ParseObject reads an object from JSON. The error says what it lacks.
func ParseObject(text []byte) (Object, error) { return apiserver.ParseObject(text) }

// Equal reports whether two JSON values are equal.
func Equal(a, b any) bool { return apiserver.Equal(a, b) }

// MergePatch returns an object with a merge patch (RFC 7386) applied. Neither is
// changed, and the result shares what the patch does not touch.
func MergePatch(object, patch map[string]any) map[string]any {
	return apiserver.MergePatch(object, patch)
}
