package metacontroller

import "fmt"

// Limits for what the API server may quote of a child that it refuses. Metacontroller keeps
// each such message as an event, of all custom resources together.
const (
	// mostQuoted is the largest estimate of such a message, in bytes. A Pod of 50 containers
	// with 20 variables from Secrets each has nearly as much.
	mostQuoted = 256 << 10
	// quotedPerValue is counted for each value, beside its text: the API server says in a
	// sentence what is wrong with it.
	quotedPerValue = 64
	// quotedPerOddByte is counted for each byte that is no printable ASCII character.
	quotedPerOddByte = 4
	// mostQuotedPerByte is the most that is counted for one byte: an element of one digit,
	// with its comma.
	mostQuotedPerByte = (quotedPerValue + 1) / 2
)

// unquoted are the fields whose texts the API server does not validate: what runs in
// containers, and what is in files.
var unquoted = map[string]bool{
	"args": true, "command": true, "value": true, "annotations": true, "data": true, "binaryData": true, "stringData": true,
}

// checkQuoted refuses a child in its wire form if the API server could quote very much of it.
func checkQuoted(wire []byte) error {
	if len(wire)*mostQuotedPerByte <= mostQuoted {
		return nil
	}
	if size := quotedSize(wire); size > mostQuoted {
		return fmt.Errorf("its names, paths, numbers and other values that the API server validates count %d, with %d for each besides its length, and at most %d are allowed: "+
			"write fewer or shorter ones (args, command, values of environment variables, annotations and data do not count)", size, quotedPerValue, mostQuoted)
	}
	return nil
}

// quotedSize returns about how many bytes the API server quotes of a valid JSON text if all
// its values are wrong.
func quotedSize(wire []byte) int {
	size := 0
	isUnquoted := []bool{false} // in the object or list, and those within
	isNext := false             // whether the next value is unquoted
	count := func(text []byte, each int) {
		if isNext || isUnquoted[len(isUnquoted)-1] {
			return
		}
		size += each + len(text)
		for _, c := range text {
			if c < ' ' || c > '~' {
				size += quotedPerOddByte - 1
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
					count(text, 0)
				}
				isNext, end = unquoted[string(text)], next+1
			} else {
				count(text, quotedPerValue)
				isNext = false
			}
			i = end - 1
		default:
			end := skipValue(wire, i)
			count(wire[i:end], quotedPerValue)
			isNext, i = false, end-1
		}
	}
	return size
}
