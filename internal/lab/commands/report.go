package commands

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/operetta-dev/operetta/internal/cli"
	"github.com/operetta-dev/operetta/internal/documents"
	"github.com/operetta-dev/operetta/internal/lab/kube"
	"github.com/operetta-dev/operetta/internal/lab/player"
)

// checkOutput refuses a form of the output that there is not.
func checkOutput(output string) error {
	if !slices.Contains([]string{"text", "json", "yaml"}, output) {
		return cli.Usagef("--output %q is not supported: use text, json or yaml", output)
	}
	return nil
}

// printData prints a value as JSON or YAML.
func printData(w io.Writer, output string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err == nil && output == "yaml" {
		text, err = documents.ToYAML(text)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, strings.TrimSuffix(string(text), "\n"))
	return err
}

// transcript is a simulation as data.
type transcript struct {
	// Converged is false if something kept changing.
	Converged bool   `json:"converged"`
	Error     string `json:"error,omitempty"`
	// Outcomes are how the custom resources ended.
	Outcomes []transcriptOutcome `json:"outcomes"`
	Steps    []transcriptStep    `json:"steps"`
	// Objects are all objects at the end.
	Objects []map[string]any `json:"objects"`
}

type transcriptOutcome struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Ready     string `json:"ready"`
	Reason    string `json:"reason"`
	Message   string `json:"message"`
	Failure   string `json:"failure,omitempty"`
	Calls     int    `json:"hookCalls"`
	Children  int    `json:"children"`
}

type transcriptStep struct {
	Number int               `json:"number"`
	Time   time.Time         `json:"time"`
	Events []transcriptEvent `json:"events"`
}

type transcriptEvent struct {
	Verb    player.Verb `json:"verb"`
	Kind    string      `json:"kind,omitempty"`
	Name    string      `json:"name,omitempty"`
	By      string      `json:"by,omitempty"`
	Detail  string      `json:"detail,omitempty"`
	Changes []string    `json:"changes,omitempty"`
}

func newTranscript(world *player.World, failure error) transcript {
	whole := transcript{Converged: failure == nil}
	if failure != nil {
		whole.Error = failure.Error()
	}
	for _, o := range world.Outcomes() {
		whole.Outcomes = append(whole.Outcomes, transcriptOutcome{
			Kind: o.Parent.GetKind(), Namespace: o.Parent.GetNamespace(), Name: o.Parent.GetName(),
			Ready: o.Ready, Reason: o.Reason, Message: o.Message, Failure: o.Failure, Calls: o.Calls, Children: o.Children,
		})
	}
	for _, step := range world.Steps {
		events := make([]transcriptEvent, len(step.Events))
		for i, event := range step.Events {
			events[i] = transcriptEvent{Verb: event.Verb, By: event.By, Detail: event.Detail, Changes: event.Paths()}
			if event.Object != nil {
				events[i].Kind, events[i].Name = event.Object.GetKind(), event.Object.GetName()
			}
		}
		whole.Steps = append(whole.Steps, transcriptStep{Number: step.Number, Time: step.Time, Events: events})
	}
	for _, object := range world.Objects() {
		whole.Objects = append(whole.Objects, kube.Dumped(object))
	}
	return whole
}
