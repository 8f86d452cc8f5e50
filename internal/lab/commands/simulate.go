package commands

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operetta-dev/operetta/internal/cli"
	"github.com/operetta-dev/operetta/internal/documents"
	"github.com/operetta-dev/operetta/internal/lab/kube"
	"github.com/operetta-dev/operetta/internal/lab/page"
	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/internal/lab/run"
)

var applyStrategies = []string{string(player.DynamicApply), string(player.ServerSideApply)}

// maxSteps is the limit of --max-steps.
const maxSteps = 10_000

// simulateFlags are the flags of simulate.
type simulateFlags struct {
	output, apply, hookVersion string
	given                      []given
	actions                    []player.Action
	deleteAfter, overHTTP      bool
	validate                   bool
	record                     string
	maxSteps                   int
}

func newSimulateCommand(p *program) *cobra.Command {
	var flags simulateFlags
	cmd := &cobra.Command{
		Use:   "simulate FILE...",
		Short: "Play reconciliation in memory until nothing changes",
		Long: `Simulate plays what Metacontroller, the API server and the built-in controllers
do with custom resources, and prints each step. The files, or - for the standard
input, are applied in their order: a custom resource that comes a second time is
an edit, applied when the first has converged, and an object of another kind is
one that belongs to someone else. What goes wrong can be told a step from which
on it does, as in Deployment/web@3.

Of the output's marks, > is what a person did, + ~ and - are children that come,
change and go, * is how far they are, ? the conditions of the custom resource,
and ! trouble.

There is room for 10,000 objects; a file may have 64 MiB.

` + validateHelp + `
An edit that a rule of the CustomResourceDefinition refuses is refused here, too.

The exit code is 0 when every custom resource ends Ready, or when a fault was
asked for and nothing keeps changing.`,
		Example: `  operetta simulate deploy/samples/modelbox.yaml
  operetta simulate deploy/samples/modelbox.yaml --vanish Service/sentiment
  operetta simulate deploy/samples/modelbox.yaml --fail Deployment/sentiment`,
		Args: someFiles,
		RunE: func(cmd *cobra.Command, args []string) error { return p.simulate(cmd.Context(), args, &flags) },
	}
	set := cmd.Flags()
	set.StringVarP(&flags.output, "output", "o", "text", "form of the output: text, json or yaml for a dump of the cluster and the run, or html for a file to play through in a browser")
	set.StringVar(&flags.apply, "apply", string(player.DynamicApply), "apply strategy: dynamic-apply or server-side-apply")
	set.StringVar(&flags.hookVersion, "hook-version", "v2", "form of the requests: v1 or v2")
	addActions(set, &flags.given)
	set.BoolVar(&flags.deleteAfter, "delete", false, "delete the custom resources at the end, and play until nothing is left")
	set.BoolVar(&flags.overHTTP, "over-http", false, "call the hooks over HTTP, on a server that is started on a free port")
	p.completeActions(cmd)
	completeWords(cmd, "output", "text", "json", "yaml", "html")
	completeWords(cmd, "apply", applyStrategies...)
	completeWords(cmd, "hook-version", "v1", "v2")
	validateFlag(cmd, &flags.validate)
	set.StringVar(&flags.record, "record", "", "folder, such as testdata, to write what the hooks are asked to as cases: KIND/HOOK/step-001.in.yaml and .out.yaml")
	set.IntVar(&flags.maxSteps, "max-steps", player.DefaultMaxSteps, "steps after which there is no fixed point")
	cli.AddPolicies(cmd, p.Program)
	return cmd
}

func (p *program) simulate(ctx context.Context, paths []string, flags *simulateFlags) error {
	if err := flags.check(); err != nil {
		return err
	}
	rounds, err := p.rounds(paths)
	if err != nil {
		return err
	}
	controllers := p.Controllers()
	if !flags.validate {
		controllers = cli.WithoutDefinitions(controllers)
	}
	call := p.hooks(controllers)
	if flags.overHTTP {
		served, stop, err := p.hooksOverHTTP(ctx, controllers)
		if err != nil {
			return err
		}
		defer stop()
		call = served
	}
	if flags.record != "" {
		if call, err = recording(flags.record, call); err != nil {
			return err
		}
	}
	world := player.New(player.Options{
		Controllers: p.Controllers(),
		Simulation:  p.simulation,
		Call:        call,
		Apply:       player.Strategy(flags.apply),
		HookVersion: flags.hookVersion,
		MaxSteps:    flags.maxSteps,
		Actions:     flags.actions,

		SkipValidation: !flags.validate,
	})
	played := &simulated{program: p, world: world, text: run.Printer{Out: p.Out}, validate: flags.validate, deleteAfter: flags.deleteAfter}
	played.unknown = func(d document, fields []string) { p.warn(d, "", fields) }
	if err := p.printPlayed(played, rounds, flags); err != nil {
		return err
	}
	return verdict(world, len(flags.actions) > 0)
}

