package metacontroller

import (
	"reflect"
	"strconv"
	"strings"
)

// Limits of a quantity. Parsing or printing one takes time that grows with the
// square of its digits and of its exponent, and cannot be canceled: 1e150000
// takes seconds, and its 8 bytes pass every limit on sizes.
const (
	maxQuantityBytes = 64
	// manyBytes is the size of an object from which on its times are looked at, too: the
	// error about one quotes it, with several bytes for one.
	manyBytes         = 64 << 10
	maxExponentDigits = 2
)

// checkQuantities refuses a text that is to be decoded into a type if it has a
// quantity that is longer than anyone would write. It is slow only if some
// value in the text is that long.
func checkQuantities(raw []byte, t reflect.Type) error {
	if len(raw) <= manyBytes && !hasLongNumber(raw) {
		return nil
	}
	if path, found := shapeOf(t).longQuantity(raw, 0); found {
		return badRequest("%s has a quantity or a time of more than %d characters, or a quantity with an exponent of more than %d digits: write a shorter one",
			path, maxQuantityBytes, maxExponentDigits)
	}
	return nil
}

// hasLongNumber reports whether a text may have a quantity that is too long: a
// long value that begins like a number. Hardly any text has one.
func hasLongNumber(raw []byte) bool {
	digits, isNumber, isExponent := 0, true, false
	for i, c := range raw {
		switch c {
		case '"', ':', ',', '[', ' ', '\n', '\r', '\t':
			digits, isNumber, isExponent = 0, true, false
		case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '.':
			digits++
			if isNumber && (isExponent && digits > maxExponentDigits || digits >= maxQuantityBytes) {
				return true
			}
		case '+', '-':
		case 'e', 'E':
			digits, isNumber, isExponent = 0, isNumber && !isExponent && digits > 0, true
		case 'u':
			if i > 0 && raw[i-1] == '\\' { // an escape may stand for a digit
				return true
			}
			isNumber = false
		default:
			isNumber = false
		}
	}
	return false
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// longQuantity returns the path of the first quantity that is too long, of a text at
// a depth. What is nested deeper than a type is followed has one where it may have one.
func (s *shape) longQuantity(raw []byte, depth int) (path string, found bool) {
	if depth++; depth > deepestType {
		return "", hasLongNumber(raw)
	}
	inside := func(name string, inner *shape, value []byte) bool {
		if path, found = inner.longQuantity(value, depth); !found {
			return true
		}
		path = strings.TrimSuffix(name+"."+path, ".")
		return false
	}
	switch s.kind {
	case opaqueShape:
		return "", s.isQuantity && !isNull(raw) && isLongQuantity(raw) || s.isTime && len(raw) > maxQuantityBytes
	case structShape:
		members(raw, func(key, value []byte) bool {
			inner, known := s.fields[string(key)]
			return !known || inside(string(key), inner, value)
		})
	case mapShape:
		members(raw, func(_, value []byte) bool { return inside("*", s.inner, value) }) // names that users choose are not shown
	case listShape:
		i := -1
		elements(raw, func(value []byte) bool {
			i++
			return inside(strconv.Itoa(i), s.inner, value)
		})
	case pointerShape:
		return s.inner.longQuantity(raw, depth)
	default: // has no quantity
	}
	return path, found
}

// isLongQuantity reads a quantity in JSON, which is a string or a number.
func isLongQuantity(raw []byte) bool {
	value, isText := text(raw)
	if !isText {
		value = string(raw)
	}
	if len(value) > maxQuantityBytes {
		return true
	}
	digits, isExponent := 0, false
	for _, c := range []byte(value) {
		switch {
		case c == 'e' || c == 'E':
			digits, isExponent = 0, true
		case isExponent && isDigit(c):
			digits++
		}
	}
	return isExponent && digits > maxExponentDigits
}
