package commands

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/operetta-dev/operetta/internal/cli"
	"github.com/operetta-dev/operetta/internal/lab/dump"
	"github.com/operetta-dev/operetta/internal/lab/why"
	"github.com/operetta-dev/operetta/metacontroller"
)

// whyFlags are the flags of why.
type whyFlags struct {
	file, namespace, output, now string
	seen                         []string
	all, tree, watch, kinds      bool
}

func newWhyCommand(p *program) *cobra.Command {
	var flags whyFlags
	cmd := &cobra.Command{
		Use:   "why KIND/NAME",
		Short: "Say why a custom resource is not Ready, from a dump or a recording",
		Long: `Why reads what kubectl get -o json prints, or a folder that serve --record has
written, and says why a custom resource is not Ready: the first cause in the words
of whoever reported it (because), the objects from there up to the custom resource
(holds), what happens by itself (next), the command that shows more (look), and
what was not read (not seen). It calls no cluster. What the operator decides is the
answer of its own hook to these objects.

The dump should have the kinds that --kinds prints. One without an object in it is
told as not seen, unless --seen says that kubectl was asked for it. The ages are
those at the newest time in the dump, or at --now.

The exit code is 0 for every answer, as that of kubectl describe: to wait in a
script, use kubectl wait.`,
		Example: `  kubectl get -A --show-managed-fields -o json $(operetta why --kinds) > dump.json
  operetta why modelbox/sentiment -f dump.json
  operetta why --all -f dump.json
  kubectl operetta why modelboxes.model.github.com/sentiment     with bin/kubectl-operetta on the PATH`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return p.why(cmd.Context(), args, &flags) },
	}
	set := cmd.Flags()
	set.StringVarP(&flags.file, "filename", "f", "-", "dump, folder with a recording, or - for the standard input")
	set.StringVarP(&flags.namespace, "namespace", "n", "", "namespace of the custom resource (default all)")
	set.StringVarP(&flags.output, "output", "o", "text", "form of the output: text, json, or dot for Graphviz")
	set.BoolVar(&flags.all, "all", false, "every custom resource that is not Ready, those with the same cause together")
	set.BoolVar(&flags.tree, "tree", false, "what the custom resource owns, with the state of each object")
	set.BoolVar(&flags.watch, "watch", false, "answer again whenever the file changes")
	set.StringVar(&flags.now, "now", "", "time at which the dump was made, as in 2026-01-02T15:04:05Z (default the newest one in it)")
	set.StringSliceVar(&flags.seen, "seen", nil, "kinds that kubectl was asked for, as it was, or all: one without objects is empty")
	set.BoolVar(&flags.kinds, "kinds", false, "print the kinds that the dump should have, as kubectl get takes them")
	cli.AddPolicies(cmd, p.Program)
	return cmd
}

func (p *program) why(ctx context.Context, args []string, flags *whyFlags) error {
	if flags.kinds {
		_, err := fmt.Fprintln(p.Out, kubectlNames(p.whyKinds()))
		return err
	}
	selection, err := flags.selection(p, args)
	if err != nil {
		return err
	}
	before := ""
	for {
		read, _ := os.Stat(flags.file) // a change while it is read counts
		var out bytes.Buffer
		if err := p.answerWhy(&out, selection, flags); err != nil {
			return err
		}
		if out.String() != before {
			before = out.String()
			if _, err := out.WriteTo(p.Out); err != nil {
				return err
			}
		}
		if !flags.watch || !waitForChange(ctx, flags.file, read) {
			return nil
		}
	}
}

