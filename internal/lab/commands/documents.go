package commands

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	kjson "sigs.k8s.io/json"

	"github.com/operetta-dev/operetta/internal/documents"
	"github.com/operetta-dev/operetta/internal/lab/cluster/apiserver"
	"github.com/operetta-dev/operetta/internal/lab/dump"
	"github.com/operetta-dev/operetta/internal/lab/kube"
	"github.com/operetta-dev/operetta/metacontroller"
)

// document is one YAML or JSON document of a file.
type document struct {
	source string // for messages: the file, and which document of it
	path   string // of the file, or "-"
	file   int    // its index, where there are several
	json   []byte
	line   func(path string) int // of a field in the file
}

// readDocuments reads all documents of a file, or of the standard input where the path is "-". Of a
// dump of a cluster, or a folder with a recording, it has what somebody has applied.
func (p *program) readDocuments(path string) ([]document, error) {
	text, err := p.readFile(path)
	if err != nil {
		return nil, err
	}
	return documentsOf(path, text)
}

// errEmpty says that a text has no document.
var errEmpty = errors.New("has no document")

// documentsOf returns all documents of a text from a path.
func documentsOf(path string, text []byte) ([]document, error) {
	read, err := documents.All(text)
	if err != nil {
		return nil, fmt.Errorf("%s, %w", sourceOf(path), err)
	}
	if len(read) == 0 {
		return nil, fmt.Errorf("%s %w", sourceOf(path), errEmpty)
	}
	var list []document
	for _, d := range read {
		if content := applied(d.JSON); content != nil {
			list = append(list, document{source: fmt.Sprintf("%s, document %d", sourceOf(path), d.Number), path: path, json: named(content, d.Number), line: d.Line})
		}
	}
	return list, nil
}

// applied returns an object as somebody has applied it: one of a cluster without what the server has
// set, and nil where it was made by a controller, or is an Event.
func applied(text []byte) []byte {
	if !bytes.Contains(text, []byte(`"uid"`)) {
		return text
	}
	object, err := kube.ParseObject(text)
	if err != nil || object.GetUID() == "" {
		return text // whoever decodes it says so
	}
	if _, isControlled := kube.ControllerOf(object); isControlled || object.GetKind() == "Event" {
		return nil
	}
	object.Object = kube.Shown(object)
	object.SetOwnerReferences(nil)
	apiserver.DropServerSet(object)
	content, err := object.MarshalJSON()
	if err != nil {
		return text
	}
	return content
}

// named returns an object with a name where it has only a generateName. The API server appends five
// characters by chance; here it is the number of the document.
func named(text []byte, number int) []byte {
	if !bytes.Contains(text, []byte(`"generateName"`)) {
		return text
	}
	var object map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(text, &object); err != nil {
		return text // whoever decodes it says so
	}
	metadata, _ := object["metadata"].(map[string]any)
	prefix, _ := metadata["generateName"].(string)
	if name, _ := metadata["name"].(string); prefix == "" || name != "" {
		return text
	}
	metadata["name"] = fmt.Sprintf("%.58s%05d", prefix, number)
	content, err := json.Marshal(object)
	if err != nil {
		return text
	}
	return content
}

func (p *program) readFile(path string) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return dump.Recorded(path, p.Controllers())
	}
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

// at returns the place of a field, as in box.yaml:7, or of its closest parent.
// The path is that of the API server's errors: spec.containers[0].name.
func (d document) at(path string) string {
	if line := d.line(path); line > 0 {
		return fmt.Sprintf("%s:%d", sourceOf(d.path), line)
	}
	return d.source
}

// head is what tells an object from others.
type head struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Namespace string `json:"namespace"`
		Name      string `json:"name"`
	} `json:"metadata"`
}

// head returns that of an object, or of the parent in a request.
func (d document) head() (head, error) {
	object := d.json
	var request struct{ Parent json.RawMessage }
	if json.Unmarshal(d.json, &request) == nil && request.Parent != nil {
		object = request.Parent
	}
	var h head
	err := json.Unmarshal(object, &h)
	switch wrong, _ := errors.AsType[*json.UnmarshalTypeError](err); {
	case wrong != nil && wrong.Field == "":
		err = fmt.Errorf("%s: expected a mapping, not a list or a single value", d.source)
	case wrong != nil:
		err = fmt.Errorf("%s has a %s that is a %s: put a string in quotes, as YAML reads y, no and 1 as something else", d.source, wrong.Field, wrong.Value)
	case h.APIVersion == "" || h.Kind == "":
		err = fmt.Errorf("%s is neither a custom resource nor a hook request: it has no apiVersion and kind, and no parent that has them", d.source)
	}
	return h, err
}

// identity returns the key of an object.
func (d document) identity() (string, error) {
	h, err := d.head()
	if err == nil && h.Metadata.Name == "" {
		err = fmt.Errorf("%s has no metadata.name", d.source)
	}
	return strings.Join([]string{h.APIVersion, h.Kind, h.Metadata.Namespace, h.Metadata.Name}, " "), err
}

// controllerFor returns the operator of a custom resource or a request.
func (p *program) controllerFor(d document) (metacontroller.Controller, error) {
	h, err := d.head()
	if err != nil {
		return metacontroller.Controller{}, err
	}
	if controller := p.Controllers().Of(h.APIVersion, h.Kind); controller != nil {
		return *controller, nil
	}
	return metacontroller.Controller{}, p.noParent([]document{d}, sourceOf(d.path))
}

// knownKinds returns the kinds of the custom resources that are known, for a message.
func (p *program) knownKinds() string {
	var known []string
	for _, controller := range p.Controllers() {
		known = append(known, controller.Parent.Kind+" of "+controller.Parent.APIVersion)
	}
	return strings.Join(known, ", ")
}

// noParent says where and that no document is a custom resource of a known kind.
func (p *program) noParent(all []document, files string) error {
	if len(all) == 0 {
		return fmt.Errorf("%s: there is no custom resource that somebody has applied: write one of %s", files, p.knownKinds())
	}
	return fmt.Errorf("%s: %s", all[0].at("kind"), p.unknownKinds(all))
}

// unknownKinds says that no document is a custom resource of a known kind, and of which kinds they are.
func (p *program) unknownKinds(all []document) string {
	var seen []string
	for _, d := range all {
		h, _ := d.head() // one without a kind is told by whoever reads it
		if kind := h.Kind + " of " + h.APIVersion; !slices.Contains(seen, kind) {
			seen = append(seen, kind)
		}
	}
	const most = 5
	if len(seen) > most {
		seen = append(seen[:most], fmt.Sprintf("and %d more", len(seen)-most))
	}
	return fmt.Sprintf("there is no custom resource of a kind that %s knows, only %s: write one of %s", p.Name(), strings.Join(seen, ", "), p.knownKinds())
}

// only returns the one document of a file that an operator knows, and that
// operator. The file may have other objects, with which its custom resource
// works.
func (p *program) only(path string) (input document, controller metacontroller.Controller, err error) {
	list, err := p.readDocuments(path)
	if err != nil {
		return input, controller, err
	}
	if len(list) == 1 {
		controller, err = p.controllerFor(list[0])
		return list[0], controller, err
	}
	found := 0
	for _, d := range list {
		if known, err := p.controllerFor(d); err == nil {
			input, controller = d, known
			found++
		}
	}
	if found == 0 {
		return input, controller, p.noParent(list, sourceOf(path))
	}
	if found > 1 {
		err = fmt.Errorf("%s has %d custom resources, and render takes one: split the file", sourceOf(path), found)
	}
	return input, controller, err
}
