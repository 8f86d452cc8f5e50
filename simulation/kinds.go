// Package simulation is what an author tells of an operator, beside its declaration, to those who
// simulate it: what must never happen to it, and what its Pods do. A server links nothing of it.
package simulation

// Kinds is what is told of the operators of a project, by their names: see
// [metacontroller.Controller.Name]. Of one that is not in it, nothing is told.
//
// [metacontroller.Controller.Name]: https://pkg.go.dev/github.com/operetta-dev/operetta/metacontroller#Controller.Name
type Kinds map[string]Kind

// Kind is what is told of an operator.
type Kind struct {
	Invariants
	// Workload is what the Pods of its children do. Without it they run without any effect.
	Workload Workload
}
