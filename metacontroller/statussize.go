package metacontroller

import (
	"cmp"
	"fmt"
	"slices"
)

// mostStatusBytes is the size of the largest status. The API server stores 1.5
// MiB of an object, spec and metadata included, and refuses a status that does
// not fit as a whole: users would see no status any more. The names of 5,000
// Pods, of 63 characters each, are 330 KB.
const mostStatusBytes = 1 << 20

// mostStoredBytes is the size of the largest object that etcd stores, and
// reservedBytes is kept free for the managedFields entries that the API server
// adds for a status.
const (
	mostStoredBytes = 1536 << 10
	reservedBytes   = 128 << 10
)

// checkRoom makes sure that the API server can store a status. A parent has no
// room for it if somebody has given it too many labels, which no schema limits.
// Then the status would be lost each time, and with it the time between two
// attempts, so the hook would retry at full speed for ever; after an error
// Metacontroller backs off. A teardown is never stopped.
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

// fitStatus returns a status that can be stored. Messages have been cut by now,
// so that what is too long is a list. Only the hook knows which items matter,
// so this is an error that names the list. But nothing may stop a teardown:
// there the longest lists are emptied, because a hook must cope with a lost
// status anyway.
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
			all[i].value = []byte("[]") // not left out: the schema may require it
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
