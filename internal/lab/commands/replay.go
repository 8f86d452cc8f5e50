package commands

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/operetta-dev/operetta/internal/cli"
	"github.com/operetta-dev/operetta/internal/lab/diff"
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
	completeWords(cmd, "output", "text", "json", "yaml")
	cli.AddPolicies(cmd, p.Program)
	return cmd
}

func (p *program) replay(dir, output string) error {
	if err := checkOutput(output); err != nil {
		return err
	}
	recording, err := diff.CompareRecording(dir, p.Controllers())
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	if recording.Cases == 0 {
		return fmt.Errorf("there is no <kind>/<hook>/<case>.in.yaml below %s: %s serve --record writes them", dir, p.Name())
	}
	if output == "text" {
		recording.Print(p.Out)
	} else if err := printData(p.Out, output, recording); err != nil {
		return err
	}
	if recording.Changed > 0 {
		have := "cases have"
		if recording.Cases == 1 {
			have = "case has"
		}
		return cli.ExitError{Code: cli.ExitChanges, Err: fmt.Errorf("%d of %d %s another answer", recording.Changed, recording.Cases, have)}
	}
	return nil
}
