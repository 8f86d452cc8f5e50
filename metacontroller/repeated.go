package metacontroller

import (
	"bytes"
	"slices"
)

// keyBytes is what it costs to note the name of a member while its object is
// looked through.
const keyBytes = 2 * 24 // a slice, in a list that grows by doubling

// refuseRepeated refuses a parent in which an object has two members of one
// name. No API server stores such an object. Of two members decoding makes one
// that has something of both, and validation sees the last.
func (r *request) refuseRepeated() error {
	if err := r.run.passing(int64(len(r.parent)) + countMembers(r.parent)*keyBytes); err != nil {
		return err
	}
	if name := repeated(r.parent); name != nil {
		return badRequest("the parent has two members %.50q in one object: write each once", name)
	}
	return nil
}

// countMembers returns how many members the objects of a text have. Colons in strings are
// none: one string of them would cost more memory than a call may have.
func countMembers(raw []byte) int64 {
	var count int64
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			i = skipString(raw, i) - 1
		case ':':
			count++
		}
	}
	return count
}

// repeated returns the name of two members of one object anywhere in a text, or
// nil. It passes over the text once, however deep that is.
func repeated(raw []byte) (name []byte) {
	const list = -1
	var keys [][]byte // of the objects that are open, one behind the other
	var open []int    // of each object where its keys begin, or list
	isKey := false
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			end := skipString(raw, i)
			if isKey {
				keys = append(keys, unquote(raw[i:end]))
			}
			i, isKey = end-1, false
		case '{':
			open, isKey = append(open, len(keys)), true
		case '[':
			open, isKey = append(open, list), false
		case ',':
			isKey = open[len(open)-1] != list
		case ']', '}':
			last := len(open) - 1
			if begin := open[last]; begin != list {
				if name = twice(keys[begin:]); name != nil {
					return name
				}
				keys = keys[:begin]
			}
			open, isKey = open[:last], false
		}
	}
	return nil
}

// twice returns a name that stands twice in a list, or nil. It sorts the list.
func twice(keys [][]byte) []byte {
	slices.SortFunc(keys, bytes.Compare)
	for i := 1; i < len(keys); i++ {
		if bytes.Equal(keys[i-1], keys[i]) {
			return append([]byte{}, keys[i]...) // not nil where it is empty
		}
	}
	return nil
}
