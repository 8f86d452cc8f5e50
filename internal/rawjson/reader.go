package rawjson

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Reader reads a text in one pass, and checks every byte of it. Names are case-sensitive, integers
// stay integers and the text is valid UTF-8, as the API server has it.
type Reader struct {
	decoder jsontext.Decoder
	buffer  bytes.Buffer
	text    []byte
}

var readers = sync.Pool{New: func() any { return new(Reader) }}

// NewReader returns a reader of a text, which must not change while its parts are used.
// Call Release after the last call of a method.
func NewReader(text []byte) *Reader {
	r := readers.Get().(*Reader)
	r.text, r.buffer = text, *bytes.NewBuffer(text)
	// Of a Buffer nothing is copied. No API server stores a name twice, and to look for one that
	// stands twice takes a sixth of the time.
	r.decoder.Reset(&r.buffer, jsontext.AllowDuplicateNames(true))
	return r
}

// Release ends the use of a reader.
func (r *Reader) Release() {
	r.text, r.buffer = nil, bytes.Buffer{}
	r.decoder.Reset(&r.buffer)
	readers.Put(r)
}

// Value returns the next value, or the next name, as it is written.
func (r *Reader) Value() ([]byte, error) {
	value, err := r.decoder.ReadValue()
	if err != nil {
		return nil, err
	}
	return r.text[r.Offset()-len(value) : r.Offset()], nil
}

// Kind returns the kind of the next value.
func (r *Reader) Kind() jsontext.Kind { return r.decoder.PeekKind() }

// Skip skips the next value.
func (r *Reader) Skip() error { return r.decoder.SkipValue() }

// Offset returns where the reader is in its text.
func (r *Reader) Offset() int { return int(r.decoder.InputOffset()) }

// Since returns the value that has been read since an offset, as it is written.
func (r *Reader) Since(offset int) []byte {
	return bytes.TrimLeft(r.text[offset:r.Offset()], " \t\r\n:,")
}

// ErrKind ends the reading of a value that is of another kind than it must be.
var ErrKind = errors.New("another kind of value")

// Members calls visit for each member of the next value, which must be an object. Visit
// reads the member's value.
func (r *Reader) Members(visit func(name []byte) error) error {
	if r.decoder.PeekKind() != '{' {
		if err := r.decoder.SkipValue(); err != nil {
			return err
		}
		return ErrKind
	}
	if _, err := r.decoder.ReadToken(); err != nil {
		return err
	}
	for r.decoder.PeekKind() != '}' {
		name, err := r.Value()
		if err != nil {
			return err
		}
		if err := visit(Unquote(name)); err != nil {
			return err
		}
	}
	_, err := r.decoder.ReadToken()
	return err
}

// End reports anything behind the value.
func (r *Reader) End() error {
	if _, err := r.decoder.ReadToken(); !errors.Is(err, io.EOF) {
		if err == nil {
			err = errors.New("a second value follows")
		}
		return err
	}
	return nil
}

// decoding are the rules of Kubernetes where they are not those of the decoder: integers stay
// integers where no type is wanted.
var decoding = json.JoinOptions(jsonv1.FormatDurationAsNano(true), json.WithUnmarshalers(json.UnmarshalFromFunc(untyped)))

// Decode decodes a text that is one value.
func Decode(text []byte, into any) error { return json.Unmarshal(text, into, decoding) }

// untyped decodes a number into an interface, as int64 where it is one.
func untyped(decoder *jsontext.Decoder, into *any) error {
	if decoder.PeekKind() != '0' {
		return errors.ErrUnsupported
	}
	number, err := decoder.ReadValue()
	if err != nil {
		return err
	}
	if whole, err := strconv.ParseInt(string(number), 10, 64); err == nil {
		*into = whole
		return nil
	}
	*into, err = strconv.ParseFloat(string(number), 64)
	return err
}
