package metacontroller

import (
	"bytes"
	"fmt"
	"hash/maphash"
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
	if size, _ := m.value(observed.raw, skipSpace(observed.raw, 0)); size-plain > mostMerged {
		return badRequest("it has several entries with one key in %s, as which Metacontroller would write %d bytes: remove all of them but one", m.list, size)
	}
	return nil
}

// unmerged are the parts of an object of which no list is merged.
var unmerged = []string{"metadata", "status"}

// merging adds up how large Metacontroller makes an object at most. It goes through a text once,
// so that one of thousands of levels takes no longer than another.
type merging struct {
	desired []byte
	entries map[entry]int // sizes of those of desired, once they are asked for
	isRead  bool          // desired is being read: nothing grows, and all parts count
	path    []byte        // of the current value
	at      placeHash     // the same without indexes
	list    string        // the beginning of the path of the list that grows the most
	grown   int           // by so many bytes
}

// placeHash is the hash of a path. There can be as many as levels, each longer than the one above.
type placeHash uint64

var placeSeed = maphash.MakeSeed()

// below returns the place of a member, or that of what is in a list where the key is empty.
func (p placeHash) below(key []byte) placeHash {
	const odd = 0x9e3779b97f4a7c15 // so that the order counts
	return (p ^ placeHash(maphash.Bytes(placeSeed, key))) * odd
}

// entry identifies those entries of lists that have one value of a key, at a place: they are
// told apart by no more than that.
type entry struct {
	at         placeHash
	key, value string
}

// keyed is an entry of a list: its size, and where the values of its keys are, by the index of
// mergeKeys. There can be very many.
type keyed struct {
	size int
	keys [len(mergeKeys)]struct{ from, to int32 }
}

// value returns the value of a key as Metacontroller compares it.
func (of *keyed) value(raw []byte, key int) []byte {
	return keyText(raw[of.keys[key].from:of.keys[key].to])
}

// allKeys has a bit for each of mergeKeys.
const allKeys = 1<<len(mergeKeys) - 1

// desiredEntry returns the size of the largest desired entry with a key at the current place.
func (m *merging) desiredEntry(key, value string) int {
	if m.entries == nil {
		read := merging{isRead: true, entries: map[entry]int{}}
		read.value(m.desired, skipSpace(m.desired, 0))
		m.entries = read.entries
	}
	return m.entries[entry{m.at, key, value}]
}

// oddKey stands for all keys that are objects or lists: what Go prints of them is not compared
// here. Where there is one, a text that looks like it may be the same, and is noted as oddText, too.
const (
	oddKey  = "\xff{ or ["
	oddText = "\xffmap[ or ["
)

// looksOdd reports whether a key may be what Go prints of an object or list.
func looksOdd(key []byte) bool {
	return bytes.HasPrefix(key, []byte("map[")) || bytes.HasPrefix(key, []byte("["))
}

// keyText returns what Metacontroller compares of a key, which is what Go prints of it: 80, 8e1
// and "80" are the same, and so are null and "<nil>".
func keyText(value []byte) []byte {
	switch value[0] {
	case '"':
		return unquote(value)
	case '{', '[':
		return []byte(oddKey)
	case 'n':
		return []byte("<nil>")
	case 't', 'f':
		return value
	}
	if number, err := strconv.ParseInt(string(value), 10, 64); err == nil {
		if number > 0 {
			return value
		}
		return strconv.AppendInt(nil, number, 10) // of -0 as well
	}
	number, err := strconv.ParseFloat(string(value), 64)
	if err != nil {
		return value
	}
	return fmt.Append(nil, number)
}

// value returns the size of the value at i once each entry of a list in it is the last one with
// the same key, and the index behind it.
func (m *merging) value(raw []byte, i int) (size, end int) {
	switch raw[i] {
	case '{':
		return m.object(raw, i, nil)
	case '[':
		return m.elements(raw, i)
	default:
		end = skipValue(raw, i)
		return encodedSize(raw[i:end]), end
	}
}

