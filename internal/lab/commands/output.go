package commands

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/operetta-dev/operetta/internal/cli"
	"github.com/operetta-dev/operetta/internal/documents"
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
