package commands

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/spf13/cobra"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/operetta-dev/operetta/internal/cli"
	"github.com/operetta-dev/operetta/internal/crd"
	"github.com/operetta-dev/operetta/internal/documents"
	"github.com/operetta-dev/operetta/internal/lab/diff"
	"github.com/operetta-dev/operetta/internal/lab/dump"
	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/internal/printable"
	"github.com/operetta-dev/operetta/metacontroller"
)

// moreOften is the growth of the heap, in percent, after which memory is collected.
const moreOften = 30

// diffFlags are the flags of diff.
type diffFlags struct {
	with, base, apply, output, now string
	ignored, seen                  []string
	exitCode                       bool
}

func newDiffCommand(p *program) *cobra.Command {
	var flags diffFlags
	cmd := &cobra.Command{
		Use:   "diff [FILE]",
		Short: "Print what this build, or an edit, would change in a dump of a cluster",
		Long: `Diff reads what kubectl get -o json prints, from a file or, without one or with -, the
standard input. It asks this build's hooks about each custom resource there, and
tells what Metacontroller and the API server would do with the answer: which objects
roll, change in place, are recreated, refused, created and deleted. It calls no
cluster, and never prints the value of a Secret.

Give kubectl all kinds of the example. One of which the dump has no object is told as
not seen: it may be empty, or kubectl was not asked for it. With --seen you say that
it was. Under server-side apply kubectl must --show-managed-fields.

A folder that serve --record has written is asked as operetta replay does.

--with applies custom resources first, as kubectl replace does, with the labels and
annotations that others have added. --base marks what an older build reports about
the same dump, too: write it with that build and -o json.

The exit code is 0 when nothing would change, 1 when it has failed or could not
compare everything and found nothing else, 2 for a wrong use, 3 when something would
change, and 4 when the API server would refuse something.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return cli.Usagef("diff takes one file: concatenate several")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return p.diff(append(args, "-")[0], &flags) },
	}
	cmd.Example = `  kubectl get -A -o json ` + kubectlKinds(p.Controllers()) + ` > dump.json
  operetta diff dump.json
  operetta diff dump.json --with edited.yaml -o markdown`
	set := cmd.Flags()
	set.StringVar(&flags.with, "with", "", "file with custom resources that are edited or new")
	set.StringVar(&flags.base, "base", "", "report of an older build on the same dump, in JSON: what it has, too, is drift")
	set.StringVar(&flags.apply, "apply", "", "apply strategy: dynamic-apply or server-side-apply (default the one that has written the children)")
	set.StringVarP(&flags.output, "output", "o", "diff", "form of the output: summary, diff, json or markdown")
	set.StringArrayVar(&flags.ignored, "ignore", nil, "path in which differences do not count, as in spec.template.spec.containers[].image")
	set.StringSliceVar(&flags.seen, "seen", nil, "kinds that kubectl was asked for, or all: those without objects are empty, and not unseen")
	set.StringVar(&flags.now, "now", "", "time that hooks are handed, as in 2026-01-02T15:04:05Z (default the newest time in the dump)")
	set.BoolVar(&flags.exitCode, "exit-code", true, "exit with 3 or 4 when something would change or be refused, instead of 0")
	completeWords(cmd, "output", "summary", "diff", "json", "markdown")
	completeWords(cmd, "apply", applyStrategies...)
	completeList(cmd, "seen", p.seenNames)
	cli.AddPolicies(cmd, p.Program)
	return cmd
}

func (p *program) diff(path string, flags *diffFlags) error {
	if !slices.Contains([]string{"summary", "diff", "json", "markdown"}, flags.output) {
		return cli.Usagef("--output %q is not supported: use summary, diff, json or markdown", flags.output)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return p.diffRecording(path, flags)
	}
	options, edits, err := p.diffOptions(flags)
	if err != nil {
		return err
	}
	defer debug.SetGCPercent(debug.SetGCPercent(moreOften)) // a dump is large, and stays
	d, err := p.readDump(path)
	if err != nil {
		return err
	}
	d.Asked(p.seen(flags.seen)...)
	if options.Apply, err = d.Strategy(p.Controllers(), options.Apply); err != nil {
		return fmt.Errorf("%s %w", sourceOf(path), err)
	}
	report, err := diff.Compare(d, options)
	if refused, isRefused := errors.AsType[*diff.EditError](err); isRefused {
		return cli.ExitError{Code: cli.ExitRefused, Err: edits[refused.Ref].refused(refused.Err)}
	}
	if err != nil {
		return err
	}
	if report.Compared == 0 {
		return fmt.Errorf("%s has no custom resource of a kind that %s knows: write kubectl get -A -o json %s", sourceOf(path), p.Name(), kubectlKinds(p.Controllers()))
	}
	if err := p.markDrift(report, flags.base); err != nil {
		return err
	}
	if err := p.printReport(report, flags.output); err != nil {
		return err
	}
	return flags.exit(report.Outcome())
}

// diffRecording is [program.replay], which has fewer forms of output.
func (p *program) diffRecording(dir string, flags *diffFlags) error {
	if flags.with != "" || flags.base != "" || flags.apply != "" || flags.now != "" || len(flags.ignored)+len(flags.seen) > 0 {
		return cli.Usagef("%s is a recording, for which there is no flag but --output and --config", dir)
	}
	switch flags.output {
	case "json":
		return p.replay(dir, "json")
	case "markdown":
		return cli.Usagef("--output markdown is for a dump: %s is a recording", dir)
	}
	return p.replay(dir, "text")
}

// exit returns the error that has the exit code of an outcome.
func (f *diffFlags) exit(outcome diff.Outcome) error {
	switch {
	case outcome == diff.Incomplete:
		return errors.New("nothing would change, but not everything could be compared")
	case outcome == diff.Nothing || !f.exitCode:
		return nil
	case outcome == diff.Refusals:
		return cli.ExitError{Code: cli.ExitRefused}
	default:
		return cli.ExitError{Code: cli.ExitChanges}
	}
}

// diffOptions reads the flags, and the edits.
func (p *program) diffOptions(flags *diffFlags) (options diff.Options, edits map[kube.Ref]document, err error) {
	options.Controllers, options.Call = p.Controllers(), p.hooks(p.Controllers())
	options.Apply = player.Strategy(flags.apply)
	if !slices.Contains([]player.Strategy{"", player.DynamicApply, player.ServerSideApply}, options.Apply) {
		return options, nil, cli.Usagef("--apply %q is neither dynamic-apply nor server-side-apply", flags.apply)
	}
	if options.Now, err = parseNow(flags.now); err != nil {
		return options, nil, err
	}
	for _, path := range flags.ignored {
		options.Ignored = append(options.Ignored, strings.TrimPrefix(path, "."))
	}
	if flags.with == "" {
		return options, nil, nil
	}
	edits, options.Edits = map[kube.Ref]document{}, map[kube.Ref]kube.Object{}
	list, err := p.readDocuments(flags.with)
	for _, d := range list {
		object, err := p.readEdit(d)
		if err != nil {
			return options, nil, err
		}
		ref := kube.RefOf(object)
		edits[ref], options.Edits[ref] = d, object
	}
	return options, edits, err
}

// parseNow parses the flag --now, which may be empty for the zero time.
func parseNow(text string) (now time.Time, err error) {
	if text == "" {
		return now, nil
	}
	if now, err = time.Parse(time.RFC3339, text); err != nil {
		return now, cli.Usagef("--now %q is no time like 2026-01-02T15:04:05Z", text)
	}
	return now, nil
}

// readEdit reads a custom resource, and warns of fields that the API server would drop.
func (p *program) readEdit(d document) (kube.Object, error) {
	controller, err := p.controllerFor(d)
	if err != nil {
		return nil, err
	}
	if _, err := d.identity(); err != nil {
		return nil, err
	}
	definition, content, err := definitionOf(d, controller)
	if err != nil {
		return nil, err
	}
	if definition != nil {
		p.warn(d, "", definition.Complete(content))
	}
	object, err := kube.ParseObject(d.json)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.source, err)
	}
	if crd.ScopeIn(controller.CRD.Text()) != apiextensionsv1.ClusterScoped {
		object.SetNamespace(cmp.Or(object.GetNamespace(), "default"))
	}
	return object, nil
}

// readDump reads a dump of any length.
func (p *program) readDump(path string) (*dump.Dump, error) {
	in := p.In
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }() // it is only read
		if info, err := file.Stat(); err == nil && info.IsDir() {
			return nil, fmt.Errorf("%s is a folder: write the path of a file", path)
		}
		in = file
	}
	d, err := dump.Read(in)
	if err != nil {
		return nil, fmt.Errorf("%s %w", sourceOf(path), err)
	}
	return d, nil
}

// markDrift reads the report of an older build, if there is one.
func (p *program) markDrift(report *diff.Report, path string) error {
	if path == "" {
		return nil
	}
	text, err := documents.ReadFile(path)
	if err != nil {
		return fmt.Errorf("--base: %w", err)
	}
	base, err := diff.ParseReport(text)
	if err == nil {
		err = report.MarkDrift(base)
	}
	if err != nil {
		return fmt.Errorf("--base: %s %w", path, err)
	}
	return nil
}

func (p *program) printReport(report *diff.Report, output string) error {
	switch output {
	case "json":
		return printData(printable.NewWriter(p.Out), output, report)
	case "markdown":
		return report.PrintMarkdown(p.Out)
	}
	report.PrintSummary(p.Out)
	if output == "diff" {
		report.PrintObjects(p.Out)
	}
	return nil
}

// kindsOf returns all kinds that the hooks of some operators read and write.
func kindsOf(controllers []metacontroller.Controller) []metacontroller.Resource {
	var parents, others []metacontroller.Resource
	for _, c := range controllers {
		parents = append(parents, c.Parent)
		for _, child := range c.Children {
			others = append(others, child.Resource)
		}
		for _, related := range c.Related {
			others = append(others, related.Resource)
		}
	}
	var kinds []metacontroller.Resource
	for _, kind := range slices.Concat(parents, others) {
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// kubectlKinds returns them as kubectl get takes them.
func kubectlKinds(controllers []metacontroller.Controller) string {
	return kubectlNames(kindsOf(controllers))
}

func kubectlNames(kinds []metacontroller.Resource) string {
	names := make([]string, len(kinds))
	for i, kind := range kinds {
		names[i] = resourceName(kind)
	}
	return strings.Join(names, ",")
}

func resourceName(kind metacontroller.Resource) string {
	return strings.TrimSuffix(kind.Plural+"."+kind.Group(), ".")
}

// seen returns the kinds that are named as kubectl takes them. Others do not matter here.
func (p *program) seen(names []string) []metacontroller.Resource {
	return namedKinds(kindsOf(p.Controllers()), names)
}

func namedKinds(all []metacontroller.Resource, names []string) (kinds []metacontroller.Resource) {
	for _, kind := range all {
		isNamed := func(name string) bool {
			name = strings.TrimSpace(name)
			return strings.EqualFold(name, "all") || kube.IsNamed(kind, nil, name)
		}
		if slices.ContainsFunc(names, isNamed) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}
