package metacontroller

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/bits"
)

// A request carries every child in full, at 5 to 10 KB each, and a hook reads a
// few fields of some. The functions here navigate a valid JSON text without
// copying it: they skip values by counting brackets. The text must be valid JSON, which
// a reader has read or this package has written.

// members calls visit with the key and the raw value of each member of a JSON
// object, in the order of the text. It reports false if raw is no object, or if
// visit returned false.
func members(raw []byte, visit func(key, value []byte) bool) bool {
	i := skipSpace(raw, 0)
	if i == len(raw) || raw[i] != '{' {
		return false
	}
	for i = skipSpace(raw, i+1); raw[i] != '}'; {
		key, value, end := memberAt(raw, i)
		if !visit(key, value) {
			return false
		}
		if i = skipSpace(raw, end); raw[i] == ',' {
			i = skipSpace(raw, i+1)
		}
	}
	return true
}

// memberAt returns the member of an object that begins at i, and the index behind it.
func memberAt(raw []byte, i int) (key, value []byte, end int) {
	end = skipString(raw, i)
	key = unquote(raw[i:end])
	start := skipSpace(raw, skipSpace(raw, end)+1) // over the colon
	end = skipValue(raw, start)
	return key, raw[start:end], end
}

// elements calls visit with the raw value of each element of a JSON list, until
// visit returns false. Other values have no elements.
func elements(raw []byte, visit func(value []byte) bool) {
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

// lookup returns the raw value at a path of member names, or nil.
func lookup(raw []byte, path ...string) []byte {
	for _, name := range path {
		var found []byte
		members(raw, func(key, value []byte) bool {
			if string(key) == name {
				found = value
			}
			return found == nil // a name stands once
		})
		if found == nil {
			return nil
		}
		raw = found
	}
	return raw
}

// text returns the string in a raw JSON value, and whether it is a string.
func text(raw []byte) (string, bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	return string(unquote(raw)), true
}

// isObject reports whether a raw JSON value is an object.
func isObject(raw []byte) bool { return len(raw) > 0 && raw[0] == '{' }

// isNull reports whether a raw JSON value is null or missing.
func isNull(raw []byte) bool { return len(raw) == 0 || raw[0] == 'n' }

func skipSpace(raw []byte, i int) int {
	for i < len(raw) && (raw[i] == ' ' || raw[i] == '\n' || raw[i] == '\r' || raw[i] == '\t') {
		i++
	}
	return i
}

// skipString returns the index after the string that starts at i. It compares
// eight bytes at a time first: most strings, or what is between two escapes, are so
// short that a call of bytes.IndexByte takes longer.
func skipString(raw []byte, i int) int {
	const quotes, backslashes = 0x0101010101010101 * '"', 0x0101010101010101 * '\\'
	i++
	for words := 0; words < 4 && i+8 <= len(raw); {
		word := binary.LittleEndian.Uint64(raw[i:])
		found := zeroBytes(word^quotes) | zeroBytes(word^backslashes)
		if found == 0 {
			i, words = i+8, words+1
			continue
		}
		i += bits.TrailingZeros64(found) / 8
		if raw[i] == '"' {
			return i + 1
		}
		i, words = i+2, 0 // behind the backslash and what it escapes
	}
	for begin := i; ; i++ {
		i += bytes.IndexByte(raw[i:], '"')
		escapes := 0
		for i-1-escapes >= begin && raw[i-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i + 1
		}
	}
}

// zeroBytes returns a word whose lowest bit that is set is the highest bit of
// the first byte of word that is zero, or 0 if there is none.
func zeroBytes(word uint64) uint64 {
	return (word - 0x0101010101010101) & ^word & 0x8080808080808080
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

// unquote returns the content of a JSON string. Hardly any string of a request
// has an escape, so hardly any is copied.
func unquote(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	var s string
	if json.Unmarshal(quoted, &s) != nil {
		return quoted[1 : len(quoted)-1]
	}
	return []byte(s)
}
