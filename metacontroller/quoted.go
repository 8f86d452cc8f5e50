package metacontroller

import "fmt"

// Limits for what the API server may quote of a child that it refuses. Metacontroller keeps
// the last 4,096 such messages, twice, of all custom resources together, and has 1 GiB.
const (
	// mostQuoted is the largest estimate of such a message, in bytes. A Pod of 16
	// containers with five mounts, five ports, two probes and 40 variables from Secrets
	// each has less.
	mostQuoted = 64 << 10
	// quotedPerWord is counted for a number, and for a word that may be a name: hardly
	// any field refuses it.
	quotedPerWord = 32
	// quotedPerText is counted for another text, beside quotedTwice of its length: the
	// API server says in a sentence or two what is wrong with it.
	quotedPerText = 128
	quotedTwice   = 2
	// quotedPerOddByte is counted for each byte that is no printable ASCII character.
	quotedPerOddByte = 4
	// mostQuotedPerByte is the most that is counted for one byte of a child: an empty text
	// has two, and a comma.
	mostQuotedPerByte = quotedPerText/3 + 1
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
	size := 0
	isUnquoted := []bool{false} // in the object or list, and those within
	isNext := false             // whether the next value is unquoted
	count := func(text []byte) {
		switch {
		case isNext || isUnquoted[len(isUnquoted)-1]:
		case isPlainKey(text):
			size += quotedPerWord
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
			isUnquoted, isNext = append(isUnquoted, isNext || isUnquoted[len(isUnquoted)-1]), false
		case '}', ']':
			isUnquoted = isUnquoted[:len(isUnquoted)-1]
		case ',', ' ', '\n', '\r', '\t':
		case '"':
			end := skipString(wire, i)
			text := wire[i+1 : end-1]
			if next := skipSpace(wire, end); next < len(wire) && wire[next] == ':' {
				if !isPlainKey(text) {
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
			if c := wire[i]; c == '-' || isDigit(c) {
				count([]byte("0"))
			}
			isNext, i = false, end-1
		}
	}
	return size
}
