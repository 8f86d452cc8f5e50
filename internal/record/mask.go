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

// mask copies a request and replaces what must not be recorded. It is a
// streaming parser: a request as a tree of Go values would take ten times the
// memory of its text.
type mask struct {
	places *placeholders
	known  known
	// asked are the hashes of the children in the answer, by child.
	asked map[string]string

	labelKey string // of the current requirement of a selector

	memo map[memoKey]string
	keys map[string]bool // names of members, and whether they are kept

	in  *json.Decoder
	out bytes.Buffer
	// before and after are hashes of the input and the output, without volatile
	// metadata.
	before, after hash.Hash
	volatile      int // more than 0 within volatile metadata
}

// place is the position of a value.
type place struct {
	field, within string // the names of its field and of the enclosing one
	kind          placeKind
	depth         int
	root          string // parent, children or related
	child         string // as corpus.Ref has it
	isChild       bool
	isStatus      bool // within the status of the parent
	isSpec        bool // within the spec of the parent
	isApplied     bool // within an annotation that holds an object
	isNamedList   bool // the list has items with a name and a value
}

type placeKind int

// Kinds of the fields within an object.
const (
	typed       placeKind = iota // fields of a type
	byUser                       // names that a user chose
	isLabels                     // keys of labels
	isNotes                      // keys of annotations
	isSizes                      // names of resources, with amounts
	isOwnership                  // fieldsV1 of managedFields
)

// volatileFields are members of metadata that change without a change of the
// object.
var volatileFields = setOf("resourceVersion", "managedFields", "generation")

var errNotJSON = errors.New("the request is no JSON")

// run masks a request. Its error never quotes the request.
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

// emit writes a piece of the output, which replaces a piece of the input.
func (m *mask) emit(read, written string) {
	m.out.WriteString(written)
	if m.volatile == 0 {
		// The length prevents that different pieces have the same hash.
		fmt.Fprintf(m.before, "%d:%s", len(read), read)
		io.WriteString(m.after, written) //nolint:errcheck // a hash takes everything
	}
}

// copy emits a piece unchanged.
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
		if at.depth == 0 && key == "controller" {
			has, err := m.hasLabelSelector()
			if err != nil {
				return err
			}
			if has {
				if !first {
					m.copy(",")
				}
				first = false
				m.copy(`"controller":{"spec":{"parentResource":{"labelSelector":{}}}}`)
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

// hasLabelSelector reads Metacontroller's configuration, and reports all that a hook asks
// of it: whether it has a labelSelector.
func (m *mask) hasLabelSelector() (bool, error) {
	var raw json.RawMessage
	if err := m.in.Decode(&raw); err != nil {
		return false, err
	}
	var controller struct {
		Spec struct {
			ParentResource struct {
				LabelSelector *json.RawMessage `json:"labelSelector"`
			} `json:"parentResource"`
		} `json:"spec"`
	}
	// Whatever cannot be read has none for the hook either.
	return json.Unmarshal(raw, &controller) == nil && controller.Spec.ParentResource.LabelSelector != nil, nil
}

// enter returns the position of a member of an object.
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

// number returns the output for a number: it is kept, unless it may be a
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

// hashOf returns the output for the hash of a child: the placeholder of the
// desired hash, if it is that one.
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
