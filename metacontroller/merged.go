package metacontroller

import (
	"bytes"
	"slices"
	"strconv"
)

// mostMerged is by how many bytes Metacontroller may make an observed child larger when it merges
// the desired one into it: an API server stores no object that is half as large.
const mostMerged = 3 << 20

// checkMerged refuses an observed child, of a kind that is updated in place, that Metacontroller
// would make very large: it replaces each entry of a list by the last one with the same key,
// into which it has merged the desired one. Anybody who may edit the child can write thousands of
// them, whose update takes as much memory as all namespaces have for it.
func checkMerged(observed Snapshot, desired []byte) error {
	// At most each entry of a list, and of one in each of them, becomes as large as both together.
	objects := bytes.Count(observed.raw, []byte{'{'})
	// As a float, for where etcd stores more than 1.5 MiB an integer overflows.
	if float64((objects+1)/2)*float64(objects/2)*float64(len(observed.raw)+len(desired))*float64(mostPerByte) <= mostMerged {
		return nil
	}
	m := merging{desired: desired}
	// What is large without that is so by itself.
	plain := encodedSize(observed.raw)
	for _, name := range unmerged {
		plain -= encodedSize(lookup(observed.raw, name))
	}
	if size := m.size(observed.raw); size-plain > mostMerged {
		return badRequest("it has several entries with one key in %.300s, as which Metacontroller would write %d bytes: remove all of them but one", m.list, size)
	}
	return nil
}

// unmerged are the parts of an object of which no list is merged.
var unmerged = []string{"metadata", "status"}

// merging adds up how large Metacontroller makes an object at most.
type merging struct {
	desired []byte
	entries map[entry]int // sizes of those of desired, once they are asked for
	path    []byte        // of the current value
	place   []byte        // the same without indexes
	list    string        // the path of the list that grows the most
	grown   int           // by so many bytes
}

// entry identifies those entries of lists that have one value of a key, at a path without
// indexes: they are told apart by no more than that.
type entry struct{ path, key, value string }

// desiredEntry returns the size of the largest desired entry.
func (m *merging) desiredEntry(of entry) int {
	if m.entries == nil {
		m.entries = map[entry]int{}
		m.readEntries("", m.desired)
	}
	return m.entries[of]
}

func (m *merging) readEntries(path string, value []byte) {
	members(value, func(key, member []byte) bool {
		m.readEntries(path+"."+string(key), member)
		return true
	})
	elements(value, func(element []byte) bool {
		for _, key := range mergeKeys {
			if value := lookup(element, key); value != nil {
				of := entry{path, key, string(keyText(value))}
				m.entries[of] = max(m.entries[of], encodedSize(element))
			}
		}
		m.readEntries(path+"[]", element)
		return true
	})
}

// keyText returns what Metacontroller compares of a key: 80 is the same as "80".
func keyText(value []byte) []byte {
	if value[0] == '"' {
		return unquote(value)
	}
	return value
}

// size returns the size of a value once each entry of a list in it is the last one with the
// same key.
func (m *merging) size(value []byte) int {
	switch value[0] {
	case '{':
		size := 2
		members(value, func(key, member []byte) bool {
			if len(m.path) == 0 && slices.Contains(unmerged, string(key)) {
				return true
			}
			path, place := len(m.path), len(m.place)
			m.path, m.place = append(append(m.path, '.'), key...), append(append(m.place, '.'), key...)
			size += len(key) + len(`"":,`) + m.size(member)
			m.path, m.place = m.path[:path], m.place[:place]
			return true
		})
		return size
	case '[':
		return m.sizeOfList(value)
	default:
		return encodedSize(value)
	}
}

func (m *merging) sizeOfList(list []byte) int {
	entries := elementsOf(list)
	sizes, plain := make([]int, len(entries)), len("[]")
	path, place := len(m.path), len(m.place)
	m.place = append(m.place, "[]"...)
	for i, entry := range entries {
		m.path = append(strconv.AppendInt(append(m.path[:path], '['), int64(i), 10), ']')
		sizes[i] = m.size(entry)
		plain += sizes[i] + len(",")
	}
	m.path, m.place = m.path[:path], m.place[:place]
	most := plain
	if len(entries) < 2 {
		return most
	}
	values := make([][len(mergeKeys)][]byte, len(entries))
	for i, entry := range entries {
		members(entry, func(key, value []byte) bool {
			if k := slices.Index(mergeKeys[:], string(key)); k >= 0 {
				values[i][k] = keyText(value)
			}
			return true
		})
	}
	for k, key := range mergeKeys {
		if !hasSame(values, k) {
			continue
		}
		last := make(map[string]int, len(entries)) // sizes, by the value of the key
		for i, of := range values {
			last[string(of[k])] = sizes[i]
		}
		for value := range last {
			last[value] += m.desiredEntry(entry{string(m.place), key, value})
		}
		size := len("[]")
		for _, of := range values {
			size += last[string(of[k])] + len(",")
		}
		most = max(most, size)
	}
	if grown := most - plain; grown > m.grown {
		m.grown, m.list = grown, string(m.path[min(1, len(m.path)):])
	}
	return most
}

// hasSame reports whether all entries have a key, and some the same value of it.
func hasSame(values [][len(mergeKeys)][]byte, key int) bool {
	sorted := make([][]byte, 0, len(values))
	for _, of := range values {
		if of[key] == nil {
			return false
		}
		sorted = append(sorted, of[key])
	}
	slices.SortFunc(sorted, bytes.Compare)
	for i := range sorted[1:] {
		if bytes.Equal(sorted[i], sorted[i+1]) {
			return true
		}
	}
	return false
}
