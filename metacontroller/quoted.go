package metacontroller

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

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
	// quotedPerCombination is counted for a number or a word of which the API server may say in
	// two sentences that it does not go with another: see combined.
	quotedPerCombination = 192
	// longestHugePages is the length of hugepages-1048576Ki, and of every other that there is.
	longestHugePages = 19
	// quotedPerOddByte is counted for each byte that is no printable ASCII character.
	quotedPerOddByte = 4
)

// keyProblems are the fields with keys that are no names of labels, and what the API server
// finds wrong with such a key.
var keyProblems = map[string]func(key string) []string{
	"data": validation.IsConfigMapKey, "binaryData": validation.IsConfigMapKey, "stringData": validation.IsConfigMapKey,
	"annotations":      func(key string) []string { return validation.IsQualifiedName(strings.ToLower(key)) },
	"volumeAttributes": func(string) []string { return nil },
	"options":          func(string) []string { return nil }, // of a flexVolume
}

// unquoted are the fields whose texts the API server does not validate, or the CRDs as it
// does: what runs in containers, what is in files, the names in references to them, and
// those in a Role.
var unquoted = map[string]bool{
	"args": true, "command": true, "value": true, "annotations": true, "data": true, "binaryData": true, "stringData": true,
	"secretKeyRef": true, "configMapKeyRef": true, "resourceNames": true,
}

// combined are the fields that may be wrong together with others, of which a CRD asks nothing: a
// hostPort that another one has, or that is not the port of a Pod in the host's network, and the
// unit of a resource that has other ones.
var combined = map[string]bool{"hostPort": true, "divisor": true}

// defaults are what the API server itself writes into Pods, which it does not refuse.
var defaults = map[string][]string{
	"apiVersion": {"v1"}, "defaultMode": {"420"}, "divisor": {"0"}, "dnsPolicy": {"ClusterFirst"}, "failureThreshold": {"3"},
	"imagePullPolicy": {"Always", "IfNotPresent"}, "path": {"/"}, "periodSeconds": {"10"}, "protocol": {"TCP"}, "restartPolicy": {"Always"},
	"schedulerName": {"default-scheduler"}, "scheme": {"HTTP"}, "successThreshold": {"1"}, "terminationGracePeriodSeconds": {"30"},
	"terminationMessagePath": {"/dev/termination-log"}, "terminationMessagePolicy": {"File"}, "timeoutSeconds": {"1"},
}

// Limits for the keys of maps in the children of an answer that the API server is likely to
// refuse: it quotes each up to sixteen times.
const (
	oddKeys      = 2
	oddKeysBytes = 128
	// quotedPerOddKey is counted for each, beside quotedPerText. A PodSet that has one asks
	// for one Pod at a time.
	quotedPerOddKey = 9 << 10
)

// quotes is what the API server could quote of children.
type quotes struct {
	size     int    // bytes, if all values are wrong
	odd      int    // keys that are no names of labels
	oddBytes int    // of these
	oddKey   string // the last of them
}

// check refuses a child of which the API server could quote very much, where it does others
// of the same answer: Metacontroller keeps what it says of all together.
func (q quotes) check(others *quotes) error {
	others.odd, others.oddBytes = others.odd+q.odd, others.oddBytes+q.oddBytes
	if q.odd > 0 && (others.odd > oddKeys || others.oddBytes > oddKeysBytes) {
		return fmt.Errorf("the key %.40q and %d others do not begin and end with a letter or digit, have other characters than these, '-', '_', '.' and one '/', "+
			"or are longer than 63 characters (for huge pages 19): write others", q.oddKey, others.odd-1)
	}
	if q.size > mostQuoted {
		return fmt.Errorf("its paths, names, numbers and other values that the API server validates count %d bytes, and %d are allowed: write fewer or shorter ones "+
			"(args, command, values of environment variables, annotations and data do not count)", q.size, mostQuoted)
	}
	return nil
}

// place is where a value of a child is.
type place struct {
	isList      bool
	unvalidated bool                      // by the API server
	isVariable  bool                      // an environment variable, or its name, of which hardly any is refused
	isCombined  bool                      // see combined
	defaults    []string                  // see there
	keyProblems func(key string) []string // of the keys there, or nil for those of names of labels
}

// quotesOf returns what the API server could quote of a child in its wire form, or of another
// valid JSON text.
func quotesOf(wire []byte) quotes {
	q := quoting{perWord: quotedPerWord, places: []place{{}}}
	if bytes.Contains(wire, []byte(`"os":{"name":"windows"`)) {
		q.perWord = quotedPerWordOfWindows
	}
	for i := 0; i < len(wire); i++ {
		switch wire[i] {
		case '{', '[':
			if after := skipSpace(wire, i+1); i > 0 && after < len(wire) && wire[after] == wire[i]+2 { // '}' or ']'
				q.count(nil, true)
			}
			is := q.here()
			is.isList = wire[i] == '['
			q.places, q.next = append(q.places, is), place{}
		case '}', ']':
			q.places = q.places[:len(q.places)-1]
		case ',', ' ', '\n', '\r', '\t':
		case '"':
			end := skipString(wire, i)
			text := wire[i+1 : end-1]
			if after := skipSpace(wire, end); after < len(wire) && wire[after] == ':' {
				q.countKey(text)
				q.next = q.valueOf(string(text))
				end = after + 1
			} else {
				q.count(text, false)
				q.next = place{}
			}
			i = end - 1
		default:
			end := skipValue(wire, i)
			if wire[i] != 'n' { // a number or a Boolean
				q.count(wire[i:end], true)
			}
			q.next, i = place{}, end-1
		}
	}
	return q.quotes
}

// quoting adds up quotes while a JSON text is read.
type quoting struct {
	quotes

	perWord int
	places  []place // of the object or list, and those around it
	next    place   // of the value of the last key
}

// here returns the place of the value that comes next.
func (q *quoting) here() place {
	of, is := q.places[len(q.places)-1], q.next
	is.unvalidated = is.unvalidated || of.unvalidated
	if of.isList { // and next says nothing
		is.isVariable = of.isVariable
	}
	return is
}

// valueOf returns the place of the value of a key of the current object.
func (q *quoting) valueOf(key string) place {
	return place{
		unvalidated: unquoted[key],
		isVariable:  key == "env" || key == "name" && q.places[len(q.places)-1].isVariable,
		isCombined:  combined[key], defaults: defaults[key], keyProblems: keyProblems[key],
	}
}

// count counts a text, or a number, a Boolean or something empty, which are words.
func (q *quoting) count(text []byte, isWord bool) {
	is := q.here()
	switch {
	case is.unvalidated || slices.Contains(is.defaults, string(text)):
	case is.isCombined:
		q.size += quotedPerCombination
	case isHugePages(text):
		q.size += quotedPerHugePages
	case isWord || isPlainKey(text):
		if !is.isVariable {
			q.size += q.perWord
		}
	default:
		q.size += quotedPerText + quotedTwice*len(text)
		for _, c := range text {
			if c < ' ' || c > '~' {
				q.size += quotedTwice * (quotedPerOddByte - 1)
			}
		}
	}
}

func (q *quoting) countKey(key []byte) {
	if isPlainKey(key) && !isHugePages(key) {
		return
	}
	q.count(key, false)
	problems := q.places[len(q.places)-1].keyProblems
	if problems == nil {
		problems = validation.IsQualifiedName
	}
	if isHugePages(key) && len(key) > longestHugePages || len(problems(string(key))) > 0 {
		q.size += quotedPerOddKey
		q.odd, q.oddBytes, q.oddKey = q.odd+1, q.oddBytes+len(key), string(key)
	}
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
