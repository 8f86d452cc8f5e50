package commands

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/internal/cli"
	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/internal/documents"
	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/internal/printable"
)

func newReplayCommand(p *program) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "replay DIR",
		Short: "Replay recorded requests against this build and report changed answers",
		Long: `Replay reads what serve --record has written, or a folder laid out as testdata/ is,
asks this build the same, and tells what it answers differently: which children
would come or go, and which fields would change, each change once with the number
of cases that have it and one of them as an example.

The exit code is 0 when nothing would change, 3 when anything would, 1 when it has failed
and 2 for a wrong use.`,
		Example: `  operetta serve --record /var/recordings       the build that runs now
  operetta replay /var/recordings               the build that shall run next`,
		Args: cli.Exactly(1, "one folder"),
		RunE: func(_ *cobra.Command, args []string) error { return p.replay(args[0], output) },
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", "form of the output: text, json or yaml")
	cli.AddPolicies(cmd, p.Program)
	return cmd
}

// replayReport is what replay prints.
type replayReport struct {
	// Cases is their number, Changed the number of those with another answer.
	Cases   int            `json:"cases"`
	Changed int            `json:"changed"`
	Changes []replayChange `json:"changes,omitempty"`
}

// replayChange is a change that some cases of a hook share.
type replayChange struct {
	Hook    string `json:"hook"` // as in podset/sync
	What    string `json:"what"`
	Cases   int    `json:"cases"`
	Example string `json:"example"` // the name of the first case
}

func (p *program) replay(dir, output string) error {
	if err := checkOutput(output); err != nil {
		return err
	}
	report := replayReport{}
	found := map[string]*replayChange{}
	err := corpus.Each(dir, "*", p.Controllers(), func(c corpus.Case) error {
		changes, err := changesOf(dir, c)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		report.Cases++
		if len(changes) > 0 {
			report.Changed++
		}
		for _, what := range changes {
			hook, example := path.Split(c.Name)
			key := hook + " " + what
			if found[key] == nil {
				found[key] = &replayChange{Hook: strings.TrimSuffix(hook, "/"), What: what, Example: example}
			}
			found[key].Cases++
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	if report.Cases == 0 {
		return fmt.Errorf("there is no <kind>/<hook>/<case>.in.yaml below %s: %s serve --record writes them", dir, p.Name())
	}
	for _, key := range slices.Sorted(maps.Keys(found)) {
		report.Changes = append(report.Changes, *found[key])
	}
	if err := report.print(p.Out, output); err != nil {
		return err
	}
	if report.Changed > 0 {
		return cli.ExitError{Code: cli.ExitChanges, Err: fmt.Errorf("%d of %d cases have another answer", report.Changed, report.Cases)}
	}
	return nil
}

func (r replayReport) print(w io.Writer, output string) error {
	if output != "text" {
		return printData(w, output, r)
	}
	w = printable.NewWriter(w) // names and keys are as they were recorded
	hook := ""
	for _, change := range r.Changes {
		if change.Hook != hook {
			hook = change.Hook
			fmt.Fprintln(w, hook)
		}
		fmt.Fprintf(w, "  %4dx %s  (%s)\n", change.Cases, change.What, change.Example)
	}
	fmt.Fprintf(w, "%d cases, %d with another answer\n", r.Cases, r.Changed)
	return nil
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
	changes := append(changesOfChildren(byRef(old), byRef(now)), difference(player.Reported, old, now)...)
	delete(old, "children")
	delete(now, "children")
	changes = append(changes, difference(player.Changed, old, now)...)
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
		for _, path := range difference(player.Changed, child, now[ref]) {
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

// difference returns the fields in which two objects differ, as a simulation tells them: in the
// status or in everything else, but for the hash.
func difference(verb player.Verb, old, now map[string]any) []string {
	return player.Event{Verb: verb, Before: &unstructured.Unstructured{Object: old}, Object: &unstructured.Unstructured{Object: now}}.Paths()
}
