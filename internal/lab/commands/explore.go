package commands

import (
	"context"
	"fmt"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/operetta-dev/operetta/internal/cli"
	"github.com/operetta-dev/operetta/internal/lab/explore"
	"github.com/operetta-dev/operetta/internal/lab/player"
)

// exploreFlags are the flags of explore.
type exploreFlags struct {
	apply, schedule string
	output          string
	seed, replay    uint64
	schedules       int
	time            time.Duration
	edits           bool
}

func newExploreCommand(p *program) *cobra.Command {
	var flags exploreFlags
	cmd := &cobra.Command{
		Use:   "explore FILE...",
		Short: "Look for what goes wrong when caches are late, writes are lost and specs are edited",
		Long: `Explore plays custom resources in memory, as simulate does, again and again, each
time as a seed decides: Metacontroller hears of changes late and in any order, it
dies between two writes, API calls fail or their answers are lost, hooks answer
503, statuses are not written. People edit the spec in any way that the CRD admits,
take it back, delete and create again, delete and edit children. Pods fail, hang
and are evicted, nodes are lost, and objects are refused. Then all trouble ends, and
it is looked at whether everything is as it would be for a new custom resource, and
whether the invariants of the operator have held on the way.

The files, or - for the standard input, hold custom resources, each explored by
itself, and what stands beside them. A custom resource that comes a second time is
another version of it, for edits.

What is found is printed at the end, also where Ctrl-C brings that about; until then a
terminal shows how far it is. The schedules that fail in the same way are told once: the
shortest is made as short as possible, and printed as simulate prints it, with the seed
that plays it again. The exit code is 1 when anything is found.

A schedule has an action a line:

` + listActions(),
		Example: `  operetta explore deploy/samples/podset.yaml
  operetta explore deploy/samples/*.yaml --time 10m --seed 1000
  operetta explore deploy/samples/podset.yaml --replay 1234`,
		Args: someFiles,
		RunE: func(cmd *cobra.Command, args []string) error { return p.explore(cmd.Context(), args, &flags) },
	}
	set := cmd.Flags()
	set.Uint64Var(&flags.seed, "seed", 1, "seed of the first schedule; the following schedules have the following seeds")
	set.IntVar(&flags.schedules, "schedules", 200, "schedules for each custom resource and strategy; 0 for as many as --time allows")
	set.DurationVar(&flags.time, "time", 0, "time after which no schedule is begun; 0 for no limit")
	set.StringVar(&flags.apply, "apply", "both", "apply strategy: dynamic-apply, server-side-apply or both")
	set.BoolVar(&flags.edits, "edits", false, "first play every edit of one field that the CRD admits, without any trouble")
	set.Uint64Var(&flags.replay, "replay", 0, "play the schedule of this seed only")
	set.StringVarP(&flags.output, "output", "o", "text", "form of the output: text, json or yaml")
	set.StringVar(&flags.schedule, "schedule", "", "play the schedule in this file, as explore has printed it, and nothing else")
	completeWords(cmd, "output", "text", "json", "yaml")
	completeWords(cmd, "apply", append([]string{"both"}, applyStrategies...)...)
	cli.AddPolicies(cmd, p.Program)
	return cmd
}

func (p *program) explore(ctx context.Context, paths []string, flags *exploreFlags) error {
	strategies, err := flags.strategies()
	if err == nil {
		err = checkOutput(flags.output)
	}
	if err != nil {
		return err
	}
	scenarios, err := p.scenarios(paths)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	begun, left := time.Now(), 0
	all := &exploration{program: p, flags: flags, parts: len(scenarios) * len(strategies), progress: newProgress(p.Terminal())}
	for _, scenario := range scenarios {
		all.stories = map[string]player.Strategy{}
		for _, strategy := range strategies {
			if ctx.Err() != nil || flags.time > 0 && time.Since(begun) > flags.time {
				left++
				continue
			}
			one := *scenario
			one.Apply = strategy
			if err := all.play(ctx, &one); err != nil {
				_ = all.end(ctx)
				return err
			}
		}
	}
	if all.report.Left = left; left > 0 && ctx.Err() == nil && flags.output == "text" {
		fmt.Fprintf(p.Out, "= no time for %d of %d custom resources and strategies: write a longer --time, or fewer files\n", left, all.parts)
	}
	return all.end(ctx)
}

func (f *exploreFlags) strategies() ([]player.Strategy, error) {
	if f.schedules < 0 || f.time < 0 {
		return nil, cli.Usagef("--schedules and --time are not to be negative")
	}
	if f.schedules == 0 && f.time == 0 {
		return nil, cli.Usagef("--schedules 0 has no end: write --time too")
	}
	switch f.apply {
	case "both":
		return []player.Strategy{player.DynamicApply, player.ServerSideApply}, nil
	case string(player.DynamicApply), string(player.ServerSideApply):
		return []player.Strategy{player.Strategy(f.apply)}, nil
	}
	return nil, cli.Usagef("--apply %q is not supported: use dynamic-apply, server-side-apply or both", f.apply)
}

// scenarios returns one scenario for each custom resource.
func (p *program) scenarios(paths []string) ([]*explore.Scenario, error) {
	rounds, err := p.rounds(paths)
	if err != nil {
		return nil, err
	}
	var company [][]byte
	var scenarios []*explore.Scenario
	byID := map[string]*explore.Scenario{}
	for _, round := range rounds {
		for _, d := range round {
			id, err := d.identity()
			if err != nil {
				return nil, err
			}
			_, err = p.controllerFor(d)
			switch {
			case err != nil:
				company = append(company, d.json)
			case byID[id] != nil:
				byID[id].Versions = append(byID[id].Versions, d.json)
			default:
				byID[id] = &explore.Scenario{Name: d.source, Controllers: p.Controllers(), Simulation: p.simulation, Objects: [][]byte{d.json}}
				scenarios = append(scenarios, byID[id])
			}
		}
	}
	for _, scenario := range scenarios {
		scenario.Objects = append(scenario.Objects, company...)
	}
	return scenarios, nil
}
