// Package rawjson reads JSON where it stands. A Reader checks a text and decodes parts of it, in one
// pass. The functions navigate a text that is known to be valid, and skip values by counting
// brackets.
package rawjson

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/bits"
)

// Members calls visit with the key and the raw value of each member of a JSON
// object, in the order of the text. It reports false if raw is no object, or if
// visit returned false.
func Members(raw []byte, visit func(key, value []byte) bool) bool {
	return members(raw, func(key []byte, start, end int) bool { return visit(key, raw[start:end]) })
}

// members is Members, with the places of the values in raw.
func members(raw []byte, visit func(key []byte, start, end int) bool) bool {
	i := skipSpace(raw, 0)
	if i == len(raw) || raw[i] != '{' {
		return false
	}
	for i = skipSpace(raw, i+1); raw[i] != '}'; {
		end := skipString(raw, i)
		key := Unquote(raw[i:end])
		start := skipSpace(raw, skipSpace(raw, end)+1) // over the colon
		end = skipValue(raw, start)
		if !visit(key, start, end) {
			return false
		}
		if i = skipSpace(raw, end); raw[i] == ',' {
			i = skipSpace(raw, i+1)
		}
	}
	return true
}

// Elements calls visit with the raw value of each element of a JSON list, until
// visit returns false. Other values have no elements.
func Elements(raw []byte, visit func(value []byte) bool) {
	i := skipSpace(raw, 0)
	if i == len(raw) || raw[i] != '[' {
		return
	}
	for i = skipSpace(raw, i+1); raw[i] != ']'; {
		end := skipValue(raw, i)
		if !visit(raw[i:end]) {
			return
		}
		if i = skipSpace(raw, end); raw[i] == ',' {
			i = skipSpace(raw, i+1)
		}
	}
}

// Lookup returns the raw value at a path of member names, or nil.
func Lookup(raw []byte, path ...string) []byte {
	start, end := Find(raw, path...)
	if end == 0 {
		return nil
	}
	return raw[start:end]
}

// Find returns where the value at a path of member names begins in a text, and the index behind
// it. Both are 0 where there is none.
func Find(raw []byte, path ...string) (start, end int) {
	end = len(raw)
	for _, name := range path {
		from, found := start, false
		members(raw[from:end], func(key []byte, first, behind int) bool {
			if found = string(key) == name; found {
				start, end = from+first, from+behind
			}
			return !found // a name stands once
		})
		if !found {
			return 0, 0
		}
	}
	return start, end
}

// Text returns the string in a raw JSON value, and whether it is a string.
func Text(raw []byte) (string, bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	return string(Unquote(raw)), true
}

// IsObject reports whether a raw JSON value is an object.
func IsObject(raw []byte) bool { return len(raw) > 0 && raw[0] == '{' }

// IsNull reports whether a raw JSON value is null or missing.
func IsNull(raw []byte) bool { return len(raw) == 0 || raw[0] == 'n' }

func skipSpace(raw []byte, i int) int {
	for i < len(raw) && (raw[i] == ' ' || raw[i] == '\n' || raw[i] == '\r' || raw[i] == '\t') {
		i++
	}
	return i
}

const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

// zeros has the highest bit of the first byte of x that is zero, and of none before it.
func zeros(x uint64) uint64 { return (x - ones) &^ x & highs }

// skipString returns the index after the string that starts at i. It looks at eight bytes at a
// time: what was applied last is a long string of short parts between escapes.
func skipString(raw []byte, i int) int {
	for i++; ; {
		for i+8 <= len(raw) {
			word := binary.LittleEndian.Uint64(raw[i:])
			special := zeros(word^'"'*ones) | zeros(word^'\\'*ones)
			if special != 0 {
				i += bits.TrailingZeros64(special) / 8
				break
			}
			i += 8
		}
		switch raw[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
		i++
	}
}

// skipValue returns the index behind the value that starts at i.
func skipValue(raw []byte, i int) int {
	switch raw[i] {
	case '"':
		return skipString(raw, i)
	case '{', '[':
		for depth := 0; ; {
			switch raw[i] {
			case '"':
				i = skipString(raw, i)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
			i++
		}
	default:
		for i < len(raw) && raw[i] != ',' && raw[i] != '}' && raw[i] != ']' &&
			raw[i] != ' ' && raw[i] != '\n' && raw[i] != '\r' && raw[i] != '\t' {
			i++
		}
		return i
	}
}

// Unquote returns the content of a JSON string. Hardly any string of a request
// has an escape, so hardly any is copied.
func Unquote(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	var s string
	if json.Unmarshal(quoted, &s) != nil {
		return quoted[1 : len(quoted)-1]
	}
	return []byte(s)
}
