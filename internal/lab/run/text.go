package run

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/cluster/apiserver"
	"github.com/operetta-dev/operetta/internal/lab/kube"
	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/internal/printable"
)

// Printer prints the steps of one World, while it runs or at its end. Its zero
// value with an Out is ready for use.
type Printer struct {
	// Out is where the text goes.
	Out io.Writer

	printed int // steps
	start   time.Time
	ready   map[string]string // by parent, as it was printed last
}

// Outcomes prints the steps since the last call and the outcome of each custom
// resource. "Quiet" means that another sync changes nothing.
func (r *Printer) Outcomes(world *player.World) {
	r.Steps(world)
	for _, o := range world.Outcomes() {
		state := "Ready and quiet"
		switch {
		case o.Failure != "":
			state = "FAILED"
		case o.Ready != "True":
			state = "not Ready (" + o.Reason + ")"
		case !o.Quiet:
			state = "Ready, but NOT quiet"
		}
		line := fmt.Sprintf("= %s %s: %s after %s, hook calls: %d, children: %d", o.Parent.GetKind(), kube.RefOf(o.Parent).Key(), state, o.After.Round(time.Second), o.Calls, o.Children)
		fmt.Fprintln(r.Out, printable.Escaped(line))
	}
}

// Steps prints the steps since the last call. Objects below the children, such
// as the Pods of a Deployment, are only shown by the children's numbers.
func (r *Printer) Steps(world *player.World) {
	for _, step := range world.Steps[min(r.printed, len(world.Steps)):] {
		if r.printed == 0 {
			r.start = step.Time
		}
		r.printed++
		head := fmt.Sprintf("%6s  ", step.Time.Sub(r.start).Round(time.Second))
		for _, text := range r.Lines(world, step) {
			fmt.Fprintf(r.Out, "%s%s\n", head, text)
			head = strings.Repeat(" ", len(head))
		}
	}
}

// Lines returns what is said of the next step, without its time.
func (r *Printer) Lines(world *player.World, step player.Step) []string {
	lines := []string{}
	for _, text := range linesOf(world, step) {
		if !r.isRepeated(text) {
			lines = append(lines, printable.Escaped(strings.Join(strings.FieldsFunc(text, isLineEnd), " "))) // it has values of objects
		}
	}
	return lines
}

func isLineEnd(r rune) bool { return r == '\n' || r == '\r' }

// isRepeated reports whether a condition of a custom resource was last printed
// with the same text.
func (r *Printer) isRepeated(text string) bool {
	subject, state, isCondition := strings.Cut(text, conditionMark)
	if !isCondition {
		return false
	}
	if r.ready == nil {
		r.ready = map[string]string{}
	}
	repeated := r.ready[subject] == state
	r.ready[subject] = state
	return repeated
}

// conditionMark stands between a custom resource and its condition.
const conditionMark = "  Ready="

func linesOf(world *player.World, step player.Step) []string {
	var lines []string
	for _, event := range step.Events {
		switch {
		case event.Object == nil:
			lines = append(lines, "! "+event.Detail)
		case event.Verb == player.Failed:
			lines = append(lines, fmt.Sprintf("! %s  %s", kube.RefOf(event.Object), event.Detail))
		case world.IsOfParent(event.Object):
			lines = append(lines, parentLines(event)...)
		case world.IsChild(event.Object), event.By == person:
			lines = append(lines, childLines(event)...)
		}
	}
	return lines
}

func parentLines(event player.Event) []string {
	name := kube.RefOf(event.Object).String()
	switch event.Verb {
	case player.Created:
		return []string{"> " + name + "  applied"}
	case player.Deleting:
		return []string{"> " + name + "  is being deleted"}
	case player.Deleted:
		return []string{"> " + name + "  gone"}
	case player.Changed:
		if event.By != person {
			return nil
		}
		return append([]string{"> " + name + "  edited"}, changes(event)...)
	case player.Reported:
		ready := kube.ConditionOf(event.Object, "Ready")
		lines := []string{fmt.Sprintf("? %s%s%s %s: %s", name, conditionMark, ready.Status, ready.Reason, printable.Ends(ready.Message, 240))}
		if others := otherConditions(event); others != "" {
			lines = append(lines, "      "+others)
		}
		return lines
	case player.Failed, player.Struck:
	}
	return nil
}

// otherConditions returns the conditions beside Ready whose status has changed.
func otherConditions(event player.Event) string {
	var changed []string
	for _, c := range kube.ConditionsIn(event.Object.Object["status"]) {
		if c.Type != "" && c.Type != "Ready" && c.Status != kube.ConditionOf(event.Before, c.Type).Status {
			changed = append(changed, c.Type+"="+c.Status)
		}
	}
	return strings.Join(changed, ", ")
}

func childLines(event player.Event) []string {
	name := kube.RefOf(event.Object).String()
	switch event.Verb {
	case player.Created:
		return []string{"+ " + name + by(event)}
	case player.Deleted, player.Deleting:
		return []string{"- " + name + by(event)}
	case player.Changed:
		if paths := changes(event); len(paths) > 0 && (event.By == "the hook" || event.By == person) {
			return append([]string{"~ " + name + by(event)}, paths...)
		}
	case player.Reported:
		before, after := kube.Progress(event.Before), kube.Progress(event.Object)
		if before != after && after != "" {
			return []string{"* " + name + "  " + after}
		}
	case player.Failed, player.Struck:
	}
	return nil
}

// person is who applies and deletes by hand.
const person = string(apiserver.ByUser)

// by says who did it, where that was not the hook.
func by(event player.Event) string {
	switch {
	case event.By == "the hook":
		return ""
	case event.By != person:
		return "  (" + event.By + ")"
	case event.Verb == player.Deleted || event.Verb == player.Deleting:
		return "  (deleted by hand)"
	}
	return "  (applied)"
}

// changes prints the first few changes.
func changes(event player.Event) []string {
	const most = 5
	var lines []string
	paths := event.Paths()
	for i, path := range paths {
		if i == most {
			return append(lines, fmt.Sprintf("      and %d more", len(paths)-most))
		}
		lines = append(lines, "      "+path)
	}
	return lines
}
