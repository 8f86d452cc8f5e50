package diff

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/internal/documents"
	"github.com/operetta-dev/operetta/internal/lab/kube"
	"github.com/operetta-dev/operetta/internal/printable"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Recording is what a build answers differently to recorded requests.
type Recording struct {
	// Cases is their number, Changed the number of those with another answer.
	Cases   int               `json:"cases"`
	Changed int               `json:"changed"`
	Changes []RecordingChange `json:"changes,omitempty"`
}

// RecordingChange is a change that some cases of a hook share.
type RecordingChange struct {
	Hook    string `json:"hook"` // as in podset/sync
	What    string `json:"what"`
	Cases   int    `json:"cases"`
	Example string `json:"example"` // the name of the first case
}

// CompareRecording asks the hooks of some operators what is recorded in a folder. The error names the case that
// cannot be read.
func CompareRecording(dir string, controllers []metacontroller.Controller) (*Recording, error) {
	recording := &Recording{}
	found := map[string]*RecordingChange{}
	err := corpus.Each(dir, "*", controllers, func(c corpus.Case) error {
		changes, err := changesOf(dir, c)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		recording.Cases++
		if len(changes) > 0 {
			recording.Changed++
		}
		for _, what := range changes {
			hook, example := path.Split(c.Name)
			key := hook + " " + what
			if found[key] == nil {
				found[key] = &RecordingChange{Hook: strings.TrimSuffix(hook, "/"), What: what, Example: example}
			}
			found[key].Cases++
		}
		return nil
	})
	for _, key := range slices.Sorted(maps.Keys(found)) {
		recording.Changes = append(recording.Changes, *found[key])
	}
	return recording, err
}

// Print prints the changes by hook.
func (r *Recording) Print(w io.Writer) {
	w = printable.NewWriter(w) // names and keys are as they were recorded
	hook := ""
	for _, change := range r.Changes {
		if change.Hook != hook {
			hook = change.Hook
			fmt.Fprintln(w, hook)
		}
		fmt.Fprintf(w, "  %4dx %s  (%s)\n", change.Cases, change.What, change.Example)
	}
	fmt.Fprintf(w, "%s, %d with another answer\n", counted(r.Cases, "case"), r.Changed)
}

// changesOf returns how the answer to a case has changed, each change once.
func changesOf(dir string, c corpus.Case) ([]string, error) {
	text, err := documents.ReadFile(filepath.Join(dir, c.Name+".out.yaml"))
	if err != nil {
		return nil, err
	}
	before, err := documents.ToJSON(text)
	if err != nil {
		return nil, fmt.Errorf("the recorded answer %w", err)
	}
	after, err := c.Print()
	if err != nil {
		return nil, err
	}
	var old, now map[string]any
	if err := json.Unmarshal(before, &old); err != nil {
		return nil, fmt.Errorf("read the recorded answer: %w", err)
	}
	if err := yaml.Unmarshal(after, &now); err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	if old["error"] != nil || now["error"] != nil { // nothing else is to be compared
		old, now = map[string]any{"error": old["error"]}, map[string]any{"error": now["error"]}
	}
	changes := append(changesOfChildren(byRef(old), byRef(now)), statusChanges(old, now)...)
	delete(old, "children")
	delete(now, "children")
	changes = append(changes, fieldChanges(old, now)...)
	slices.Sort(changes)
	return slices.Compact(changes), nil
}

// byRef returns the children of an answer by their references.
func byRef(answer map[string]any) map[string]map[string]any {
	children := map[string]map[string]any{}
	list, _ := answer["children"].([]any)
	for _, item := range list {
		if child, ok := item.(map[string]any); ok {
			children[corpus.Ref(child)] = child
		}
	}
	return children
}

func changesOfChildren(old, now map[string]map[string]any) (changes []string) {
	for ref, child := range old {
		if now[ref] == nil {
			changes = append(changes, fmt.Sprintf("%v goes", child["kind"]))
			continue
		}
		for _, path := range fieldChanges(child, now[ref]) {
			changes = append(changes, fmt.Sprintf("%v.%s", child["kind"], path))
		}
	}
	for ref, child := range now {
		if old[ref] == nil {
			changes = append(changes, fmt.Sprintf("%v comes", child["kind"]))
		}
	}
	return changes
}

// fieldChanges returns the fields in which two objects differ, but for their status.
func fieldChanges(old, now map[string]any) []string {
	return linesOf(kube.Comparison{}.Objects(object(old), object(now)))
}

func statusChanges(old, now map[string]any) []string {
	return linesOf(kube.Comparison{}.Status(object(old), object(now)))
}

func object(content map[string]any) kube.Object { return &unstructured.Unstructured{Object: content} }

func linesOf(list []kube.Difference) (lines []string) {
	for _, d := range list {
		lines = append(lines, d.String())
	}
	return lines
}