// printPlayed plays documents and prints what happens.
func (p *program) printPlayed(played *simulated, rounds [][]document, flags *simulateFlags) error {
	if flags.output == "text" {
		return played.playRounds(rounds)
	}
	var transcript bytes.Buffer
	played.text.Out = &transcript
	recorder := run.Record(played.world)
	failure := played.playRounds(rounds)
	happened, err := recorder.Run(transcript.String(), inLines(failure))
	if err != nil {
		return err
	}
	if flags.output == "html" {
		text, err := page.HTML(flags.scenario(rounds), &page.Run{Run: *happened})
		if err != nil {
			return err
		}
		_, err = fmt.Fprint(p.Out, text)
		return cmp.Or(err, failure)
	}
	if err := printData(p.Out, flags.output, newDump(played.world, happened)); err != nil {
		return fmt.Errorf("printing the simulation: %w", err)
	}
	return failure
}

// clusterDump is a cluster as kubectl prints it, which diff, why and play read, and how it came to be so.
type clusterDump struct {
	APIVersion string           `json:"apiVersion"`
	Kind       string           `json:"kind"`
	Items      []map[string]any `json:"items"`
	Run        *run.Run         `json:"run"`
}

func newDump(world *player.World, happened *run.Run) clusterDump {
	d := clusterDump{APIVersion: "v1", Kind: "List", Items: []map[string]any{}, Run: happened}
	for _, object := range slices.Concat(world.Objects(), world.Events()) {
		d.Items = append(d.Items, kube.Dumped(object))
	}
	return d
}

// check refuses what is out of range, and reads the actions.
func (f *simulateFlags) check() (err error) {
	if !slices.Contains([]string{"text", "json", "yaml", "html"}, f.output) {
		return cli.Usagef("--output %q is not supported: use text, json, yaml or html", f.output)
	}
	if f.maxSteps < 1 || f.maxSteps > maxSteps {
		return cli.Usagef("--max-steps %d is not between 1 and %d", f.maxSteps, maxSteps)
	}
	if f.apply != string(player.DynamicApply) && f.apply != string(player.ServerSideApply) {
		return cli.Usagef("--apply %q is neither dynamic-apply nor server-side-apply", f.apply)
	}
	if f.hookVersion != "v1" && f.hookVersion != "v2" {
		return cli.Usagef("--hook-version %q is neither v1 nor v2", f.hookVersion)
	}
	f.actions, err = parseActions(f.given)
	return err
}

// rounds reads the files. A custom resource that occurs again starts the next
// round.
func (p *program) rounds(paths []string) ([][]document, error) {
	var all []document
	length := 0
	for _, path := range paths {
		list, err := p.readDocuments(path)
		if err != nil {
			return nil, err
		}
		for _, d := range list {
			if length += len(d.json); length > documents.MaxBytes {
				return nil, fmt.Errorf("%s: with it the files have more than %d MiB: simulate less at once", d.source, documents.MaxBytes>>20)
			}
		}
		all = append(all, list...)
	}
	return p.inRounds(all, strings.Join(paths, ", "))
}

// inRounds returns documents of some files in rounds.
func (p *program) inRounds(all []document, files string) ([][]document, error) {
	rounds := [][]document{nil}
	parents, seen := 0, map[string]bool{}
	for _, d := range all {
		id, err := d.identity()
		if err != nil {
			return nil, err
		}
		if _, err := p.controllerFor(d); err == nil {
			parents++
		}
		if seen[id] {
			rounds = append(rounds, nil)
			seen = map[string]bool{}
		}
		seen[id] = true
		rounds[len(rounds)-1] = append(rounds[len(rounds)-1], d)
	}
	if parents == 0 {
		return nil, p.noParent(all, files)
	}
	return rounds, nil
}
