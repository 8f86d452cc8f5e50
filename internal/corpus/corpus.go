// Package corpus reads and writes requests with their answers, as files. They are below
// testdata and from serve --record: <kind>/<hook>/<case>.in.yaml and .out.yaml, where the
// path mirrors the URL.
package corpus

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/operetta-dev/operetta/internal/documents"
	"github.com/operetta-dev/operetta/metacontroller"
)

// AskedFor stands for the hash that the hook asks for now in an observed child,
// so that a case need not contain a hash that changes with the code.
const AskedFor = "asked-for"

// StandardNow is the time of a case that names no other.
var StandardNow = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// Case is a request to a hook.
type Case struct {
	// Name is its path below the corpus, without the ending.
	Name       string
	Controller metacontroller.Controller
	Hook       metacontroller.HookName
	// Now is the time of the request.
	Now time.Time
	// Request is the body, complete, in JSON.
	Request []byte
}

// Call answers the request.
func (c Case) Call() (metacontroller.Answer, error) {
	return c.Controller.Call(c.Hook, c.Now, c.Request)
}

// Print returns the answer to the request as an .out.yaml file contains it, or
// the error.
func (c Case) Print() ([]byte, error) {
	answer, err := c.Call()
	if err != nil {
		kind := "the desired state could not be computed"
		if metacontroller.IsRequestError(err) {
			kind = "the request was not understood"
		}
		return fmt.Appendf(nil, "# %s\nerror: %q\n", kind, err), nil
	}
	return documents.ToYAML(answer.Body)
}

// Read returns every case below a folder, in the order of their names. An error
// names the file that cannot be read.
func Read(dir string, controllers []metacontroller.Controller) ([]Case, error) {
	return read(dir, "*", controllers)
}

// ReadKind is [Read] for the cases of one operator, whatever else is in the folder.
func ReadKind(dir string, controller metacontroller.Controller) ([]Case, error) {
	return read(dir, controller.Name(), []metacontroller.Controller{controller})
}

func read(dir, kind string, controllers []metacontroller.Controller) (cases []Case, err error) {
	err = Each(dir, kind, controllers, func(c Case) error {
		cases = append(cases, c)
		return nil
	})
	return cases, err
}

// Each calls a function for every case below a folder, in the order of their names, with one in
// memory at a time: for those of a kind, or of all kinds where it is "*". It ends with the first
// error.
func Each(dir, kind string, controllers []metacontroller.Controller, do func(Case) error) error {
	found, err := fs.Glob(os.DirFS(dir), kind+"/*/*.in.yaml") // the name of dir is no pattern
	if err != nil {
		return fmt.Errorf("look for cases: %w", err)
	}
	for _, name := range found {
		c, err := readCase(dir, name, controllers)
		if err != nil {
			return fmt.Errorf("%s: %w", filepath.Join(dir, name), err)
		}
		if err := do(c); err != nil {
			return err
		}
	}
	return nil
}

// readCase returns the case of one file below a folder.
func readCase(dir, path string, controllers []metacontroller.Controller) (Case, error) {
	c := Case{Name: strings.TrimSuffix(path, ".in.yaml"), Now: StandardNow}
	kind, rest, _ := strings.Cut(c.Name, "/")
	hook, _, _ := strings.Cut(rest, "/")
	c.Hook = metacontroller.HookName(hook)
	i := slices.IndexFunc(controllers, func(other metacontroller.Controller) bool { return other.Name() == kind })
	if i < 0 {
		return c, fmt.Errorf("there is no operator for %s", kind)
	}
	if c.Controller = controllers[i]; !slices.Contains(c.Controller.Hooks(), c.Hook) {
		return c, fmt.Errorf("%s has no hook %s", kind, hook)
	}
	text, err := documents.ReadFile(filepath.Join(dir, path))
	if err != nil {
		return c, err
	}
	source, err := documents.ToJSON(text)
	if err != nil {
		return c, fmt.Errorf("the file %w", err)
	}
	read, err := New(c.Controller.Call, c.Controller, c.Hook, source)
	read.Name = c.Name
	return read, err
}

// Ask answers a request, as [metacontroller.Controller.Call] does.
type Ask func(hook metacontroller.HookName, now time.Time, request []byte) (metacontroller.Answer, error)

// New returns the case of a request in JSON, written as in an .in.yaml file. It asks for missing
// hashes, perhaps within limits.
func New(ask Ask, controller metacontroller.Controller, hook metacontroller.HookName, source []byte) (Case, error) {
	c := Case{Controller: controller, Hook: hook, Now: StandardNow}
	var settings struct {
		Now *time.Time `json:"now"`
	}
	err := json.Unmarshal(source, &settings)
	if err != nil {
		return c, err
	}
	if settings.Now != nil {
		c.Now = *settings.Now
	}
	if c.Request, err = Complete(controller, hook, source); err != nil {
		return c, err
	}
	return c, c.fillHashes(ask)
}

// fillHashes replaces each AskedFor by the hash that the hook asks for.
func (c *Case) fillHashes(ask Ask) error {
	if !bytes.Contains(c.Request, []byte(AskedFor)) {
		return nil
	}
	answer, err := ask(c.Hook, c.Now, c.Request)
	if err != nil {
		return fmt.Errorf("%s can only stand in a request that is answered: %w", AskedFor, err)
	}
	asked, err := Hashes(answer.Body)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(c.Request))
	decoder.UseNumber()
	var request map[string]any
	if err := decoder.Decode(&request); err != nil {
		return err
	}
	groups, _ := request["children"].(map[string]any)
	for _, group := range groups {
		children, _ := group.(map[string]any)
		for _, child := range children {
			object, _ := child.(map[string]any)
			if annotations := annotationsOf(object); annotations[metacontroller.HashAnnotation] == AskedFor {
				annotations[metacontroller.HashAnnotation] = asked[Ref(object)]
			}
		}
	}
	c.Request, err = json.Marshal(request)
	return err
}

// Hashes returns the hashes that an answer asks for, by what tells a child from
// the others. Children that are merely kept have none.
func Hashes(answer []byte) (map[string]string, error) {
	var response struct {
		Children []map[string]any `json:"children"`
	}
	if err := json.Unmarshal(answer, &response); err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	hashes := map[string]string{}
	for _, child := range response.Children {
		if hash, ok := annotationsOf(child)[metacontroller.HashAnnotation].(string); ok {
			hashes[Ref(child)] = hash
		}
	}
	return hashes, nil
}

// Ref returns what tells a child from the others.
func Ref(child map[string]any) string {
	metadata, _ := child["metadata"].(map[string]any)
	return fmt.Sprintf("%v.%v/%v", child["kind"], child["apiVersion"], metadata["name"])
}

func annotationsOf(child map[string]any) map[string]any {
	metadata, _ := child["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	return annotations
}
