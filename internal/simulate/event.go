package simulate

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/internal/simulate/apiserver"
	"github.com/operetta-dev/operetta/internal/simulate/composite"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Step is a step with at least one event.
type Step struct {
	// Number counts from 1.
	Number int
	// Time is the time inside the World.
	Time   time.Time
	Events []Event
}

// Verb is the sort of an event.
type Verb string

// The verbs of events.
const (
	Created  Verb = "created"
	Changed  Verb = "changed"  // its spec, data or metadata
	Reported Verb = "reported" // its status has changed
	Deleting Verb = "deleting" // its deletion was requested
	Deleted  Verb = "deleted"  // it is gone
	Failed   Verb = "failed"   // its sync has failed, Detail says why
	Struck   Verb = "struck"   // by a fault, see Detail
)

// Event is a change of an object in one step. All changes of one sort in one
// step are one event.
type Event struct {
	Verb Verb
	// Object is the object after the event, or before its removal. It must not
	// be modified, and is nil for a fault.
	Object Object
	// Before is the object as it was, or nil.
	Before Object
	// By is who did it: "applied" and "deleted by hand" stand for a user, "the
	// hook" for Metacontroller, "Kubernetes" for the rest.
	By     string
	Detail string
}

// record records a change as an event of the current step.
func (w *World) record(c apiserver.Write) {
	w.recent = append(w.recent, c)
	by := string(c.By)
	switch {
	case c.Before == nil:
		w.events = append(w.events, Event{Verb: Created, Object: c.After, By: by})
		return
	case c.After == nil:
		delete(w.foreign, c.Ref) // another object of that name may have another owner
		w.events = append(w.events, Event{Verb: Deleted, Object: c.Before, Before: c.Before, By: by})
		return
	case c.Before.GetDeletionTimestamp() == nil && c.After.GetDeletionTimestamp() != nil:
		w.addEvent(Event{Verb: Deleting, Object: c.After, Before: c.Before, By: by})
		return
	}
	if !apiserver.SameBut(c.Before, c.After, "metadata", "status") || !apiserver.Equal(visibleMetadata(c.Before), visibleMetadata(c.After)) {
		w.addEvent(Event{Verb: Changed, Object: c.After, Before: c.Before, By: by})
	}
	if !apiserver.Equal(c.Before.Object["status"], c.After.Object["status"]) {
		w.addEvent(Event{Verb: Reported, Object: c.After, Before: c.Before, By: by})
	}
}

// addEvent adds an event, or merges it into an earlier one of the step.
func (w *World) addEvent(event Event) {
	for i := len(w.events) - 1; i >= 0 && i >= len(w.events)-16; i-- {
		other := &w.events[i]
		if other.Verb == event.Verb && other.By == event.By && other.Object != nil && RefOf(other.Object) == RefOf(event.Object) {
			other.Object = event.Object
			return
		}
	}
	w.events = append(w.events, event)
}

// hidden are the members of metadata that are not shown.
var hidden = []string{"resourceVersion", "generation", "managedFields", "uid", "creationTimestamp", "deletionGracePeriodSeconds"}

// hiddenAnnotations are written with every change.
var hiddenAnnotations = []string{
	metacontroller.LastAppliedAnnotation, metacontroller.HashAnnotation, "deployment.kubernetes.io/revision",
	"deprecated.daemonset.template.generation",
}

func metadataPaths(before, after Object) []string {
	return difference([]string{}, "metadata", visibleMetadata(before), visibleMetadata(after))
}

func visibleMetadata(object Object) map[string]any {
	visible := map[string]any{}
	metadata, _ := object.Object["metadata"].(map[string]any)
	for key, value := range metadata {
		if slices.Contains(hidden, key) {
			continue
		}
		if annotations, ok := value.(map[string]any); ok && key == "annotations" {
			shown := map[string]any{}
			for name, text := range annotations {
				if !slices.Contains(hiddenAnnotations, name) {
					shown[name] = text
				}
			}
			value = shown
			if len(shown) == 0 {
				continue
			}
		}
		visible[key] = value
	}
	return visible
}

