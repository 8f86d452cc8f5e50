// Package compact shrinks requests while they are read. A request carries every
// child in full, and hooks read little of a Pod: not its managedFields, its
// last-applied annotation or its containers.
//
// Values that are not read are replaced by an empty value of their type. Valid JSON stays
// valid, and invalid JSON stays invalid, unless it is only nested too deep: an API server stores
// managed fields with which no list of their objects can be decoded. Values with a number of more than 64
// bytes stay: for them a request may be refused.
package compact

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/operetta-dev/operetta/metacontroller"
)

const (
	// chunkBytes is how much is read at a time.
	chunkBytes = 32 << 10
	// mostHeld is the size above which a value is kept: it has to be buffered
	// until its end. Objects in Kubernetes are smaller.
	mostHeld = 2 << 20
	// mostDepth is the nesting limit of a value that stays where it is [rule.shallow].
	mostDepth = 500
)

// Reader reads a request, and leaves out what no hook of its Controller reads.
type Reader struct {
	source io.Reader
	chunk  []byte
	left   []byte // the rest of the last chunk
	out    []byte // the part of left that was not returned yet
	failed error  // of the source, once out is empty

	mode    mode
	frames  []frame
	key     []byte // as it stands in the text, in mode inKey
	value   *rule  // of the value that comes next
	nested  nested
	held    []byte // in mode leavingOut
	shallow bool   // in mode leavingOut: the value stays unless it is nested too deep
}

// mode is what the next byte belongs to.
type mode int

const (
	between    mode = iota // braces, commas, numbers: everything between strings
	inKey                  // the name of a member
	copying                // a value that is kept
	leavingOut             // a value that is left out, unless it is invalid JSON
	verbatim               // not a request: it is returned unchanged
)

// frame is an object or a list whose members have rules.
type frame struct {
	rule     *rule
	isList   bool
	wantsKey bool
}

// nested scans one value to its end.
type nested struct {
	depth, deepest    int
	inString, escaped bool
}

// follow returns the index after the part of the value that starts or continues
// at i, and whether the value ends there.
func (n *nested) follow(in []byte, i int) (end int, isWhole bool) {
	for ; i < len(in); i++ {
		if n.inString {
			if i = n.skipString(in, i); i == len(in) {
				return i, false
			}
			if n.depth == 0 {
				return i + 1, true
			}
			continue
		}
		switch in[i] {
		case '"':
			n.inString = true
		case '{', '[':
			n.depth++
			n.deepest = max(n.deepest, n.depth)
		case '}', ']':
			if n.depth--; n.depth == 0 {
				return i + 1, true
			}
		}
	}
	return i, false
}

// skipString returns the index of the quote that ends the string, or the length.
func (n *nested) skipString(in []byte, i int) int {
	for ; i < len(in); i++ {
		switch c := in[i]; {
		case n.escaped:
			n.escaped = false
		case c == '\\':
			n.escaped = true
		case c == '"':
			n.inString = false
			return i
		}
	}
	return i
}

// NewReader returns a Reader of a request to a Controller's hooks.
func NewReader(source io.Reader, controller metacontroller.Controller) *Reader {
	return &Reader{source: source, chunk: make([]byte, chunkBytes), value: requestRule(controller)}
}

// Read implements [io.Reader]. An error of the source is returned after all
// data before it.
func (r *Reader) Read(p []byte) (int, error) {
	for len(r.out) == 0 && r.failed == nil {
		n, err := r.source.Read(r.chunk)
		r.left = r.take(r.left[:0], r.chunk[:n])
		if r.failed = err; err != nil {
			r.left = r.release(r.left)
		}
		r.out = r.left
	}
	n := copy(p, r.out)
	if r.out = r.out[n:]; len(r.out) == 0 {
		return n, r.failed
	}
	return n, nil
}

// take appends the kept part of the next bytes.
func (r *Reader) take(out, in []byte) []byte {
	for i := 0; i < len(in); {
		switch r.mode {
		case verbatim:
			return append(out, in[i:]...)
		case between:
			out, i = r.takeBetween(out, in, i)
		case inKey:
			out, i = r.takeKey(out, in, i)
		case copying, leavingOut:
			out, i = r.takeValue(out, in, i)
		}
	}
	return out
}

