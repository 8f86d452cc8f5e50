package simulate

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/metacontroller"
)

// Verb is what happened.
type Verb string

// The verbs of an [Event].
const (
	Created  Verb = "created"
	Changed  Verb = "changed"
	Reported Verb = "reported" // the status changed
	Deleting Verb = "deleting"
	Deleted  Verb = "deleted"
	Failed   Verb = "failed" // a hook, or applying what it asked for
	Struck   Verb = "struck" // a fault
)

// Step is one round of everyone.
type Step struct {
	Number int
	Time   time.Time
	Events []Event
}

// Event is something that happened to an object.
type Event struct {
	Verb Verb
	// Object is the object afterwards, Before the one before a change.
	Object, Before *unstructured.Unstructured
	// By tells who did it.
	By string
	// Detail is the text of a failure or a fault.
	Detail string
}

// begin begins a step.
func (w *World) begin() {
	w.Steps = append(w.Steps, Step{Number: w.step, Time: w.now})
	w.inStep = true
}

func (w *World) note(event Event) {
	if !w.inStep { // someone outside acts between two steps
		w.begin()
	}
	last := &w.Steps[len(w.Steps)-1]
	last.Events = append(last.Events, event)
}

// IsOfParent reports whether the object is a custom resource of an operator.
func (w *World) IsOfParent(o *unstructured.Unstructured) bool {
	_, ok := w.controllerOf(o.GetAPIVersion(), o.GetKind())
	return ok
}

// IsChild reports whether the object belongs to a custom resource directly.
func (w *World) IsChild(o *unstructured.Unstructured) bool {
	owner := metav1.GetControllerOfNoCopy(o)
	if owner == nil {
		return false
	}
	_, ok := w.controllerOf(owner.APIVersion, owner.Kind)
	return ok
}

// noise are members that change with every write.
var noise = []string{
	"metadata.resourceVersion", "metadata.generation", "metadata.managedFields",
	"metadata.annotations." + metacontroller.LastAppliedAnnotation,
	"metadata.annotations." + metacontroller.HashAnnotation,
}

// Paths returns the members that a change has changed, with their old and new
// values, without those that change with every write.
func (e Event) Paths() []string {
	if e.Before == nil || e.Object == nil {
		return nil
	}
	var paths []string
	differences("", e.Before.Object, e.Object.Object, &paths)
	return paths
}

func differences(path string, before, after any, paths *[]string) {
	if slices.Contains(noise, path) || reflect.DeepEqual(before, after) {
		return
	}
	old, wasMap := before.(map[string]any)
	next, isMap := after.(map[string]any)
	if wasMap && isMap {
		names := sortedKeys(old)
		for name := range next {
			if _, known := old[name]; !known {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		for _, name := range names {
			differences(strings.TrimPrefix(path+"."+name, "."), old[name], next[name], paths)
		}
		return
	}
	oldList, wasList := before.([]any)
	nextList, isList := after.([]any)
	if wasList && isList && len(oldList) == len(nextList) {
		for i := range oldList {
			differences(fmt.Sprintf("%s[%d]", path, i), oldList[i], nextList[i], paths)
		}
		return
	}
	*paths = append(*paths, fmt.Sprintf("%s: %s -> %s", path, brief(before), brief(after)))
}

// brief prints a value in a few characters.
func brief(value any) string {
	switch value := value.(type) {
	case nil:
		return "(none)"
	case map[string]any:
		return fmt.Sprintf("{%s}", strings.Join(sortedKeys(value), ", "))
	case []any:
		return fmt.Sprintf("[%d items]", len(value))
	case string:
		const most = 60
		if len(value) > most {
			return value[:most] + "..."
		}
		return value
	default:
		return fmt.Sprint(value)
	}
}

func sortedKeys(object map[string]any) []string {
	names := make([]string, 0, len(object))
	for name := range object {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Condition returns a condition of an object, or an empty one.
func Condition(o *unstructured.Unstructured, conditionType string) metav1.Condition {
	c := conditionsOf(o)[conditionType]
	text := func(field string) string { value, _ := c[field].(string); return value }
	return metav1.Condition{
		Type: conditionType, Status: metav1.ConditionStatus(text("status")), Reason: text("reason"), Message: text("message"),
	}
}

// Progress returns how far an object is, as kubectl get would show it, or
// nothing for a kind that just exists.
func Progress(o *unstructured.Unstructured) string {
	number := func(name string) int64 { n, _, _ := unstructured.NestedInt64(o.Object, "status", name); return n }
	switch keyKind(o) {
	case "Deployment.apps/v1", "StatefulSet.apps/v1":
		want, _, _ := unstructured.NestedInt64(o.Object, "spec", "replicas")
		return fmt.Sprintf("%d/%d ready, %d updated, %d available", number("readyReplicas"), want, number("updatedReplicas"), number("availableReplicas"))
	case "DaemonSet.apps/v1":
		return fmt.Sprintf("%d/%d ready", number("numberReady"), number("desiredNumberScheduled"))
	case "Job.batch/v1":
		for _, conditionType := range []string{"Complete", "Failed"} {
			if c := Condition(o, conditionType); c.Status == metav1.ConditionTrue {
				return c.Type + ": " + c.Message
			}
		}
		return fmt.Sprintf("%d active, %d failed", number("active"), number("failed"))
	case "Pod.v1":
		phase, _, _ := unstructured.NestedString(o.Object, "status", "phase")
		if isReady(o) {
			phase += ", ready"
		}
		return phase
	}
	return ""
}
