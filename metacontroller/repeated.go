package metacontroller

import (
	"bytes"
	"slices"
)

// keyBytes is the memory to remember the name of a member while its object is
// checked for duplicates.
const keyBytes = 2 * 24 // a slice, in a list that grows by doubling

// refuseDuplicateKeys refuses a parent with duplicate keys in an object. No API
// server stores such an object. Decoding would merge the two members, while
// validation sees only the last.
func (r *request) refuseDuplicateKeys() error {
	if err := r.run.spendTemporarily(int64(len(r.parent)) + countMembers(r.parent)*keyBytes); err != nil {
		return err
	}
	if name := duplicateKey(r.parent); name != nil {
		return badRequest("the parent has two members %.50q in one object: write each once", name)
	}
	return nil
}

// countMembers returns how many members the objects of a text have. Colons in
// strings do not count: a long string of them would cost more memory than a
// call may have.
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

// duplicateKey returns a duplicate key of any object in a text, or nil. It reads
// the text once, however deep it is.
func duplicateKey(raw []byte) (name []byte) {
	const list = -1
	var keys [][]byte // of the open objects, one after the other
	var open []int    // for each open object, where its keys begin; also for lists
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
				if name = duplicate(keys[begin:]); name != nil {
					return name
				}
				keys = keys[:begin]
			}
			open, isKey = open[:last], false
		}
	}
	return nil
}

// duplicate returns a duplicate in a list of names, or nil. It sorts the list.
func duplicate(keys [][]byte) []byte {
	slices.SortFunc(keys, bytes.Compare)
	for i := 1; i < len(keys); i++ {
		if bytes.Equal(keys[i-1], keys[i]) {
			return append([]byte{}, keys[i]...) // not nil if it is empty
		}
	}
	return nil
}
