package workbench

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/operetta-dev/operetta/internal/cli"
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
	return &report{program: p, output: output, text: &printing.Printer{Out: p.Out}}, checkOutput(output)
}

// checkOutput refuses a form of the output that there is not.
func checkOutput(output string) error {
	if !slices.Contains([]string{"text", "json", "yaml"}, output) {
		return cli.Usagef("--output %q is not supported: use text, json or yaml", output)
	}
	return nil
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
	if err := printData(r.Out, r.output, newTranscript(world, failure)); err != nil {
		return fmt.Errorf("printing the simulation: %w", err)
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
	_, err = fmt.Fprintln(w, strings.TrimRight(string(text), "\n"))
	return err
}
