package operator

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/metacontroller"
)

// WatchPods is a policy of operators that read Pods only to say why a custom resource is not
// Ready: when their customize hook selects them. Each change of any Pod in the cluster costs
// Metacontroller some microseconds for each custom resource that selects Pods, see
// [metacontroller.Related]. The zero value is WatchAlways.
type WatchPods string

// The values of [WatchPods].
const (
	// WatchAlways selects Pods at all times, so that a cause is told at once.
	WatchAlways WatchPods = "Always"
	// WatchWhileNotReady selects none for a custom resource that is Ready when Metacontroller
	// asks. If it is Ready no more, the cause is told once Metacontroller has asked again: after
	// an edit, or within [metacontroller.RulesKept].
	WatchWhileNotReady WatchPods = "WhileNotReady"
	// WatchNever selects none.
	WatchNever WatchPods = "Never"
)

// Includes reports whether Pods are selected for a custom resource that is Ready, or not.
func (w WatchPods) Includes(isReady bool) bool {
	return w == WatchAlways || w == "" || w == WatchWhileNotReady && !isReady
}

// Validate returns what is wrong with the value of a policy's field watchPods.
func (w WatchPods) Validate() error {
	switch w {
	case WatchAlways, WatchWhileNotReady, WatchNever, "":
		return nil
	}
	return fmt.Errorf("watchPods: %q is unknown: write Always, WhileNotReady or Never", string(w))
}

// SeeWhy returns the end of a message about a custom resource that waits, where the request does
// not include its Pods: the command that shows what they wait for. Otherwise it returns "".
func SeeWhy(kind string, parent metav1.Object, request metacontroller.Observed) string {
	if request.Related.Includes(metacontroller.Pod) {
		return ""
	}
	command := "; to see why: kubectl operetta why " + kind + "/" + parent.GetName()
	if parent.GetNamespace() != "" {
		command += " -n " + parent.GetNamespace()
	}
	return command
}

// IsReadyAt reports whether the status says that what this generation of the spec asks for is
// Ready, and nothing of it Degraded. A customize hook asks it with the parent's metadata.generation.
func (s *Status) IsReadyAt(generation int64) bool {
	ready := meta.FindStatusCondition(s.Conditions, ConditionReady)
	return !meta.IsStatusConditionTrue(s.Conditions, ConditionDegraded) && ready != nil && ready.Status == metav1.ConditionTrue && ready.ObservedGeneration == generation
}
