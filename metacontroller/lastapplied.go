package metacontroller

import (
	"encoding/json"
	"strconv"
)

const (
	// longestNumber is how many bytes a number in JSON may have that nobody looks at.
	longestNumber = 64
	// mostUnreadable is how many bytes all numbers of the children of an answer may have
	// together that Metacontroller cannot read.
	mostUnreadable = 4 << 10
)

// unreadable counts the bytes of numbers that Metacontroller cannot read.
type unreadable int

// check refuses an observed child with a last-applied annotation that Metacontroller could not
// decode, if the numbers in it that are no float64 are long, with those of the children before
// it in the answer. Its error quotes them whole, those of all children that are asked for in one
// message, of which it keeps several for each custom resource:
// https://github.com/metacontroller/metacontroller/blob/v4.17.2/pkg/dynamic/apply/apply.go.
// Anybody who may edit the children can write them. The sync could only fail in any case.
func (u *unreadable) check(observed Snapshot) error {
	if !HasLongNumber(observed.raw) {
		return nil
	}
	annotation, _ := text(lookup(observed.raw, "metadata", "annotations", LastAppliedAnnotation))
	size := unreadableNumbers([]byte(annotation))
	*u += unreadable(size)
	if size == 0 || *u <= mostUnreadable {
		return nil
	}
	return badRequest("its annotation %s has a number that is too large to be read, with %d bytes in this and other children: remove the annotation", LastAppliedAnnotation, *u)
}

// HasLongNumber reports whether a text has something like a number of more than 64 bytes. Who
// shortens a request keeps what has one: a [Controller] refuses requests for the numbers in
// last-applied annotations. It looks at one byte in 64, and at those around it where that may
// be of a number.
func HasLongNumber(raw []byte) bool {
	for i := longestNumber - 1; i < len(raw); i += longestNumber {
		if !isOfNumber(raw[i]) {
			continue
		}
		start, end := i, i+1
		for start > 0 && isOfNumber(raw[start-1]) {
			start--
		}
		for end < len(raw) && isOfNumber(raw[end]) {
			end++
		}
		if end-start > longestNumber && isMostlyDigits(raw[start:end]) {
			return true
		}
		i = max(i, end-longestNumber)
	}
	return false
}

// isMostlyDigits reports whether a text has no more of a sign, a point and an exponent than a
// number has: a line of hyphens in a script is none.
func isMostlyDigits(raw []byte) bool {
	others := 0
	for _, c := range raw {
		if !isDigit(c) {
			others++
		}
	}
	return others <= len("-.e+")
}

func isOfNumber(c byte) bool {
	return isDigit(c) || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E'
}

// unreadableNumbers returns how many bytes those numbers of a text have that are no float64, if
// it is JSON: the error about another text is short.
func unreadableNumbers(raw []byte) (size int) {
	if !json.Valid(raw) {
		return 0
	}
	for i := 0; i < len(raw); i++ {
		switch {
		case raw[i] == '"':
			i = skipString(raw, i) - 1
		case raw[i] == '-' || isDigit(raw[i]):
			start := i
			for i < len(raw) && isOfNumber(raw[i]) {
				i++
			}
			if _, err := strconv.ParseFloat(string(raw[start:i]), 64); err != nil {
				size += i - start
			}
			i--
		}
	}
	return size
}
