// Package documents reads YAML and JSON that people have written, and writes files. Its errors
// complete a sentence that begins with the name of what is read.
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
	"slices"
	"strconv"
	"strings"

	yamlv2 "go.yaml.in/yaml/v2"
	yamlutil "k8s.io/apimachinery/pkg/util/yaml"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// MaxBytes is how long a file, or the standard input, may be.
const MaxBytes = 64 << 20

// Read reads to the end.
func Read(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err == nil && len(text) > MaxBytes {
		err = fmt.Errorf("has more than %d MiB: split it", MaxBytes>>20)
	}
	return text, err
}

// ReadFile reads a file, which may be a pipe. Its errors are whole sentences that
// name it.
func ReadFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it is only read
	if info, err := file.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a folder: write the path of a file", path)
	}
	text, err := Read(file)
	if err != nil {
		return nil, fmt.Errorf("%s %w", path, err)
	}
	return text, nil
}

// Split returns the documents of a YAML stream, empty ones included, or the values of
// a text that is nothing but JSON. An error is about the document behind those that
// are returned.
func Split(text []byte) ([][]byte, error) {
	if parts := splitJSON(text); parts != nil {
		return parts, nil
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
		parts = append(parts, part)
	}
}

// splitJSON returns the values of a text in JSON, or nil.
func splitJSON(text []byte) (parts [][]byte) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	for {
		var part json.RawMessage
		err := decoder.Decode(&part)
		if errors.Is(err, io.EOF) {
			return parts
		}
		if err != nil {
			return nil
		}
		parts = append(parts, part)
	}
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
// twice is an error, and so is a second document: it would be ignored.
func ToJSON(text []byte) ([]byte, error) {
	parts, err := Split(text)
	if err != nil {
		return nil, err
	}
	content := []byte("null")
	for _, part := range parts {
		object, err := toJSON(part)
		switch {
		case err != nil:
			return nil, err
		case string(object) == "null":
			continue
		case string(content) != "null":
			return nil, errors.New("has several documents: write one")
		}
		content = object
	}
	return content, nil
}

// toJSON is [ToJSON] for one document. JSON may have control characters, and YAML may not; below a
// comment, as in a recording, it takes a small part of the memory that YAML would take.
func toJSON(text []byte) ([]byte, error) {
	whole := text
	for bytes.HasPrefix(text, []byte("#")) {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	var value any
	switch repeated, err := kjson.UnmarshalStrict(text, &value, kjson.DisallowDuplicateFields); {
	case err == nil && len(repeated) > 0:
		return nil, fmt.Errorf("has a member twice: %w", repeated[0])
	case err == nil:
		return bytes.TrimSpace(text), nil
	}
	content, err := yaml.YAMLToJSONStrict(whole)
	if err != nil {
		return nil, fmt.Errorf("is neither YAML nor JSON: %w", err)
	}
	return content, nil
}

// Document is a document of a text.
type Document struct {
	// Number counts from 1.
	Number int
	// JSON is its content.
	JSON []byte
	// Line returns the line of a field in the text, as [Lines] does in a document.
	Line func(path string) int
}

// All returns the documents of a text, without those that only have comments, and the items of a List
// in its place. The error says which document is wrong.
func All(text []byte) ([]Document, error) {
	parts, err := Split(text)
	if err != nil {
		return nil, fmt.Errorf("document %d %w", len(parts)+1, err)
	}
	rest, above := bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), 0 // the parts have \n
	if len(rest) > 0 && rest[len(rest)-1] != '\n' {
		rest = append(slices.Clip(rest), '\n') // as the last part has it
	}
	var all []Document
	for i, part := range parts {
		before, behind, _ := bytes.Cut(rest, part)
		above += bytes.Count(before, []byte("\n"))
		content, err := toJSON(part)
		if err != nil {
			return nil, located{fmt.Errorf("document %d %w", i+1, err), above, above + 1 + bytes.Count(bytes.TrimRight(part, " \n"), []byte("\n"))}
		}
		first, line := above, Lines(part)
		rest, above = behind, above+bytes.Count(part, []byte("\n"))
		if string(content) == "null" {
			continue
		}
		d := Document{i + 1, content, func(path string) int {
			if n := line(path); n > 0 {
				return first + n
			}
			return 0
		}}
		if items, isList := d.items(); isList {
			all = append(all, items...)
		} else {
			all = append(all, d)
		}
	}
	return all, nil
}

// items returns the items of a List, as kubectl get prints it.
func (d Document) items() (items []Document, isList bool) {
	var list struct {
		Kind  string            `json:"kind"`
		Items []json.RawMessage `json:"items"`
	}
	if json.Unmarshal(d.JSON, &list) != nil || !strings.HasSuffix(list.Kind, "List") || list.Items == nil {
		return nil, false
	}
	for i, item := range list.Items {
		at := fmt.Sprintf("items[%d]", i)
		items = append(items, Document{d.Number, item, func(path string) int {
			return d.Line(strings.TrimSuffix(at+"."+path, "."))
		}})
	}
	return items, true
}

// located is an error in a document with so many lines above it, and its last line in the text.
type located struct {
	error
	above, last int
}

// Unwrap returns the error.
func (e located) Unwrap() error { return e.error }

// lineInError is where a YAML parser says what line is wrong.
var lineInError = regexp.MustCompile(`\bline (\d+)\b`)

// LineOf returns the line of the text that an error of [All] is about, or 0.
func LineOf(err error) int {
	e, ok := errors.AsType[located](err)
	if !ok {
		return 0
	}
	if found := lineInError.FindStringSubmatch(e.Error()); found != nil {
		line, _ := strconv.Atoi(found[1]) // it has only digits
		return min(e.above+line, e.last)  // a parser may say the line behind the end
	}
	return e.above + 1
}

// Objects returns the contents of [All].
func Objects(text []byte) ([][]byte, error) {
	all, err := All(text)
	objects := make([][]byte, len(all))
	for i, d := range all {
		objects[i] = d.JSON
	}
	return objects, err
}
