package metacontroller

import "bytes"

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

// describeAnswer fills in what an answer that has been built says and changes. It reads
// texts where they stand, and costs no memory that grows with them.
func (c Controller) describeAnswer(answer *Answer, req *request, out *outcome, taken *takenNames) {
	const begin = `{"status":`
	status := answer.Body[len(begin):skipValue(answer.Body, len(begin))]
	answer.Ready = readyOf(status)
	answer.Finalized = out.finalized && !req.isLeaving()
	answer.Changes = c.changes(req, out, taken)
	answer.Changes.Status = !sameStatus(lookup(req.parent, "status"), status)
}

func (c Controller) changes(req *request, out *outcome, taken *takenNames) Changes {
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
		case !isObserved && taken.isTaken(child):
			found.Withheld++
			continue
		case !isObserved:
			found.Created++
			continue
		case snapshot.Terminating:
			continue
		}
		found.Removed--
		if c.updates(snapshot, object) {
			found.Updated++
		}
	}
	return found
}

// updates reports whether an observed child is asked to become something else.
func (c Controller) updates(observed Snapshot, wanted Object) bool {
	declared, _ := c.child(observed.APIVersion, observed.Kind)
	if declared.Update != InPlace {
		return false
	}
	if keep, ok := wanted.(*kept); ok {
		value, _ := text(lookup(observed.raw, keep.path...))
		return keep.path != nil && value != keep.value
	}
	return observed.hash() != wanted.GetAnnotations()[HashAnnotation]
}

// readyOf returns what the conditions of a status say in Ready.
func readyOf(status []byte) (ready ReadyCondition) {
	elements(lookup(status, "conditions"), func(condition []byte) bool {
		if string(lookup(condition, "type")) != `"Ready"` {
			return true
		}
		ready.Status, _ = text(lookup(condition, "status"))
		ready.Reason, _ = text(lookup(condition, "reason"))
		return false
	})
	return ready
}

// observedGeneration is the member of a status that Metacontroller adds.
const observedGeneration = "observedGeneration"

// sameStatus reports whether an answered status says what the request told, but for the
// generation that Metacontroller writes itself. Both have their members in the order of
// their names, as everything has that Go writes from maps; where one has not, they
// count as different.
func sameStatus(told, answered []byte) bool {
	if !isObject(told) {
		return false
	}
	return sameMembers(told, answered, observedGeneration)
}

// sameMembers compares two objects, but for one member.
func sameMembers(a, b []byte, but string) bool {
	next := membersOf(b)
	same := members(a, func(key, value []byte) bool {
		if but != "" && string(key) == but {
			return true
		}
		otherKey, other, found := next()
		if found && but != "" && string(otherKey) == but {
			otherKey, other, found = next()
		}
		return found && bytes.Equal(key, otherKey) && sameValue(value, other)
	})
	if !same {
		return false
	}
	key, _, found := next()
	if found && but != "" && string(key) == but {
		_, _, found = next()
	}
	return !found
}

// membersOf returns a function that returns an object's members one after the other.
func membersOf(object []byte) (next func() (key, value []byte, found bool)) {
	i := skipSpace(object, 0) + 1
	return func() (key, value []byte, found bool) {
		if i = skipSpace(object, i); object[i] == ',' {
			i = skipSpace(object, i+1)
		}
		if object[i] == '}' {
			return nil, nil, false
		}
		key, value, i = memberAt(object, i)
		return key, value, true
	}
}

func sameValue(a, b []byte) bool {
	switch {
	case bytes.Equal(a, b):
		return true
	case a[0] != b[0]:
		return false
	case a[0] == '"':
		return bytes.Equal(unquote(a), unquote(b)) // one escapes what the other does not
	case a[0] == '{':
		return sameMembers(a, b, "")
	case a[0] == '[':
		return sameItems(a, b)
	default:
		return false
	}
}

// sameItems compares two lists.
func sameItems(a, b []byte) bool {
	i := skipSpace(b, 0) + 1
	same := true
	elements(a, func(item []byte) bool {
		if i = skipSpace(b, i); b[i] == ',' {
			i = skipSpace(b, i+1)
		}
		if same = b[i] != ']'; !same {
			return false
		}
		start := i
		i = skipValue(b, start)
		same = sameValue(item, b[start:i])
		return same
	})
	return same && b[skipSpace(b, i)] == ']'
}
