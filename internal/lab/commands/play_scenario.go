package commands

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operetta-dev/operetta/internal/cli"
	"github.com/operetta-dev/operetta/internal/documents"
	"github.com/operetta-dev/operetta/internal/lab/explore"
	"github.com/operetta-dev/operetta/internal/lab/page"
	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/internal/lab/run"
)

// pagePlayer plays the scenarios of a page as simulate plays files.
type pagePlayer struct {
	*program

	paths map[page.File]string // of what was read
}

// playing is a scenario while it is played.
type playing struct {
	simulated

	rounds     [][]document
	faults     bool
	transcript bytes.Buffer
}

// begin reads a scenario. The call of the hooks may be wrapped.
func (p pagePlayer) begin(ctx context.Context, scenario page.Scenario, wrap func(player.Call) player.Call) (*playing, []page.Problem) {
	strategy, err := scenario.Strategy()
	if err != nil {
		return nil, []page.Problem{wrong(err)}
	}
	actions, problems := scenario.Parsed()
	rounds, more := p.read(scenario)
	if problems = append(problems, more...); len(problems) > 0 {
		return nil, problems
	}
	call := p.hooks(p.Controllers())
	if wrap != nil {
		call = wrap(call)
	}
	one := &playing{rounds: rounds, faults: len(scenario.Actions) > 0}
	one.simulated = simulated{program: p.program, text: run.Printer{Out: &one.transcript}, validate: true, unknown: func(document, []string) {}}
	one.world = player.New(player.Options{
		Controllers: p.Controllers(), Simulation: p.simulation, Call: call, Apply: strategy, Actions: actions, Stop: ctx.Err,
	})
	return one, nil
}

// end plays what has begun. The error is what simulate ends with.
func (one *playing) end() error {
	if err := one.playRounds(one.rounds); err != nil {
		return err
	}
	return verdict(one.world, one.faults)
}

// Run implements [page.Player].
func (p pagePlayer) Run(ctx context.Context, scenario page.Scenario) (*page.Run, error) {
	warnings := p.Check(scenario)
	one, problems := p.begin(ctx, scenario, nil)
	if one == nil {
		return page.Refused(problems), nil
	}
	recorder := run.Record(one.world)
	failure := one.end()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	happened, err := recorder.Run(one.transcript.String(), inLines(failure))
	if err != nil {
		return nil, err
	}
	problems = append(warnings, p.inVain(scenario, one.world)...)
	if refused, ok := errors.AsType[refusal](failure); ok && !page.AnyWrong(warnings) {
		problems = append(problems, refused.document.problems(refused.cause)...)
	}
	command, unsaved := p.command(scenario)
	return &page.Run{Run: *happened, Problems: problems, Command: command, Unsaved: unsaved}, nil
}

// command returns the command line that plays a scenario, for a shell, and the names of the files that it takes
// to be as they are on the page.
func (p pagePlayer) command(scenario page.Scenario) (line string, unsaved []string) {
	words := []string{p.Name(), "simulate"}
	for _, file := range scenario.Files {
		path, isSaved := p.paths[file]
		if !isSaved {
			path = file.Name
			unsaved = append(unsaved, path)
		}
		words = append(words, path)
	}
	if scenario.Apply != "" && scenario.Apply != string(player.DynamicApply) {
		words = append(words, "--apply", scenario.Apply)
	}
	actions, _ := scenario.Parsed() // they were played
	for _, action := range actions {
		flag, given, _ := strings.Cut(action.String(), " ")
		if !player.IsFlag(action.Do) {
			flag, given = "action", action.String()
		}
		words = append(words, "--"+flag, given)
	}
	for i, word := range words {
		words[i] = quoted(word)
	}
	return strings.Join(words, " "), unsaved
}

// plainWord is a word that a shell takes as it is.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

