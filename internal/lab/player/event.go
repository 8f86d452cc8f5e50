package player

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/internal/lab/cluster/apiserver"
	"github.com/operetta-dev/operetta/internal/lab/cluster/composite"
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

// Event is a change of an object in one step. All changes of one sort in one step are one event.
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

func (w *World) record(c apiserver.Write) {
	w.recent = append(w.recent, c)
	by := string(c.By)
	switch {
	case c.Before == nil:
		if w.IsChild(c.After) && !w.isParentKind(c.Ref) && w.builtin.Waits(c.After) {
			w.waiting = append(w.waiting, c.Ref)
		}
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

// Paths returns the changed fields, as in "spec.replicas: 3 -> 4", before and after.
func (e Event) Paths() []string {
	var paths []string
	for _, d := range e.Differences() {
		paths = append(paths, fmt.Sprintf("%s: %s -> %s", d.Path, d.Before, d.After))
	}
	return paths
}

// Difference is a field in which two objects differ, with both values in one short line: what is
// around the first difference, if they are long.
type Difference struct{ Path, Before, After string }

// Differences returns how two objects differ, except for their status, in the order of the paths.
// It has no values of Secrets.
func Differences(before, after Object) []Difference {
	was, is := Visible(before), Visible(after)
	metadata := difference(nil, "metadata", was["metadata"], is["metadata"])
	delete(was, "metadata")
	delete(is, "metadata")
	rest := difference(nil, "", was, is)
	if after.GetKind() == "Secret" {
		for i := range rest {
			if member, _, _ := strings.Cut(rest[i].Path, "."); member == "data" || member == "stringData" {
				rest[i].Before, rest[i].After = Hidden, Hidden
			}
		}
	}
	return append(metadata, rest...)
}

// longestPath is how long a path is from which on a difference is told as a whole: there may be
// thousands of levels.
const longestPath = 300

func difference(list []Difference, path string, before, after any) []Difference {
	if apiserver.Equal(before, after) {
		return list
	}
	old, oldIsMap := before.(map[string]any)
	now, nowIsMap := after.(map[string]any)
	if oldIsMap && nowIsMap && len(path) < longestPath {
		for _, key := range keysOf(old, now) {
			list = difference(list, strings.TrimPrefix(path+"."+key, "."), old[key], now[key])
		}
		return list
	}
	oldList, oldIsList := before.([]any)
	nowList, nowIsList := after.([]any)
	if oldIsList && nowIsList {
		if key := ListKey(oldList, nowList); key != "" {
			before, after := composite.ItemsByKey(key, oldList), composite.ItemsByKey(key, nowList)
			for _, name := range keysOf(before, after) {
				list = difference(list, path+"["+name+"]", before[name], after[name])
			}
			return list
		}
	}
	was, is := Shorten(before, after)
	return append(list, Difference{path, was, is})
}

// ListKey returns the member by which the items of two lists are told apart, or "" where they are
// compared as a whole.
func ListKey(old, now []any) string {
	key := composite.MergeKey(old, now)
	if isTyped(old) && isTyped(now) {
		key = "type"
	}
	if key == "" || len(composite.ItemsByKey(key, old)) != len(old) || len(composite.ItemsByKey(key, now)) != len(now) {
		return ""
	}
	return key
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

func whole(value any) string {
	if value == nil {
		return "(none)"
	}
	if s, ok := value.(string); ok && s != "" && !strings.ContainsAny(s, " \n\t") {
		return s
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}

// Shorten returns two values in one short line each: what is around the first difference.
func Shorten(before, after any) (was, is string) {
	const most, context = 60, 20
	old, now := []rune(whole(before)), []rune(whole(after))
	same := 0
	for same < min(len(old), len(now)) && old[same] == now[same] {
		same++
	}
	cut := func(text []rune) string {
		if len(text) <= most {
			return string(text)
		}
		from := max(0, min(same-context, len(text)-most))
		to := min(len(text), from+most)
		middle := string(text[from:to])
		if from > 0 {
			middle = "…" + middle
		}
		if to < len(text) {
			middle += "…"
		}
		return middle
	}
	return cut(old), cut(now)
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
