package player

import (
	"github.com/operetta-dev/operetta/internal/lab/cluster/apiserver"
	"github.com/operetta-dev/operetta/internal/lab/cluster/composite"
	"github.com/operetta-dev/operetta/internal/lab/kube"
)

// Write is a write to the API server that has changed something.
type Write = apiserver.Write

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

// TargetOf returns what a HorizontalPodAutoscaler scales.
func TargetOf(autoscaler kube.Object) kube.Ref { return apiserver.TargetOf(autoscaler) }
