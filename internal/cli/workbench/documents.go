package workbench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/operetta-dev/operetta/internal/documents"
	"github.com/operetta-dev/operetta/metacontroller"
)

// document is one YAML or JSON document of a file.
type document struct {
	source    string // for messages: the file, and which document of it
	json      []byte
	path      string         // of the file, or "-"
	places    func() *places // of the fields in the text as it is written
	firstLine int            // of the text in the file, or 0
}

// readDocuments reads all documents of a file, or of the standard input where
// the path is "-".
func (p *program) readDocuments(path string) ([]document, error) {
	text, err := p.readFile(path)
	if err != nil {
		return nil, err
	}
	source := func(index int) string { return fmt.Sprintf("%s, document %d", sourceOf(path), index+1) }
	parts, err := documents.Split(text)
	if err != nil {
		return nil, fmt.Errorf("%s %w", source(len(parts)), err)
	}
	lines := firstLines(text, parts)
	var list []document
	for i, part := range parts {
		content, err := documents.ToJSON(part)
		if err != nil {
			return nil, fmt.Errorf("%s %w", source(i), err)
		}
		if !bytes.Equal(content, []byte("null")) {
			list = append(list, document{source: source(i), json: content, path: path, places: placesIn(part), firstLine: lines[i]})
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s has no document", sourceOf(path))
	}
	return list, nil
}

func (p *program) readFile(path string) ([]byte, error) {
	if path != "-" {
		return documents.ReadFile(path)
	}
	text, err := documents.Read(p.In)
	if err != nil {
		return nil, fmt.Errorf("%s %w", sourceOf(path), err)
	}
	return text, nil
}

// sourceOf returns the name of a file for messages.
func sourceOf(path string) string {
	if path == "-" {
		return "standard input"
	}
	return path
}

// identify returns the apiVersion and kind of an object, or of the parent in a
// request.
func (d document) identify() (apiVersion, kind string, err error) {
	type id struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	var object struct {
		id
		Parent *id `json:"parent"`
	}
	if err := json.Unmarshal(d.json, &object); err != nil {
		return "", "", fmt.Errorf("%s: expected a mapping, got %s", d.source, jsonKind(d.json))
	}
	if object.Parent != nil {
		object.id = *object.Parent
	}
	if object.APIVersion == "" || object.Kind == "" {
		return "", "", fmt.Errorf("%s is neither a custom resource nor a hook request: it has no apiVersion and kind, and no parent that has them", d.source)
	}
	return object.APIVersion, object.Kind, nil
}

// jsonKind says what a JSON text is, in the words of YAML.
func jsonKind(text []byte) string {
	switch text[0] {
	case '[':
		return "a list"
	case '{':
		return "one with a field of the wrong type: apiVersion and kind are strings, and parent is an object"
	default:
		return "a single value"
	}
}

// controllerFor returns the operator of a custom resource or a request.
func (p *program) controllerFor(d document) (metacontroller.Controller, error) {
	apiVersion, kind, err := d.identify()
	if err != nil {
		return metacontroller.Controller{}, err
	}
	for _, controller := range p.Controllers() {
		if controller.Parent.APIVersion == apiVersion && controller.Parent.Kind == kind {
			return controller, nil
		}
	}
	known := make([]string, len(p.Controllers()))
	for i, controller := range p.Controllers() {
		known[i] = controller.Parent.Kind + " of " + controller.Parent.APIVersion
	}
	return metacontroller.Controller{}, fmt.Errorf("%s: there is no operator for the kind %s of %s, only for %s",
		d.source, kind, apiVersion, strings.Join(known, ", "))
}

// only returns the one document of a file that an operator knows, and that
// operator. The file may have other objects, with which its custom resource
// works.
func (p *program) only(path string, documents []document) (document, metacontroller.Controller, error) {
	if len(documents) == 1 {
		controller, err := p.controllerFor(documents[0])
		return documents[0], controller, err
	}
	var input document
	var controller metacontroller.Controller
	found := 0
	for _, d := range documents {
		if known, err := p.controllerFor(d); err == nil {
			input, controller = d, known
			found++
		}
	}
	if found != 1 {
		return input, controller, fmt.Errorf("%s has %d documents, and render takes one: split the file", sourceOf(path), len(documents))
	}
	return input, controller, nil
}

// identity returns the key of an object.
func (d document) identity() (string, error) {
	apiVersion, kind, err := d.identify()
	if err != nil {
		return "", err
	}
	var object struct {
		Metadata struct {
			Namespace string `json:"namespace"`
			Name      string `json:"name"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(d.json, &object); err != nil {
		return "", fmt.Errorf("%s has a metadata.name or namespace that is no string: put it in quotes, as YAML reads y, no and 1 as something else", d.source)
	}
	if object.Metadata.Name == "" {
		return "", fmt.Errorf("%s has no metadata.name", d.source)
	}
	return strings.Join([]string{apiVersion, kind, object.Metadata.Namespace, object.Metadata.Name}, " "), nil
}