func quoted(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// inLines returns an error in the lines in which it is printed.
func inLines(err error) error {
	if lines, ok := errors.AsType[cli.LinesError](err); ok {
		return errors.New(strings.Join(lines, "\n"))
	}
	return err
}

// inVain tells of actions without an effect.
func (p pagePlayer) inVain(scenario page.Scenario, world *player.World) (problems []page.Problem) {
	actions, _ := scenario.Parsed()
	for _, vain := range world.InVain() {
		at := slices.Index(actions, vain.Action)
		problems = append(problems, page.Problem{Action: &at, Message: "it had no effect: " + vain.Why, Severity: page.Warning})
		actions[at] = player.Action{} // another one of the same text is told by itself
	}
	return problems
}

// Golden implements [page.Player].
func (p pagePlayer) Golden(ctx context.Context, scenario page.Scenario) (cases []page.Case, err error) {
	var one *playing
	keep := func(name string, now time.Time, body, answer []byte) error {
		input, output, err := caseOf(now, body, answer)
		cases = append(cases, page.Case{Step: len(one.world.Steps) + 1, Name: name, In: string(input), Out: string(output)})
		return err
	}
	one, problems := p.begin(ctx, scenario, func(call player.Call) player.Call { return eachCase(call, keep) })
	if one == nil {
		return nil, errors.New(problems[0].Message)
	}
	_ = one.end() // what goes wrong is worth a case, too
	return cases, ctx.Err()
}

// Story implements [page.Player].
func (p pagePlayer) Story(ctx context.Context, scenario page.Scenario) (string, error) {
	one, problems := p.begin(ctx, scenario, nil)
	if one == nil {
		return "", errors.New(problems[0].Message)
	}
	if len(one.rounds) > 1 {
		return "", errors.New("explore takes each object once: write the edit as an action")
	}
	_ = one.end() // its end is not told
	return explore.Schedule(one.world.Played()).String() + "\n", ctx.Err()
}

// Check implements [page.Player].
func (p pagePlayer) Check(scenario page.Scenario) []page.Problem {
	_, problems := scenario.Parsed()
	rounds, more := p.read(scenario)
	problems = append(problems, more...)
	stored := map[string]map[string]any{}
	for _, round := range rounds {
		for _, d := range round {
			problems = append(problems, p.check(d, stored)...)
		}
	}
	return problems
}

// check holds a custom resource to its CRD, and an edit to what was stored before.
func (p pagePlayer) check(d document, stored map[string]map[string]any) (problems []page.Problem) {
	controller, err := p.controllerFor(d)
	if err != nil {
		return nil // it belongs to someone else
	}
	definition, content, err := definitionOf(d, controller)
	if err != nil {
		return []page.Problem{d.wrong(err)}
	}
	if definition == nil {
		return nil
	}
	id, _ := d.identity() // it has one
	if stored[id] != nil {
		_ = unstructured.SetNestedField(content, "1", "metadata", "resourceVersion") // kubectl apply adds it
	}
	unknown, refused := definition.Admit(context.Background(), content, stored[id])
	stored[id] = content
	for i, path := range unknown {
		if i == mostWarnings {
			break
		}
		problems = append(problems, page.Problem{File: &d.file, Line: d.line(path), Field: path, Message: "unknown field: it is left out", Severity: page.Warning})
	}
	if len(refused) > 0 {
		kind := schema.GroupKind{Group: controller.Parent.Group(), Kind: controller.Parent.Kind}
		problems = append(problems, d.problems(apierrors.NewInvalid(kind, "", refused))...)
	}
	return problems
}

// read returns the documents of a scenario in rounds.
func (p pagePlayer) read(scenario page.Scenario) (rounds [][]document, problems []page.Problem) {
	var all []document
	for i, file := range scenario.Files {
		list, err := documentsOf(cmp.Or(file.Name, fmt.Sprintf("file %d", i+1)), []byte(file.Text))
		if err != nil {
			problems = append(problems, page.Problem{File: &i, Line: documents.LineOf(err), Message: p.plain(scenario, err), Severity: page.Wrong})
		}
		for _, d := range list {
			d.file = i
			if _, err := d.identity(); err != nil {
				problems = append(problems, d.wrong(err))
			}
			all = append(all, d)
		}
	}
	if len(problems) > 0 {
		return nil, problems
	}
	rounds, err := p.inRounds(all, "the page")
	switch {
	case err != nil && len(all) > 0: // each has a name, so none is of a kind that is known
		return nil, []page.Problem{{File: &all[0].file, Line: all[0].line("kind"), Message: p.unknownKinds(all), Severity: page.Wrong}}
	case err != nil:
		return nil, []page.Problem{wrong(err)}
	}
	return rounds, nil
}

// place is what the page shows already beside an error of a text: its file and line.
var place = regexp.MustCompile(`(?s)^.* (is neither YAML nor JSON: )(?:yaml: )?(?:line \d+: )?`)

// plain returns an error of a text as the page shows it, beside the line.
func (p pagePlayer) plain(scenario page.Scenario, err error) string {
	if errors.Is(err, errEmpty) && len(scenario.Files) == 1 {
		var kinds []string
		for _, controller := range p.Controllers() {
			kinds = append(kinds, controller.Parent.Kind)
		}
		return "there is nothing to play: write a custom resource, of the kind " + strings.Join(kinds, ", ")
	}
	return place.ReplaceAllString(err.Error(), "it $1")
}

func wrong(err error) page.Problem { return page.Problem{Message: err.Error(), Severity: page.Wrong} }

// wrong is an error about the document as a whole.
func (d document) wrong(err error) page.Problem {
	return page.Problem{File: &d.file, Line: max(1, d.line("")), Message: err.Error(), Severity: page.Wrong}
}

// problems returns why a document was refused, field by field where that is known.
func (d document) problems(err error) (problems []page.Problem) {
	_, causes := causesOf(err)
	for _, cause := range causes {
		problems = append(problems, page.Problem{File: &d.file, Line: d.line(cause.Field), Field: cause.Field, Message: cause.Message, Severity: page.Wrong})
	}
	if problems == nil {
		return []page.Problem{d.wrong(err)}
	}
	return problems
}
