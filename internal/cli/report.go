package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/operetta-dev/operetta/internal/documents"
	printing "github.com/operetta-dev/operetta/internal/report"
	"github.com/operetta-dev/operetta/internal/simulate"
)

// report prints a simulation: as text while it runs, or as a whole at its end.
type report struct {
	*program

	output string
	text   *printing.Printer
}

func newReport(p *program, output string) (*report, error) {
	switch output {
	case "text", "json", "yaml":
		return &report{program: p, output: output, text: &printing.Printer{Out: p.Out}}, nil
	default:
		return nil, usagef("--output %q is not supported: use text, json or yaml", output)
	}
}

// outcomes prints the steps since the last call and how each custom resource
// ended.
func (r *report) outcomes(world *simulate.World) {
	if r.output == "text" {
		r.text.Outcomes(world)
	}
}

// end prints the rest.
func (r *report) end(world *simulate.World, failure error) error {
	if r.output == "text" {
		r.text.Steps(world)
		return nil
	}
	whole := newTranscript(world, failure)
	text, err := json.MarshalIndent(whole, "", "  ")
	if err == nil && r.output == "yaml" {
		text, err = documents.ToYAML(text)
	}
	if err != nil {
		return fmt.Errorf("printing the simulation: %w", err)
	}
	_, err = fmt.Fprintln(r.Out, strings.TrimRight(string(text), "\n"))
	return err
}
