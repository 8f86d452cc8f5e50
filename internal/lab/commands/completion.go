package commands

import (
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/operetta-dev/operetta/internal/cli"
	"github.com/operetta-dev/operetta/internal/lab/kube"
	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/internal/lab/why"
)

// words are what a shell is told that may follow.
type words = func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective)

// complete tells a shell what a flag may have. A flag that the command lacks is a mistake in this program.
func complete(cmd *cobra.Command, flag string, tell words) {
	if err := cmd.RegisterFlagCompletionFunc(flag, tell); err != nil {
		panic(err)
	}
}

// completeWords completes a flag with one of some words.
func completeWords(cmd *cobra.Command, flag string, list ...string) {
	complete(cmd, flag, cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp))
}

// completeList completes a flag that takes a list with commas: the last word of it.
func completeList(cmd *cobra.Command, flag string, list func() []string) {
	complete(cmd, flag, func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		return cli.LastOf(begun, list()), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	})
}

// completeActions completes the flags of actions with the objects that a simulation of the files has.
func (p *program) completeActions(cmd *cobra.Command) {
	for _, kind := range player.ActionKinds() {
		if !kind.IsFlag {
			continue
		}
		complete(cmd, kind.Name, func(_ *cobra.Command, files []string, begun string) ([]string, cobra.ShellCompDirective) {
			if target, _, hasTarget := strings.Cut(begun, " "); hasTarget {
				return detailsOf(kind, target), cobra.ShellCompDirectiveNoFileComp
			}
			return p.targetsOf(kind, files), cobra.ShellCompDirectiveNoFileComp
		})
	}
}

func detailsOf(kind player.ActionKind, target string) (list []string) {
	of, _, _ := strings.Cut(target, "/")
	for _, detail := range kind.Details {
		if detail.Kinds == nil || slices.Contains(detail.Kinds, kube.KindNamed(of)) {
			list = append(list, target+" "+detail.Name+"\t"+detail.Does)
		}
	}
	return list
}

// longestPlay is how long a person waits for a completion.
const longestPlay = 2 * time.Second

// targetsOf returns what an action may happen to in a simulation of some files.
func (p *program) targetsOf(kind player.ActionKind, files []string) (list []string) {
	rounds, err := p.rounds(files)
	if err != nil || len(files) == 0 || slices.Contains(files, "-") {
		return nil
	}
	until := time.Now().Add(longestPlay)
	world := player.New(player.Options{
		Controllers: p.Controllers(), Simulation: p.simulation, Call: p.hooks(p.Controllers()), SkipValidation: true,
		Stop: func() error {
			if time.Now().After(until) {
				return errors.New("it takes too long")
			}
			return nil
		},
	})
	for _, d := range slices.Concat(rounds...) {
		_ = world.Apply(d.json) // what there is without it is told
	}
	_ = world.Play()
	isKind := strings.HasPrefix(kind.Form, "KIND") && !strings.HasPrefix(kind.Form, "KIND/")
	for _, object := range world.Objects() {
		ref := kube.RefOf(object)
		isParent := p.Controllers().Of(ref.APIVersion, ref.Kind) != nil
		switch {
		case ref.Kind == "Namespace", kind.OfParents && !isParent, kind.Kinds != nil && !slices.Contains(kind.Kinds, ref.Kind):
			continue
		}
		word := ref.String()
		if isKind {
			word = ref.Kind
		}
		if !slices.Contains(list, word) {
			list = append(list, word)
		}
	}
	return list
}

// completeCustomResource completes KIND/NAME: of a dump those that it has, and otherwise the kinds.
func (p *program) completeCustomResource(flags *whyFlags) words {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var list []string
		if _, err := os.Stat(flags.file); err == nil {
			choose, err := p.subjects(flags)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			subjects, _ := choose(why.Selection{Namespace: flags.namespace}) // those that could be read
			for _, subject := range subjects {
				ref := kube.RefOf(subject.Parent)
				list = append(list, strings.ToLower(ref.Kind)+"/"+ref.Name)
			}
			return list, cobra.ShellCompDirectiveNoFileComp
		}
		for _, controller := range p.Controllers() {
			list = append(list, controller.Name()+"/")
		}
		return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

// seenNames are the kinds as --seen takes them.
func (p *program) seenNames() []string {
	return append([]string{"all"}, strings.Split(kubectlNames(p.whyKinds()), ",")...)
}
