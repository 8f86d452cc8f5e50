package metacontroller

import (
	"cmp"
	"fmt"
	"slices"
)

// mostStatusBytes is the size of the largest status. The API server stores 1.5 MiB
// of an object, spec and metadata included, and refuses all of a status that has no
// room: nothing would be told any more. The names of 5,000 Pods, of 63 characters
// each, are 330 KB.
const mostStatusBytes = 1 << 20

// mostStoredBytes is the size of the largest object that etcd stores, and
// reservedBytes what an object has to leave of that for a status: for the names of
// its fields, which the API server adds to managedFields.
const (
	mostStoredBytes = 1536 << 10
	reservedBytes   = 128 << 10
)

// checkRoom makes sure that the API server can store a status. A parent has no room
// for it where somebody has given it that many labels, of which no schema bounds the
// number. What a hook remembers in its status would be lost each time then, the time
// that it waits between two tries included, and it would try as often as at first, for
// ever. After an error Metacontroller waits longer each time. Nothing stops a teardown.
func (r *request) checkRoom(status []byte) error {
	if r.finalizing {
		return nil
	}
	size := len(r.parent) - len(lookup(r.parent, "status")) + len(status)
	if size <= mostStoredBytes-reservedBytes {
		return nil
	}
	return badRequest("with its status the parent has %d bytes, and the API server stores a status up to %d: make the spec, the labels or the annotations smaller",
		size, mostStoredBytes-reservedBytes)
}

// statusMember is a member of a status.
type statusMember struct{ name, value []byte }

// fitStatus returns a status that can be stored. What is written for a person to
// read has been cut by now, so that what is too long is a list. Which of its items
// can be done without only the hook knows, so that this is an error, which names the
// list. But nothing stops a teardown: there the longest lists become empty, for what
// a hook remembers in a status it has to do without anyway when the status is lost.
func fitStatus(status []byte, isTeardown bool) ([]byte, error) {
	if len(status) <= mostStatusBytes {
		return status, nil
	}
	var all []statusMember
	members(status, func(key, value []byte) bool {
		all = append(all, statusMember{slices.Clone(key), value})
		return true
	})
	byLength := make([]int, len(all))
	for i := range all {
		byLength[i] = i
	}
	slices.SortStableFunc(byLength, func(a, b int) int { return cmp.Compare(len(all[b].value), len(all[a].value)) })
	if longest := all[byLength[0]]; !isTeardown {
		return nil, fmt.Errorf("the status would have %d bytes, %d of them in status.%.64s, and no more than %d can be stored: make the spec ask for less",
			len(status), len(longest.value), longest.name, mostStatusBytes)
	}
	length := len(status)
	for _, i := range byLength {
		if length <= mostStatusBytes {
			break
		}
		value := all[i].value
		switch value[0] {
		case '[':
			all[i].value = []byte("[]") // and not left out: the schema may ask for it
		case '{':
			all[i].value = []byte("{}")
		}
		length -= len(value) - len(all[i].value)
	}
	if length > mostStatusBytes {
		return []byte("{}"), nil
	}
	fit := append(make([]byte, 0, length), '{')
	for i, member := range all {
		if i > 0 {
			fit = append(fit, ',')
		}
		fit = append(append(appendString(fit, string(member.name)), ':'), member.value...)
	}
	return append(fit, '}'), nil
}