// Paths returns the changed fields, as in "spec.replicas: 3 -> 4", in the order
// of the paths. It is empty for other events.
func (e Event) Paths() []string {
	if e.Before == nil || e.Object == nil || e.Verb != Changed && e.Verb != Reported {
		return nil
	}
	if e.Verb == Reported {
		return difference(nil, "status", e.Before.Object["status"], e.Object.Object["status"])
	}
	before, after := maps.Clone(e.Before.Object), maps.Clone(e.Object.Object)
	for _, content := range []map[string]any{before, after} {
		delete(content, "metadata")
		delete(content, "status")
	}
	return append(metadataPaths(e.Before, e.Object), difference(nil, "", before, after)...)
}

// longestPath is how long a path is from which on a difference is told as a whole: there may be
// thousands of levels.
const longestPath = 300

// difference appends the fields in which two values differ.
func difference(paths []string, path string, before, after any) []string {
	if apiserver.Equal(before, after) {
		return paths
	}
	old, oldIsMap := before.(map[string]any)
	now, nowIsMap := after.(map[string]any)
	if oldIsMap && nowIsMap && len(path) < longestPath {
		for _, key := range keysOf(old, now) {
			paths = difference(paths, strings.TrimPrefix(path+"."+key, "."), old[key], now[key])
		}
		return paths
	}
	oldList, oldIsList := before.([]any)
	nowList, nowIsList := after.([]any)
	if oldIsList && nowIsList {
		return differenceOfLists(paths, path, oldList, nowList)
	}
	return append(paths, fmt.Sprintf("%s: %s -> %s", path, brief(before), brief(after)))
}

// differenceOfLists compares items by their names or types if they have one.
func differenceOfLists(paths []string, path string, old, now []any) []string {
	key := composite.MergeKey(old, now)
	if isTyped(old) && isTyped(now) {
		key = "type"
	}
	if key == "" || len(composite.ItemsByKey(key, old)) != len(old) || len(composite.ItemsByKey(key, now)) != len(now) {
		return append(paths, fmt.Sprintf("%s: %s -> %s", path, brief(old), brief(now)))
	}
	before, after := composite.ItemsByKey(key, old), composite.ItemsByKey(key, now)
	for _, name := range keysOf(before, after) {
		paths = difference(paths, path+"["+name+"]", before[name], after[name])
	}
	return paths
}

func isTyped(list []any) bool {
	for _, item := range list {
		if fields, _ := item.(map[string]any); fields["type"] == nil {
			return false
		}
	}
	return true
}

func keysOf(objects ...map[string]any) []string {
	all := map[string]any{}
	for _, some := range objects {
		maps.Copy(all, some)
	}
	return slices.Sorted(maps.Keys(all))
}

// brief returns a value in one short line.
func brief(value any) string {
	const most = 60
	if value == nil {
		return "(none)"
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	if s, ok := value.(string); ok && s != "" && !strings.ContainsAny(s, " \n\t") {
		text = []byte(s)
	}
	if runes := []rune(string(text)); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return string(text)
}

// ConditionText is a condition of any kind of object.
type ConditionText struct{ Status, Reason, Message string }

// Condition returns an object's condition of a type, or an empty one.
func Condition(object Object, conditionType string) ConditionText {
	if object == nil {
		return ConditionText{}
	}
	list, _, _ := unstructured.NestedFieldNoCopy(object.Object, "status", "conditions")
	conditions, _ := list.([]any)
	for _, condition := range conditions {
		if c, _ := condition.(map[string]any); c["type"] == conditionType {
			status, _ := c["status"].(string)
			reason, _ := c["reason"].(string)
			message, _ := c["message"].(string)
			return ConditionText{status, reason, message}
		}
	}
	return ConditionText{}
}