// takeBetween appends everything between strings, up to a key or a value that
// has a rule.
func (r *Reader) takeBetween(out, in []byte, i int) ([]byte, int) {
	for start := i; ; i++ {
		if i == len(in) {
			return append(out, in[start:i]...), i
		}
		switch c := in[i]; c {
		case '{', '[', '"':
			out = append(out, in[start:i]...)
			return r.begin(out, c, i)
		case '}', ']':
			if len(r.frames) > 0 {
				r.frames = r.frames[:len(r.frames)-1]
			}
			if len(r.frames) == 0 {
				r.mode = verbatim
				return append(out, in[start:i+1]...), i + 1
			}
		case ',':
			if top := r.top(); top != nil {
				top.wantsKey = !top.isList
			}
		}
	}
}

func (r *Reader) top() *frame {
	if len(r.frames) == 0 {
		return nil
	}
	return &r.frames[len(r.frames)-1]
}

// mostLevels is how many levels a text can have: encoding/json refuses more. The frames are not
// in the memory budget.
const mostLevels = 10_000

// begin starts a key or a value. It consumes a byte only if it opens a frame.
func (r *Reader) begin(out []byte, c byte, i int) ([]byte, int) {
	top, value := r.top(), r.value
	isKey := top != nil && top.wantsKey
	if top != nil && top.isList {
		value = top.rule
		if c != '{' {
			value = nil // the members of objects have rules, and nothing else in a list
		}
	}
	switch {
	case isKey && c != '"' || top == nil && c != '{' || len(r.frames) == mostLevels:
		r.mode = verbatim
	case isKey:
		r.mode, r.key, r.nested = inKey, r.key[:0], nested{}
	case value != nil && (value.empty || value.shallow):
		r.mode, r.nested, r.held, r.shallow = leavingOut, nested{}, r.held[:0], value.shallow
	case value != nil && c != '"':
		r.frames = append(r.frames, frame{rule: value, isList: c == '[', wantsKey: c == '{'})
		return append(out, c), i + 1
	default:
		r.mode, r.nested = copying, nested{}
	}
	return out, i
}

// mostKey is the length in bytes above which a name has no rule.
const mostKey = 4 << 10

// takeKey appends the name of a member, and looks up its rule at the end.
func (r *Reader) takeKey(out, in []byte, i int) ([]byte, int) {
	end, isWhole := r.nested.follow(in, i)
	out = append(out, in[i:end]...)
	if len(r.key) <= mostKey {
		r.key = append(r.key, in[i:end]...)
	}
	if !isWhole {
		return out, end
	}
	top := r.top()
	r.mode, r.value, top.wantsKey = between, nil, false
	if len(r.key) <= mostKey {
		r.value = top.rule.of(string(unquote(r.key)))
	}
	return out, end
}

// unquote returns the content of a JSON string, or the text itself if it is not
// valid.
func unquote(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	var s string
	if json.Unmarshal(quoted, &s) != nil {
		return quoted
	}
	return []byte(s)
}

// takeValue appends a value, or buffers it until it is complete.
func (r *Reader) takeValue(out, in []byte, i int) ([]byte, int) {
	end, isWhole := r.nested.follow(in, i)
	if r.mode == copying {
		out = append(out, in[i:end]...)
	} else {
		r.held = append(r.held, in[i:end]...)
	}
	switch {
	case r.mode == leavingOut && !isWhole && len(r.held) > mostHeld:
		r.mode = copying
		out = r.release(out)
	case r.mode == leavingOut && isWhole:
		r.mode = between
		if r.shallow && r.nested.deepest <= mostDepth || !json.Valid(r.held) || metacontroller.HasLongNumber(r.held) {
			return r.release(out), end
		}
		out = append(out, emptyOf(r.held[0])...)
		r.held = r.held[:0]
	case isWhole:
		r.mode = between
	}
	return out, end
}

// release appends the buffered value.
func (r *Reader) release(out []byte) []byte {
	out = append(out, r.held...)
	r.held = r.held[:0]
	return out
}

// emptyOf returns the empty value of the type of a text.
func emptyOf(first byte) string {
	switch first {
	case '{':
		return "{}"
	case '[':
		return "[]"
	default:
		return `""`
	}
}