// whyKinds are the kinds of which why reads objects.
func (p *program) whyKinds() []metacontroller.Resource {
	kinds := kindsOf(p.Controllers())
	for _, kind := range why.Kinds(p.Controllers()) {
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// selection refuses what cannot be asked, and returns what is.
func (f *whyFlags) selection(p *program, args []string) (why.Selection, error) {
	s := why.Selection{Namespace: f.namespace}
	if !slices.Contains([]string{"text", "json", "dot"}, f.output) {
		return s, cli.Usagef("--output %q is not supported: use text, json or dot", f.output)
	}
	switch {
	case f.watch && f.file == "-":
		return s, cli.Usagef("--watch needs a file: write -f FILE")
	case f.all && len(args) == 0:
		return s, nil
	case f.all:
		return s, cli.Usagef("--all takes no name")
	case len(args) != 1:
		return s, cli.Usagef("why takes one KIND/NAME, as in modelbox/sentiment, or --all")
	}
	var hasName bool
	if s.Kind, s.Name, hasName = strings.Cut(args[0], "/"); !hasName || s.Kind == "" || s.Name == "" {
		return s, cli.Usagef("%q names no custom resource: write KIND/NAME, as in modelbox/sentiment", args[0])
	}
	var known []string
	for _, controller := range p.Controllers() {
		if s.IsOf(controller) {
			return s, nil
		}
		known = append(known, controller.Name())
	}
	return s, cli.Usagef("there is no operator for the kind %q: it is one of %s", s.Kind, strings.Join(known, ", "))
}

// waitForChange waits until a file is not what it was, and reports whether there is more to wait for.
func waitForChange(ctx context.Context, path string, last os.FileInfo) bool {
	for {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(200 * time.Millisecond):
		}
		now, err := os.Stat(path)
		if err == nil && (last == nil || !now.ModTime().Equal(last.ModTime()) || now.Size() != last.Size()) {
			return true
		}
	}
}

// answerWhy prints one answer.
func (p *program) answerWhy(out *bytes.Buffer, selection why.Selection, flags *whyFlags) error {
	subjects, err := p.subjects(selection, flags)
	if err != nil {
		return err
	}
	switch {
	case !flags.all:
		err = onlyOne(subjects, selection, flags.file)
	case len(subjects) == 0:
		err = fmt.Errorf("%s has no custom resource of a kind that %s knows: write kubectl get -A -o json $(%[2]s why --kinds)", sourceOf(flags.file), p.Name())
	}
	if err != nil {
		return err
	}
	if flags.tree || flags.output == "dot" {
		return printTrees(out, subjects, flags.output)
	}
	answers := make([]why.Answer, len(subjects))
	for i, subject := range subjects {
		answers[i] = subject.Explain()
	}
	switch {
	case flags.output == "json" && flags.all:
		return printData(out, "json", answers)
	case flags.output == "json":
		return printData(out, "json", answers[0])
	case !flags.all:
		answers[0].Text(out)
		return nil
	}
	why.Summary(out, answers, p.unreadKinds(flags.seen)...)
	return nil
}

// unreadKinds are the kinds of custom resources that kubectl could not read, if it is said what it could.
func (p *program) unreadKinds(seen []string) (kinds []string) {
	for _, controller := range p.Controllers() {
		if len(seen) > 0 && len(namedKinds([]metacontroller.Resource{controller.Parent}, seen)) == 0 {
			kinds = append(kinds, controller.Parent.Kind)
		}
	}
	return kinds
}

func printTrees(out *bytes.Buffer, subjects []why.Subject, output string) error {
	trees := make([]why.Node, len(subjects))
	for i, subject := range subjects {
		trees[i] = subject.Tree()
	}
	switch output {
	case "json":
		return printData(out, "json", trees)
	case "dot":
		why.TreeDot(out, trees)
		return nil
	}
	return why.TreeText(out, trees)
}

// onlyOne returns an error unless there is one custom resource of that name.
func onlyOne(subjects []why.Subject, selection why.Selection, file string) error {
	name := selection.Kind + "/" + selection.Name
	var namespaces []string
	for _, subject := range subjects {
		namespaces = append(namespaces, subject.Parent.GetNamespace())
	}
	switch {
	case len(subjects) == 1:
		return nil
	case len(subjects) > 1:
		return fmt.Errorf("%s is in the namespaces %s: write --namespace", name, strings.Join(namespaces, ", "))
	case selection.Namespace != "":
		name += " in the namespace " + selection.Namespace
	}
	return fmt.Errorf("%s has no %s: --all tells of all custom resources that it has", sourceOf(file), name)
}

// subjects reads a dump or a recording.
func (p *program) subjects(selection why.Selection, flags *whyFlags) ([]why.Subject, error) {
	now, err := parseNow(flags.now)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(flags.file); err == nil && info.IsDir() {
		return why.FromRecording(flags.file, p.Controllers(), selection)
	}
	d, err := p.readDump(flags.file)
	if err != nil {
		return nil, err
	}
	d.Asked(namedKinds(p.whyKinds(), flags.seen)...)
	options := dump.Options{Controllers: p.Controllers(), Call: p.hooks(p.Controllers()), Now: now}
	return slices.Collect(why.FromDump(d, options, selection)), nil
}
