package metacontroller

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// ordered are the lists of named entries whose order has a meaning: a variable may use those
// before it, and init containers run one after the other. Under dynamic-apply, Metacontroller
// keeps the order in which they are observed, and adds new entries at the end.
var ordered = []string{"env", "initContainers"}

// neverDropped are fields that every API server has, so that one that is missing has been
// removed, with a required field beside them. Fields that an API server does not know, or whose
// feature is off, it drops.
var neverDropped = map[string]string{
	"initContainers": "containers", "volumes": "containers", "nodeSelector": "containers", "affinity": "containers", "tolerations": "containers",
	"serviceAccountName": "containers", "imagePullSecrets": "containers", "securityContext": "containers",
	"volumeClaimTemplates": "template",
	"selector":             "sessionAffinity", // of a Service
}

// drift returns the path of a field in which an observed child is not what is asked for
// although it carries the hash of that, or "": something else has changed it, and the update
// that would change it back has not come or is refused. Both are in their wire form. What
// others have added does not count, and neither does a field that is missing as a whole but
// for those of list entries and of data and those that are never dropped, nor what is more than
// [deepestType] levels down.
func drift(observed, desired []byte) string {
	return strings.TrimPrefix(driftOf(observed, desired, "", false, 0), ".")
}

// driftOf is drift for a value, with its name. The path is one that follows that of the value,
// and a dot alone for the value itself.
func driftOf(observed, desired []byte, name string, isWhole bool, depth int) string {
	same := true
	switch {
	case depth > deepestType: // each level goes through the text that is left
	case isNull(desired):
	case isObject(desired) && isObject(observed):
		return driftOfObject(observed, desired, isWhole || name == "data" || name == "binaryData", depth+1)
	case desired[0] == '[' && observed[0] == '[':
		return driftOfList(observed, desired, name, depth+1)
	case desired[0] == '"' && observed[0] == '"':
		same = bytes.Equal(observed, desired) || bytes.Equal(unquote(observed), unquote(desired))
	default:
		same = bytes.Equal(observed, desired) || isSameNumber(observed, desired)
	}
	if same {
		return ""
	}
	return "."
}

func driftOfObject(observed, desired []byte, isWhole bool, depth int) (path string) {
	var room [16]member
	has := room[:0]
	members(observed, func(key, value []byte) bool {
		has = append(has, member{key, value})
		return true
	})
	byKey := func(m member, key []byte) int { return bytes.Compare(m.key, key) }
	isLarge := len(has) > len(room)
	if isLarge { // Metacontroller sends most of them in order
		slices.SortStableFunc(has, func(a, b member) int { return byKey(a, b.key) })
	}
	find := func(key []byte) (at int, found bool) {
		if isLarge {
			return slices.BinarySearchFunc(has, key, byKey)
		}
		at = slices.IndexFunc(has, func(m member) bool { return bytes.Equal(m.key, key) })
		return at, at >= 0
	}
	members(desired, func(key, value []byte) bool {
		at, found := find(key)
		switch {
		case found:
			path = driftOf(has[at].value, value, string(key), isWhole, depth)
		case isWhole && !isNull(value), isRemoved(has, key) && !isEmpty(value):
			path = "."
		}
		if path != "" {
			path = "." + string(key) + trimDot(path)
		}
		return path == ""
	})
	return path
}

// isRemoved reports whether a field that an object lacks has been removed.
func isRemoved(has []member, key []byte) bool {
	beside := neverDropped[string(key)]
	return beside != "" && slices.ContainsFunc(has, func(m member) bool { return string(m.key) == beside })
}

// isEmpty reports whether a raw value is one that an API server may leave out.
func isEmpty(raw []byte) bool {
	switch raw[0] {
	case '{', '[':
		return raw[skipSpace(raw, 1)] == raw[0]+2 // '}' or ']'
	case '"':
		return len(raw) == len(`""`)
	case 'n', 'f':
		return true
	}
	return string(raw) == "0"
}

type member struct{ key, value []byte }

func trimDot(path string) string {
	if path == "." {
		return ""
	}
	return path
}

// driftOfList is driftOf for lists. Where all entries have one of the merge keys, others may
// have added some.
func driftOfList(observed, desired []byte, name string, depth int) string {
	has, wants := elementsOf(observed), elementsOf(desired)
	key := mergeKeyOf(has, wants)
	if key == "" && len(has) != len(wants) {
		return "."
	}
	if key != "" && len(has) > len(wants) {
		if i := repeated(has, wants, key); i >= 0 {
			return "[" + strconv.Itoa(i) + "], which is there more than once"
		}
	}
	var places map[string]int // of the entries that are observed, if one is not where it is wanted
	last := -1
	for i, want := range wants {
		at := i
		if key != "" {
			value := keyText(lookup(want, key))
			if at >= len(has) || !bytes.Equal(keyText(lookup(has[at], key)), value) { // mostly in the same order
				if places == nil {
					places = placesOf(has, key)
				}
				found := false
				if at, found = places[string(value)]; !found {
					return "[" + strconv.Itoa(i) + "]"
				}
			}
		}
		if at < last && slices.Contains(ordered, name) {
			return ", whose entries are in another order"
		}
		last = at
		if path := driftOf(has[at], want, "", true, depth); path != "" {
			return "[" + strconv.Itoa(i) + "]" + trimDot(path)
		}
	}
	return ""
}

// repeated returns the index of a wanted entry whose key is observed more often than it is
// wanted, or -1: of variables with one name the last one counts.
func repeated(has, wants [][]byte, key string) int {
	surplus := make(map[string]int, len(has))
	for _, entry := range has {
		surplus[string(keyText(lookup(entry, key)))]++
	}
	for _, entry := range wants {
		surplus[string(keyText(lookup(entry, key)))]--
	}
	return slices.IndexFunc(wants, func(entry []byte) bool { return surplus[string(keyText(lookup(entry, key)))] > 0 })
}

// placesOf returns where the first entry of each value of a key is.
func placesOf(entries [][]byte, key string) map[string]int {
	places := make(map[string]int, len(entries))
	for i, entry := range slices.Backward(entries) {
		places[string(keyText(lookup(entry, key)))] = i
	}
	return places
}

// mergeKeyOf returns the merge key that all entries of two lists have, or "".
func mergeKeyOf(has, wants [][]byte) string {
	if len(wants) == 0 {
		return ""
	}
	for _, key := range mergeKeys {
		lacks := func(entry []byte) bool { return !isObject(entry) || isNull(lookup(entry, key)) }
		if !slices.ContainsFunc(wants, lacks) && !slices.ContainsFunc(has, lacks) {
			return key
		}
	}
	return ""
}

func elementsOf(raw []byte) (found [][]byte) {
	elements(raw, func(value []byte) bool {
		found = append(found, value)
		return true
	})
	return found
}

func isSameNumber(a, b []byte) bool {
	x, errX := strconv.ParseFloat(string(a), 64)
	y, errY := strconv.ParseFloat(string(b), 64)
	return errX == nil && errY == nil && x == y
}
