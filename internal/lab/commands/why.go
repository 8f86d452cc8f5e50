package commands

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/operetta-dev/operetta/internal/cli"
	"github.com/operetta-dev/operetta/internal/lab/dump"
	"github.com/operetta-dev/operetta/internal/lab/kube"
	"github.com/operetta-dev/operetta/internal/lab/why"
	"github.com/operetta-dev/operetta/metacontroller"
)

// whyFlags are the flags of why.
type whyFlags struct {
	file, namespace, output, now string
	seen                         []string
	all, tree, watch, kinds      bool
	details                      bool
}

func newWhyCommand(p *program) *cobra.Command {
	var flags whyFlags
	cmd := &cobra.Command{
		Use:   "why KIND/NAME",
		Short: "Say why a custom resource is not Ready, from a dump or a recording",
		Long: `Why reads what kubectl get -o json prints, or a folder that serve --record has
written, and says why a custom resource is not Ready: the first cause in the words
of the component that reported it (because), the objects from there up to the custom resource
(holds), what happens by itself (next), the command that shows more (look), and
what was not read (not seen). With --all it has a line for each, and those that are
stuck come before those in progress. It calls no cluster. What the operator decides is the
answer of its own hook to these objects.

The dump should have the kinds that --kinds prints. A kind without an object in it is
printed as not seen, unless --seen says that kubectl was asked for it. Ages count to
the newest time in the dump, or to --now.

The exit code is 0 for every answer, as with kubectl describe: to wait in a
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
	set.BoolVar(&flags.all, "all", false, "every custom resource that is not Ready, in a line each, those with the same cause together")
	set.BoolVar(&flags.details, "details", false, "with --all, what is known of each, as for KIND/NAME")
	set.BoolVar(&flags.tree, "tree", false, "what the custom resource owns, with the state of each object")
	set.BoolVar(&flags.watch, "watch", false, "answer again whenever the file changes, with what has changed")
	set.StringVar(&flags.now, "now", "", "time at which the dump was made, as in 2026-01-02T15:04:05Z or written for the time of the file (default the newest one in it)")
	set.StringSliceVar(&flags.seen, "seen", nil, "kinds that kubectl was asked for, as it was, or all: one without objects is empty")
	set.BoolVar(&flags.kinds, "kinds", false, "print the kinds that the dump should have, as kubectl get takes them")
	cmd.ValidArgsFunction = p.completeCustomResource(&flags)
	completeWords(cmd, "output", "text", "json", "dot")
	completeList(cmd, "seen", p.seenNames)
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
	if flags.watch {
		return p.watchWhy(ctx, selection, flags)
	}
	var out bytes.Buffer
	if _, err = p.answerWhy(&out, selection, flags); err != nil {
		return err
	}
	_, err = out.WriteTo(p.Out)
	return err
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
	case f.now == written && f.file == "-":
		return s, cli.Usagef("--now written needs a file: write -f FILE")
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

// answerWhy prints one answer, and returns what it says of each custom resource.
func (p *program) answerWhy(out *bytes.Buffer, selection why.Selection, flags *whyFlags) ([]why.Answer, error) {
	choose, err := p.subjects(flags)
	if err != nil {
		return nil, err
	}
	subjects, err := choose(selection)
	switch {
	case err != nil:
	case !flags.all:
		err = p.onlyOne(subjects, selection, choose, flags.file)
	case len(subjects) == 0 && len(flags.seen) > 0 && flags.output != "text":
	case len(subjects) == 0 && len(flags.seen) > 0: // kubectl was asked for them
		fmt.Fprintln(out, "there is no custom resource of a kind that "+p.Name()+" knows"+inNamespaceOf(selection))
		return nil, nil
	case len(subjects) == 0:
		err = fmt.Errorf("%s has no custom resource of a kind that %s knows: write kubectl get -A -o json $(%[2]s why --kinds)", sourceOf(flags.file), p.Name())
	}
	if err != nil {
		return nil, err
	}
	if flags.tree || flags.output == "dot" {
		return nil, printTrees(out, subjects, flags.output)
	}
	answers := make([]why.Answer, len(subjects))
	for i, subject := range subjects {
		answers[i] = subject.Explain()
	}
	switch {
	case flags.output == "json" && flags.all:
		err = printData(out, "json", answers)
	case flags.output == "json":
		err = printData(out, "json", answers[0])
	case !flags.all:
		answers[0].Text(out)
	default:
		why.Summary(out, answers, flags.details, p.unreadKinds(flags.seen)...)
	}
	return answers, err
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

// onlyOne returns an error unless there is one custom resource of that name. It says what there is instead.
func (p *program) onlyOne(subjects []why.Subject, selection why.Selection, choose chooser, file string) error {
	if len(subjects) == 1 {
		return nil
	}
	kind := kube.KindNamed(selection.Kind, p.Controllers()...)
	name := kind + "/" + selection.Name
	if len(subjects) > 1 {
		return fmt.Errorf("%s is in the namespaces %s: write --namespace", name, strings.Join(namespacesOf(subjects), ", "))
	}
	others, err := choose(why.Selection{Kind: selection.Kind})
	if err != nil {
		return err
	}
	missing := "there is no " + name + inNamespaceOf(selection)
	if file != "-" {
		missing += ", as " + file + " has it"
	}
	elsewhere := slices.DeleteFunc(slices.Clone(others), func(s why.Subject) bool { return s.Parent.GetName() != selection.Name })
	if len(elsewhere) > 0 {
		return fmt.Errorf("%s: it is in %s", missing, strings.Join(namespacesOf(elsewhere), ", "))
	}
	if len(others) == 0 {
		return fmt.Errorf("%s, and no other %s", missing, kind)
	}
	const most = 5
	var names []string
	for i, other := range others {
		if i == most {
			names = append(names, fmt.Sprintf("and %d more", len(others)-most))
			break
		}
		names = append(names, kube.RefOf(other.Parent).Key())
	}
	return fmt.Errorf("%s: of kind %s there is %s", missing, kind, strings.Join(names, ", "))
}

func namespacesOf(subjects []why.Subject) (namespaces []string) {
	for _, subject := range subjects {
		namespaces = append(namespaces, subject.Parent.GetNamespace())
	}
	return namespaces
}

func inNamespaceOf(selection why.Selection) string {
	if selection.Namespace == "" {
		return ""
	}
	return " in the namespace " + selection.Namespace
}

// written stands for the time at which the file was written.
const written = "written"

// time is when the dump was made, or zero if that is not said.
func (f *whyFlags) time() (time.Time, error) {
	if f.now != written {
		return parseNow(f.now)
	}
	info, err := os.Stat(f.file)
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

// chooser chooses custom resources of what was read.
type chooser func(why.Selection) ([]why.Subject, error)

// subjects reads a dump or a recording.
func (p *program) subjects(flags *whyFlags) (chooser, error) {
	now, err := flags.time()
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(flags.file); err == nil && info.IsDir() {
		return func(s why.Selection) ([]why.Subject, error) { return why.FromRecording(flags.file, p.Controllers(), s) }, nil
	}
	d, err := p.readDump(flags.file)
	if errors.Is(err, dump.ErrEmpty) && len(flags.seen) > 0 { // a cluster may have none
		return func(why.Selection) ([]why.Subject, error) { return nil, nil }, nil
	}
	if err != nil {
		return nil, err
	}
	d.Asked(namedKinds(p.whyKinds(), flags.seen)...)
	options := dump.Options{Controllers: p.Controllers(), Call: p.hooks(p.Controllers()), Now: now}
	return func(s why.Selection) ([]why.Subject, error) { return slices.Collect(why.FromDump(d, options, s)), nil }, nil
}
