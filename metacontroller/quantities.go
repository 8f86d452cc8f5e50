package metacontroller

import (
	"reflect"
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/api/resource"
)

// What a quantity may have. To read or write one takes time that grows with the
// square of its digits and of its exponent, and nothing ends it: 1e150000 takes
// seconds, and its 8 bytes pass every limit on sizes.
const (
	maxQuantityBytes  = 64
	maxExponentDigits = 2
)

var quantityType = reflect.TypeFor[resource.Quantity]()

// holders tells of types whether there is a quantity in them.
var holders sync.Map // of reflect.Type to bool

// checkQuantities refuses a text that is to be decoded into a type if a quantity in
// it is longer than anybody writes. It takes time only where some value in the text
// is.
func checkQuantities(raw []byte, t reflect.Type) error {
	if !hasLongNumber(raw) {
		return nil
	}
	if path, found := longQuantity(raw, t); found {
		return badRequest("%s has a quantity of more than %d characters, or with an exponent of more than %d digits: write a shorter one",
			path, maxQuantityBytes, maxExponentDigits)
	}
	return nil
}

// hasLongNumber reports whether there may be a quantity in a text that is too long.
func hasLongNumber(raw []byte) bool {
	digits, isExponent := 0, false
	for i, c := range raw {
		switch {
		case isDigit(c) || c == '.':
			if digits++; isExponent && digits > maxExponentDigits || digits >= maxQuantityBytes {
				return true
			}
		case (c == '+' || c == '-') && i > 0 && (raw[i-1] == 'e' || raw[i-1] == 'E'):
		case c == '\\': // what is escaped may be anything
			return true
		default:
			digits, isExponent = 0, c == 'e' || c == 'E'
		}
	}
	return false
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// longQuantity returns the path of the first quantity that is too long.
func longQuantity(raw []byte, t reflect.Type) (path string, found bool) {
	if !holdsQuantity(t, nil) || isNull(raw) {
		return "", false
	}
	if t == quantityType {
		return "", isLongQuantity(raw)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return longQuantity(raw, t.Elem())
	case reflect.Struct:
		fields := map[string]reflect.Type{}
		for _, f := range fieldsOf(t) {
			fields[f.name] = t.FieldByIndex(f.index).Type
		}
		members(raw, func(key, value []byte) bool {
			if inner, known := fields[string(key)]; known {
				path, found = within(string(key), value, inner)
			}
			return !found
		})
	case reflect.Map:
		members(raw, func(_, value []byte) bool {
			path, found = within("*", value, t.Elem()) // what users name is not told
			return !found
		})
	case reflect.Slice:
		i := -1
		elements(raw, func(value []byte) bool {
			i++
			path, found = within(strconv.Itoa(i), value, t.Elem())
			return !found
		})
	default:
	}
	return path, found
}

func within(name string, raw []byte, t reflect.Type) (string, bool) {
	path, found := longQuantity(raw, t)
	if found && path != "" {
		return name + "." + path, true
	}
	return name, found
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

// holdsQuantity reports whether there is a quantity in a type. Those that it is
// being looked for in already are not looked at again.
func holdsQuantity(t reflect.Type, above map[reflect.Type]bool) bool {
	if known, ok := holders.Load(t); ok {
		return known.(bool)
	}
	if t == quantityType {
		return true
	}
	if above[t] {
		return false
	}
	if above == nil {
		above = map[reflect.Type]bool{}
	}
	above[t] = true
	holds := false
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		holds = holdsQuantity(t.Elem(), above)
	case reflect.Struct:
		for _, f := range fieldsOf(t) {
			holds = holds || holdsQuantity(t.FieldByIndex(f.index).Type, above)
		}
	default:
	}
	delete(above, t)
	if holds || len(above) == 0 {
		holders.Store(t, holds)
	}
	return holds
}