// object is value for an object. It notes where the values of the keys of an entry are.
func (m *merging) object(raw []byte, i int, of *keyed) (size, end int) {
	size = len("{}")
	for i = skipSpace(raw, i+1); raw[i] != '}'; {
		end = skipString(raw, i)
		name := raw[i:end]
		key, start := unquote(name), skipSpace(raw, skipSpace(raw, end)+1) // over the colon
		if !m.isRead && len(m.path) == 0 && slices.Contains(unmerged, string(key)) {
			end = skipValue(raw, start)
		} else {
			path, place := len(m.path), m.at
			m.path, m.at = append(append(m.path, '.'), key...), place.below(key)
			var inner int
			inner, end = m.value(raw, start)
			size += encodedSize(name) + len(":,") + inner
			m.path, m.at = m.path[:path], place
		}
		if of != nil {
			if k := slices.Index(mergeKeys[:], string(key)); k >= 0 {
				of.keys[k].from, of.keys[k].to = int32(start), int32(end) //nolint:gosec // no object is that large
			}
		}
		if i = skipSpace(raw, end); raw[i] == ',' {
			i = skipSpace(raw, i+1)
		}
	}
	return size, i + 1
}

// elements is value for a list.
func (m *merging) elements(raw []byte, i int) (size, end int) {
	var entries []keyed // unless they have no key in common
	common, n := allKeys, 0
	plain := len("[]")
	path, place := len(m.path), m.at
	m.at = place.below(nil)
	for i = skipSpace(raw, i+1); raw[i] != ']'; n++ {
		m.path = append(strconv.AppendInt(append(m.path[:path], '['), int64(n), 10), ']')
		var of keyed
		if raw[i] == '{' {
			of.size, end = m.object(raw, i, &of)
		} else {
			of.size, end = m.value(raw, i)
		}
		plain += of.size + len(",")
		if m.isRead {
			m.note(raw, &of, place)
		} else if common &= of.has(); common != 0 {
			entries = append(entries, of)
		}
		if i = skipSpace(raw, end); raw[i] == ',' {
			i = skipSpace(raw, i+1)
		}
	}
	m.path, m.at = m.path[:path], place
	if common == 0 || len(entries) < 2 {
		return plain, i + 1
	}
	return m.grow(raw, plain, entries, common), i + 1
}

// has returns the bits of the keys that an entry has.
func (of *keyed) has() int {
	keys := 0
	for k, span := range of.keys {
		if span.to > 0 {
			keys |= 1 << k
		}
	}
	return keys
}

// note notes a desired entry of a list at a place.
func (m *merging) note(raw []byte, of *keyed, at placeHash) {
	for k, key := range mergeKeys {
		if of.keys[k].to == 0 {
			continue
		}
		value := of.value(raw, k)
		one := entry{at, key, string(value)}
		m.entries[one] = max(m.entries[one], of.size)
		if looksOdd(value) {
			one.value = oddText
			m.entries[one] = max(m.entries[one], of.size)
		}
	}
}

// grow returns the size of a list once each of its entries is the last one with the same key,
// one of those that all have in common.
func (m *merging) grow(raw []byte, plain int, entries []keyed, common int) int {
	most := plain
	for k, key := range mergeKeys {
		if common&(1<<k) == 0 {
			continue
		}
		values, odd := make([]string, len(entries)), false
		for i := range entries {
			values[i] = string(entries[i].value(raw, k))
			odd = odd || values[i] == oddKey
		}
		if slices.ContainsFunc(values, func(value string) bool { return looksOdd([]byte(value)) }) {
			odd = odd || m.desiredEntry(key, oddKey) > 0
		}
		last := make(map[string]int, len(entries)) // sizes, by the value of the key
		for i, value := range values {
			if odd && looksOdd([]byte(value)) {
				values[i] = oddKey
			}
			if values[i] == oddKey { // any of them may be one with another
				last[oddKey] = max(last[oddKey], entries[i].size)
			} else {
				last[value] = entries[i].size
			}
		}
		if len(last) == len(entries) {
			continue // there are no two of one key
		}
		for value := range last {
			if value == oddKey {
				last[value] += max(m.desiredEntry(key, oddKey), m.desiredEntry(key, oddText))
			} else {
				last[value] += m.desiredEntry(key, value)
			}
		}
		size := len("[]")
		for _, value := range values {
			size += last[value] + len(",")
		}
		most = max(most, size)
	}
	if grown := most - plain; grown > m.grown {
		m.grown, m.list = grown, string(m.path[min(1, len(m.path)):min(pathBytes, len(m.path))])
	}
	return most
}
