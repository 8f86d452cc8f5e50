package metacontroller

import (
	"bytes"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Limits for what the API server may quote of a child that it refuses. Metacontroller keeps
// such messages of the last 4,096 custom resources, and has 1 GiB: up to nine different ones of
// each, which are in the order of a map in Go, and the last 4,096 of all once more. See
// EventAggregator in https://github.com/kubernetes/client-go/blob/v0.36.2/tools/record/events_cache.go.
const (
	// mostQuoted is the largest estimate of such a message, in bytes. A Pod of eight
	// containers with five mounts, five ports, two probes and 40 variables from Secrets
	// each has less.
	mostQuoted = 32 << 10
	// quotedPerWord is counted for a number, a Boolean, an empty object or list, and a word
	// that may be a name: hardly any field refuses it.
	quotedPerWord = 32
	// quotedPerWordOfWindows is the same in a Pod for Windows, whose security contexts are
	// refused field by field.
	quotedPerWordOfWindows = 128
	// quotedPerText is counted for another text, beside quotedTwice of its length: the
	// API server says in a sentence or two what is wrong with it.
	quotedPerText = 128
	quotedTwice   = 2
	// quotedPerHugePages is counted for the name of a size of huge pages: an amount that is no
	// multiple of it is refused in the limits and in the requests, with the name twice in each.
	quotedPerHugePages = 512
	// longestHugePages is the length of hugepages-1048576Ki, and of every other that there is.
	longestHugePages = 19
	// quotedPerOddByte is counted for each byte that is no printable ASCII character.
	quotedPerOddByte = 4
	// mostQuotedPerByte is the most that is counted for one byte of a child: a digit has a
	// comma.
	mostQuotedPerByte = quotedPerText / 2
)

// unquoted are the fields whose texts the API server does not validate, or the CRDs as it
// does: what runs in containers, what is in files, the names in references to them, and
// those in a Role.
var unquoted = map[string]bool{
	"args": true, "command": true, "value": true, "annotations": true, "data": true, "binaryData": true, "stringData": true,
	"secretKeyRef": true, "configMapKeyRef": true, "resourceNames": true,
}

// checkQuoted refuses a child in its wire form if the API server could quote very much of it.
func checkQuoted(wire []byte) error {
	if len(wire)*mostQuotedPerByte <= mostQuoted {
		return nil
	}
	if size := quotedSize(wire); size > mostQuoted {
		return fmt.Errorf("its paths, names, numbers and other values that the API server validates count %d bytes, and %d are allowed: write fewer or shorter ones "+
			"(args, command, values of environment variables, annotations and data do not count)", size, mostQuoted)
	}
	return nil
}

// quotedSize returns about how many bytes the API server quotes of a valid JSON text if all
// its values are wrong.
func quotedSize(wire []byte) int {
	size, perWord := 0, quotedPerWord
	if bytes.Contains(wire, []byte(`"os":{"name":"windows"`)) {
		perWord = quotedPerWordOfWindows
	}
	isUnquoted := []bool{false} // in the object or list, and those within
	isNext := false             // whether the next value is unquoted
	count := func(text []byte) {
		switch {
		case isNext || isUnquoted[len(isUnquoted)-1]:
		case isHugePages(text):
			size += quotedPerHugePages
		case isPlainKey(text):
			size += perWord
		default:
			size += quotedPerText + quotedTwice*len(text)
			for _, c := range text {
				if c < ' ' || c > '~' {
					size += quotedTwice * (quotedPerOddByte - 1)
				}
			}
		}
	}
	for i := 0; i < len(wire); i++ {
		switch wire[i] {
		case '{', '[':
			if next := skipSpace(wire, i+1); i > 0 && next < len(wire) && wire[next] == wire[i]+2 { // '}' or ']'
				count([]byte("0"))
			}
			isUnquoted, isNext = append(isUnquoted, isNext || isUnquoted[len(isUnquoted)-1]), false
		case '}', ']':
			isUnquoted = isUnquoted[:len(isUnquoted)-1]
		case ',', ' ', '\n', '\r', '\t':
		case '"':
			end := skipString(wire, i)
			text := wire[i+1 : end-1]
			if next := skipSpace(wire, end); next < len(wire) && wire[next] == ':' {
				if !isPlainKey(text) || isHugePages(text) {
					count(text)
				}
				isNext, end = unquoted[string(text)], next+1
			} else {
				count(text)
				isNext = false
			}
			i = end - 1
		default:
			end := skipValue(wire, i)
			if wire[i] != 'n' { // a number or a Boolean
				count([]byte("0"))
			}
			isNext, i = false, end-1
		}
	}
	return size
}

// Limits for the keys of maps in a child that are no names of labels: the API server refuses
// most of them, and quotes each up to sixteen times when it does. Metacontroller keeps that
// for a while, as an event, of all custom resources together.
const (
	longestKey   = 1 << 10
	oddKeys      = 4
	oddKeysBytes = 1 << 10
)

// checkKeys refuses a child with long keys, or with many that are no names of labels. A few
// of these are left to the API server, which says what is wrong.
func checkKeys(wire []byte) error {
	odd, length := 0, 0
	for i := 0; i < len(wire); i++ {
		if wire[i] != '"' {
			continue
		}
		end := skipString(wire, i)
		key := wire[i+1 : max(i+1, end-1)]
		i = end - 1
		if next := skipSpace(wire, end); next >= len(wire) || wire[next] != ':' {
			continue
		}
		isLong := isHugePages(key) && len(key) > longestHugePages
		if !isLong && (isPlainKey(key) || len(validation.IsQualifiedName(string(key))) == 0) {
			continue
		}
		odd, length = odd+1, length+len(key)
		if len(key) > longestKey {
			return fmt.Errorf("the key %.40q has %d bytes: write at most %d", key, len(key), longestKey)
		}
		if odd > oddKeys || length > oddKeysBytes {
			return fmt.Errorf("the key %.40q and %d others do not begin and end with a letter or digit, have other characters than these, '-', '_', '.' and one '/', or are longer than 63 characters (for huge pages 19): write others", key, odd-1)
		}
	}
	return nil
}

// isHugePages reports whether a key is the name of a size of huge pages.
func isHugePages(key []byte) bool {
	return bytes.HasPrefix(key, []byte(corev1.ResourceHugePagesPrefix))
}

// isPlainKey reports whether a key is short, begins and ends with a letter or digit, and has
// only them and '-', '_' and '.', as the names of all fields and most files.
func isPlainKey(key []byte) bool {
	for i, c := range key {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') &&
			(i == 0 || i == len(key)-1 || c != '-' && c != '_' && c != '.') {
			return false
		}
	}
	return len(key) > 0 && len(key) <= 63
}
