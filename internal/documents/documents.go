// Package documents reads YAML and JSON that anybody may have written, and lets
// neither a file without an end nor a few bytes that stand for many take more
// memory than is said here. Its errors complete a sentence that begins with the
// name of what is read.
package documents

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"unicode"

	yamlv2 "go.yaml.in/yaml/v2"
	yamlutil "k8s.io/apimachinery/pkg/util/yaml"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

const (
	// MaxBytes is how long a file, or the standard input, may be. It is also how
	// long a document may be when its aliases are written out.
	MaxBytes = 64 << 20
	// MaxValues is how many values a YAML document may have, when its aliases are
	// written out. Reading it takes up to 500 bytes for each.
	MaxValues = 1_000_000
	// MaxDocuments is how many documents a file may have.
	MaxDocuments = 10_000
)

// Read reads to the end.
func Read(r io.Reader) ([]byte, error) {
	limited := io.LimitReader(r, MaxBytes+1)
	var parts [][]byte // a buffer that grows leaves behind several times what it holds
	for {
		part := make([]byte, partBytes)
		n, err := io.ReadFull(limited, part)
		parts = append(parts, part[:n])
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	text := bytes.Join(parts, nil)
	if len(text) > MaxBytes {
		return nil, fmt.Errorf("has more than %d MiB: split it", MaxBytes>>20)
	}
	return text, nil
}

// partBytes is how much is read at a time.
const partBytes = 64 << 10

// ReadFile reads a file, which may be a pipe. Its errors are whole sentences that
// name it.
func ReadFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return readOpen(file, path)
}

// readOpen is [ReadFile] for a file that is open, which it closes.
func readOpen(file *os.File, path string) ([]byte, error) {
	defer func() { _ = file.Close() }() // it is only read
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s is a folder: write the path of a file", path)
	case info.Mode().IsRegular() && info.Size() > MaxBytes:
		return nil, fmt.Errorf("%s has more than %d MiB: split it", path, MaxBytes>>20)
	}
	text, err := Read(file)
	if err != nil {
		return nil, fmt.Errorf("%s %w", path, err)
	}
	return text, nil
}

// ReadRegular is [ReadFile] for a file that was found in a folder: from a pipe nobody may
// ever write anything.
func ReadRegular(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file: remove it", path)
	}
	return ReadFile(path)
}

// Split returns the documents of a YAML stream, empty ones included, or the
// documents that are JSON, one behind the other. An error is about the document
// behind those that are returned.
func Split(text []byte) ([][]byte, error) {
	if parts, isJSON := splitJSON(text); isJSON {
		if len(parts) > MaxDocuments {
			return parts[:MaxDocuments], fmt.Errorf("is one too many: a file may have %d, split it", MaxDocuments)
		}
		return parts, nil
	}
	if len(text) > 0 && !bytes.Contains(text, []byte("---")) && !bytes.ContainsRune(text, '\r') {
		return [][]byte{text}, nil // without the copies that the reader makes of long lines
	}
	var parts [][]byte
	reader := yamlutil.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		part, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return parts, nil
		}
		if err != nil {
			return parts, fmt.Errorf("cannot be read: %w", err)
		}
		if len(parts) == MaxDocuments {
			return parts, fmt.Errorf("is one too many: a file may have %d, split it", MaxDocuments)
		}
		parts = append(parts, part)
	}
}

// splitJSON returns the values of which a text consists, and whether it has nothing but
// these. It returns one more than MaxDocuments at most.
func splitJSON(text []byte) (parts [][]byte, isJSON bool) {
	if json.Valid(text) {
		return [][]byte{text}, true
	}
	if begin := bytes.TrimSpace(text); len(begin) == 0 || begin[0] != '{' {
		return nil, false // as most YAML
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	for len(parts) <= MaxDocuments {
		var part json.RawMessage
		err := decoder.Decode(&part)
		if errors.Is(err, io.EOF) {
			return parts, true
		}
		if err != nil {
			return nil, false
		}
		parts = append(parts, part)
	}
	return parts, true
}

// plainKey is the beginning of a mapping whose first key has neither a space, a quotation mark nor
// a tag or anchor before it, behind comments.
var plainKey = regexp.MustCompile(`^(?:[ \t]*(?:#[^\n]*)?\n|---\n)*[A-Za-z0-9][^#\n]*:[ \n]`)

// hasMore reports whether something follows the first document of a text that is no JSON.
// The converter does not look behind brackets, a quotation mark, the line that ends a document
// or a line that is indented less than the first.
// A text that begins with a plain key has none of them at its top, and is not read again.
func hasMore(text []byte) bool {
	ends := bytes.Contains(text, []byte("...")) || bytes.Contains(text, []byte("\n%")) ||
		bytes.ContainsAny(text, "\r\u0085\u2028\u2029") // line ends that Split does not know
	if !ends && plainKey.Match(text) {
		return false
	}
	return readsOn(text)
}

// readsOn reports what hasMore does by reading all of the text.
func readsOn(text []byte) bool {
	decoder := yamlv2.NewDecoder(bytes.NewReader(text))
	var value any
	if decoder.Decode(&value) != nil {
		return false
	}
	return !errors.Is(decoder.Decode(&value), io.EOF)
}

// ToYAML returns JSON as YAML, in which control characters are escaped.
func ToYAML(text []byte) ([]byte, error) {
	var value any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(text, &value); err != nil {
		return nil, err
	}
	return yamlv2.Marshal(value) // sigs.k8s.io/yaml reads the text as YAML before
}

// ToJSON returns a YAML document, which JSON is too, as JSON. A member that stands
// twice is an error, and so is a second document: it would be ignored. JSON with more
// values than YAML may have is taken as it is: nothing but its length takes memory.
func ToJSON(text []byte) ([]byte, error) {
	if countValues(text) > MaxValues && json.Valid(text) {
		return text, nil
	}
	if err := checkSize(text); err != nil {
		return nil, err
	}
	content, err := yaml.YAMLToJSONStrict(text)
	if err != nil && json.Valid(text) && bytes.ContainsFunc(text, unicode.IsControl) {
		return text, nil // JSON may have control characters, and YAML may not
	}
	if err != nil {
		return nil, fmt.Errorf("is neither YAML nor JSON: %w", err)
	}
	if parts, err := Split(text); err == nil && len(parts) > 1 {
		objects, err := Objects(text)
		if err != nil || len(objects) > 1 {
			return nil, errors.New("has several documents: write one")
		}
		if len(objects) == 1 { // the others are empty
			content = objects[0]
		}
		return content, nil
	}
	if !json.Valid(text) && hasMore(text) {
		return nil, errors.New("has more behind its end: remove that, or write --- before another document")
	}
	return content, nil
}

// Objects returns the documents of a text in JSON, without those that only have
// comments. The error says which document is wrong.
func Objects(text []byte) ([][]byte, error) {
	parts, err := Split(text)
	if err != nil {
		return nil, fmt.Errorf("document %d %w", len(parts)+1, err)
	}
	var objects [][]byte
	for i, part := range parts {
		object, err := ToJSON(part)
		if err != nil {
			return nil, fmt.Errorf("document %d %w", i+1, err)
		}
		if string(object) != "null" {
			objects = append(objects, object)
		}
	}
	return objects, nil
}
