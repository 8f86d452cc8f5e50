package metacontroller

import (
	"bytes"

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
	// controller has an object of that name.
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

// describeAnswer fills in what an answer that has been built says and changes.
func (c Controller) describeAnswer(answer *Answer, req *request, out *outcome) {
	answer.Ready = readyOf(out.status)
	answer.Finalized = out.finalized && !req.isLeaving()
	answer.Changes = c.changes(req, out)
	answer.Changes.Status = !sameStatus(req.parent.status, out.status)
}

func (c Controller) changes(req *request, out *outcome) Changes {
	var found Changes
	for _, objects := range req.children.byKind {
		for i := range objects {
			if !objects[i].Terminating {
				found.Removed++ // until it is asked for
			}
		}
	}
	for _, object := range out.children {
		child, err := describe(object)
		if err != nil {
			continue
		}
		snapshot, isObserved := req.children.Find(child.APIVersion, child.Kind, child.Name)
		switch {
		case !isObserved && c.isTaken(req, child):
			found.Withheld++
			continue
		case !isObserved:
			found.Created++
			continue
		case snapshot.Terminating:
			continue
		}
		found.Removed--
		if c.updates(&snapshot, object) {
			found.Updated++
		}
	}
	return found
}

// updates reports whether an observed child is asked to become something else.
func (c Controller) updates(observed *Snapshot, wanted Object) bool {
	declared, _ := c.child(observed.APIVersion, observed.Kind)
	if declared.Update != InPlace {
		return false
	}
	if keep, ok := wanted.(*kept); ok {
		value, _ := rawjson.Text(rawjson.Lookup(observed.raw, keep.path...))
		return keep.path != nil && value != keep.value
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
	if !rawjson.IsObject(told) {
		return false
	}
	before, after := aroundGeneration(told)
	otherBefore, otherAfter := aroundGeneration(answered)
	if otherAfter == nil {
		otherBefore, otherAfter = answered[:min(len(before), len(answered))], answered[min(len(before), len(answered)):]
	} else if after == nil {
		before, after = told[:min(len(otherBefore), len(told))], told[min(len(otherBefore), len(told)):]
	}
	return bytes.Equal(before, otherBefore) && bytes.Equal(after, otherAfter)
}

// aroundGeneration returns what stands before and behind status.observedGeneration, without a comma
// too many. Before is everything where there is none.
func aroundGeneration(status []byte) (before, after []byte) {
	const name = `"observedGeneration":`
	value := rawjson.Lookup(status, "observedGeneration")
	start := cap(status) - cap(value) - len(name) // a value ends where its text does
	if value == nil || start < 0 {
		return status, nil
	}
	before, after = status[:start], status[start+len(name)+len(value):]
	if rest, found := bytes.CutPrefix(after, []byte(",")); found {
		return before, rest
	}
	return bytes.TrimSuffix(before, []byte(",")), after
}
