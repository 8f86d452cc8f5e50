package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/metacontroller"
)

// mask copies a request and replaces what is not to be recorded. It reads and
// writes the text piece by piece: a request as a tree of Go values would take
// ten times the memory of its text.
type mask struct {
	places *placeholders
	known  known
	// asked are the hashes that the answer asks for, by what tells a child from
	// the others.
	asked map[string]string

	labelKey string // of the requirement of a selector that is being read

	memo map[memoKey]string
	keys map[string]bool // names of members, and whether they may stay

	in  *json.Decoder
	out bytes.Buffer
	// before and after are hashes of what is read and what is written, without
	// volatile metadata.
	before, after hash.Hash
	volatile      int // more than 0 within volatile metadata
}

// place is where a value stands.
type place struct {
	field, within string // the names of its field and of the one around that
	kind          placeKind
	depth         int
	root          string // parent, children or related
	child         string // as corpus.Ref has it
	isChild       bool
	isStatus      bool // within the status of the parent
	isSpec        bool // within the spec of the parent
	isApplied     bool // within an annotation that holds an object
	isNamedList   bool // the list, if it is one, has items with a name and a value
}

type placeKind int

// What the fields within an object are.
const (
	typed       placeKind = iota // those of a type
	byUser                       // what a user thought of
	isLabels                     // keys of labels
	isNotes                      // keys of annotations
	isSizes                      // names of resources, with amounts
	isOwnership                  // fieldsV1 of managedFields
)

// volatileFields are members of metadata that change without anything having
// changed.
var volatileFields = setOf("resourceVersion", "managedFields", "generation")

var errNotJSON = errors.New("the request is no JSON")

// run masks a request. The error says nothing of what is in it.
func (m *mask) run(request []byte) error {
	m.in = json.NewDecoder(bytes.NewReader(request))
	m.in.UseNumber()
	m.out.Reset()
	m.memo, m.keys = map[memoKey]string{}, map[string]bool{}
	m.before, m.after = sha256.New(), sha256.New()
	if err := m.value(place{}); err != nil {
		return errNotJSON
	}
	if _, err := m.in.Token(); !errors.Is(err, io.EOF) {
		return errNotJSON
	}
	return nil
}

// emit writes a piece of the result, which came of what was read.
func (m *mask) emit(read, written string) {
	m.out.WriteString(written)
	if m.volatile == 0 {
		// What was read ends where a string cannot.
		fmt.Fprintf(m.before, "%d:%s", len(read), read)
		io.WriteString(m.after, written) //nolint:errcheck // a hash takes everything
	}
}

// copy emits what stays as it is.
func (m *mask) copy(text string) { m.emit(text, text) }

func (m *mask) value(at place) error {
	token, err := m.in.Token()
	if err != nil {
		return err
	}
	switch token := token.(type) {
	case json.Delim:
		if token == '[' {
			return m.list(at)
		}
		return m.object(at)
	case string:
		m.emit(token, quoted(m.text(at, token)))
	case json.Number:
		m.emit(token.String(), number(at, token))
	case bool:
		m.copy(fmt.Sprint(token))
	case nil:
		m.copy("null")
	}
	return nil
}

func (m *mask) list(at place) error {
	if at.isNamedList {
		at.kind, at.isNamedList = typed, false
	}
	m.copy("[")
	for first := true; m.in.More(); first = false {
		if !first {
			m.copy(",")
		}
		if err := m.value(at); err != nil {
			return err
		}
	}
	m.copy("]")
	_, err := m.in.Token()
	return err
}

func (m *mask) object(at place) error {
	m.copy("{")
	for first := true; m.in.More(); {
		token, err := m.in.Token()
		if err != nil {
			return err
		}
		key, _ := token.(string)
		if at.depth == 0 && key == "controller" { // Metacontroller's configuration, which no hook reads
			if err := m.in.Decode(new(json.RawMessage)); err != nil {
				return err
			}
			continue
		}
		isVolatile := at.field == "metadata" && volatileFields[key]
		if isVolatile {
			m.volatile++
		}
		if !first {
			m.copy(",")
		}
		first = false
		m.emit(key, quoted(m.key(at, key))+":")
		if err := m.value(at.enter(key)); err != nil {
			return err
		}
		if isVolatile {
			m.volatile--
		}
	}
	m.copy("}")
	_, err := m.in.Token()
	return err
}

// enter returns where a member of an object stands.
func (at place) enter(key string) place {
	to := at
	to.field, to.within, to.depth, to.isNamedList = key, at.field, at.depth+1, false
	switch {
	case at.isApplied:
	case at.depth == 0:
		to.root = key
		return to
	case at.root == "parent" && at.depth == 1:
		to.isStatus, to.isSpec = key == "status", key == "spec"
	case at.root == "children" && at.depth == 2:
		to.child, to.isChild = at.field+"/"+key[strings.LastIndex(key, "/")+1:], true
	}
	if !at.isApplied && at.root != "parent" && to.depth <= 3 { // the names of kinds and objects
		return to
	}
	isWithinMap := at.kind == isLabels && (key == "matchLabels" || key == "matchExpressions")
	switch {
	case at.kind != typed && !isWithinMap:
	case isWithinMap && key == "matchExpressions":
		to.kind = typed
	case free[key] && (key != "values" || at.field != "matchExpressions"):
		to.kind, to.isNamedList = byUser, named[key]
	case labelMaps[key]:
		to.kind = isLabels
	case annotations[key]:
		to.kind = isNotes
	case sizeMaps[key]:
		to.kind = isSizes
	case key == "fieldsV1":
		to.kind = isOwnership
	}
	return to
}

// number returns what is written for a number: it stays, unless it may be a
// credential.
func number(at place, n json.Number) string {
	if at.kind == byUser || at.kind == typed && (isSecretive(at.field) || at.field == "value") {
		return "1"
	}
	return n.String()
}

func quoted(text string) string {
	encoded, err := json.Marshal(text)
	if err != nil {
		return `""`
	}
	return string(encoded)
}

// hashOf returns what is written for the hash of a child: that it is the one that
// is asked for, if it is.
func (m *mask) hashOf(at place, text string) string {
	if at.isChild && !at.isApplied && at.within == "annotations" && text != "" && text == m.asked[at.child] {
		return corpus.AskedFor
	}
	if hashForm.MatchString(text) {
		return m.places.hash(text)
	}
	return m.places.of(text)
}

const hashAnnotation = metacontroller.HashAnnotation
