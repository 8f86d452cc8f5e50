package metacontroller

import (
	"bytes"
	"fmt"

	"github.com/operetta-dev/operetta/internal/rawjson"
)

// Changes are what an [Answer] has Metacontroller do, as far as the request tells what
// is there: what another has changed in an observed child, and is changed back, does not
// count.
type Changes struct {
	// Created, Updated and Removed are numbers of children. One that is being deleted
	// is none of them.
	Created, Updated, Removed int
	// Withheld is the number of children that are not asked for because another
	// controller has an object of that name, or nobody: see [Difference].Waiting.
	Withheld int
	// Status is set where the status is not what the request told.
	Status bool
}

// Any reports whether anything changes.
func (c Changes) Any() bool { return c.Created > 0 || c.Updated > 0 || c.Removed > 0 || c.Status }

// ReadyCondition is what a status says in its condition Ready. It is empty where the
// status has none.
type ReadyCondition struct {
	// Status is True, False or Unknown.
	Status string
	// Reason is the condition's reason.
	Reason string
}

// changed counts what an answer does about a desired child.
func (c Controller) changed(found *Changes, req *request, child AnsweredChild, object Object) {
	switch observed, exists := req.children.Find(child.APIVersion, child.Kind, child.Name); {
	case !exists:
		found.Created++
	case observed.Terminating:
	default:
		found.Removed-- // it is among those that stayed
		if c.updates(&observed, object) {
			found.Updated++
		}
	}
}

// staying returns the number of children that are not being deleted.
func (o Objects) staying() (n int) {
	for _, objects := range o.byKind {
		for i := range objects {
			if !objects[i].Terminating {
				n++
			}
		}
	}
	return n
}

// updates reports whether an observed child is asked to become something else.
func (c Controller) updates(observed *Snapshot, wanted Object) bool {
	declared, _ := c.Child(observed.APIVersion, observed.Kind)
	if declared.Update != InPlace {
		return false
	}
	if keep, ok := wanted.(*kept); ok {
		raw := rawjson.Lookup(observed.raw, keep.path...)
		value, isText := rawjson.Text(raw)
		if !isText {
			value = string(raw)
		}
		return keep.path != nil && value != fmt.Sprint(keep.value)
	}
	return observed.annotation(HashAnnotation) != wanted.GetAnnotations()[HashAnnotation]
}

// readyOf returns what the conditions of a status say in Ready.
func readyOf(status []byte) (ready ReadyCondition) {
	rawjson.Elements(rawjson.Lookup(status, "conditions"), func(condition []byte) bool {
		if string(rawjson.Lookup(condition, "type")) != `"Ready"` {
			return true
		}
		ready.Status, _ = rawjson.Text(rawjson.Lookup(condition, "status"))
		ready.Reason, _ = rawjson.Text(rawjson.Lookup(condition, "reason"))
		return false
	})
	return ready
}

// sameStatus reports whether an answered status says what the request told, but for the
// generation that Metacontroller writes itself. Both have their members in the order of their
// names, as everything has that Go writes from maps.
func sameStatus(told, answered []byte) bool {
	before, after := aroundGeneration(told)
	rest, found := bytes.CutPrefix(answered, before)
	return found && bytes.Equal(rest, after) || bytes.Equal(told, answered)
}

// aroundGeneration returns what stands before and behind status.observedGeneration, without a comma
// too many. Before is everything where there is none.
func aroundGeneration(status []byte) (before, after []byte) {
	const name = `"observedGeneration":`
	start, end := rawjson.Find(status, "observedGeneration")
	if end == 0 || !bytes.HasSuffix(status[:start], []byte(name)) {
		return status, nil
	}
	before, after = status[:start-len(name)], status[end:]
	if rest, found := bytes.CutPrefix(after, []byte(",")); found {
		return before, rest
	}
	return bytes.TrimSuffix(before, []byte(",")), after
}
