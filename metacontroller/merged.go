package metacontroller

import "strconv"

const (
	// mostMerged is how many bytes Metacontroller may make of an observed child when it
	// merges the desired one into it: an API server reads no larger request.
	mostMerged = 3 << 20
	// cannotMultiply is a size of an observed child of which it makes less than mostMerged:
	// each of n entries, of some ten bytes at least, becomes as large as the last.
	cannotMultiply = 8 << 10
)

// checkMerged refuses an observed child, of a kind that is updated in place, that Metacontroller
// would make very large: it replaces each entry of a list by the last one with the same key.
// Anybody who may edit the child can write thousands of them, whose update takes as much memory
// as all namespaces have for it.
func checkMerged(observed Snapshot) error {
	if len(observed.raw) < cannotMultiply {
		return nil
	}
	m := merging{}
	if size := m.size(observed.raw); size > mostMerged {
		return badRequest("it has several entries with one key in %.300s, as which Metacontroller would write %d bytes: remove all of them but one", m.list, size)
	}
	return nil
}

// merging adds up how large Metacontroller makes an object at most.
type merging struct {
	path  []byte
	list  string // the path of the list that grows the most
	grown int    // by so many bytes
}

// size returns the size of a value once each entry of a list in it is the last one with the
// same key.
func (m *merging) size(value []byte) int {
	switch value[0] {
	case '{':
		size := 2
		members(value, func(key, member []byte) bool {
			if len(m.path) == 0 && (string(key) == "metadata" || string(key) == "status") {
				return true // no list of them is merged
			}
			size += len(key) + len(`"":,`) + m.at("."+string(key), member)
			return true
		})
		return size
	case '[':
		return m.sizeOfList(value)
	default:
		return len(value)
	}
}

// at returns the size of a value at a path below the current one.
func (m *merging) at(below string, value []byte) int {
	length := len(m.path)
	m.path = append(m.path, below...)
	size := m.size(value)
	m.path = m.path[:length]
	return size
}

func (m *merging) sizeOfList(list []byte) int {
	entries := elementsOf(list)
	sizes, plain := make([]int, len(entries)), len("[]")
	for i, entry := range entries {
		sizes[i] = m.at("["+strconv.Itoa(i)+"]", entry)
		plain += sizes[i] + len(",")
	}
	most := plain
	for _, key := range mergeKeys {
		last := make(map[string]int, len(entries)) // sizes, by the value of the key
		keys := make([]string, 0, len(entries))
		for i, entry := range entries {
			value := lookup(entry, key)
			if value == nil {
				break
			}
			keys = append(keys, string(value))
			last[string(value)] = sizes[i]
		}
		if len(keys) < len(entries) || len(last) == len(entries) {
			continue
		}
		size := len("[]")
		for _, key := range keys {
			size += last[key] + len(",")
		}
		most = max(most, size)
	}
	if grown := most - plain; grown > m.grown {
		m.grown, m.list = grown, string(m.path[min(1, len(m.path)):])
	}
	return most
}
