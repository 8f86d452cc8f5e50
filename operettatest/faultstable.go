package operettatest

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/internal/lab/kube"
	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/internal/testenv"
	"github.com/operetta-dev/operetta/operator"
)

// faultsFile is the table of a project, for its users.
const faultsFile = "docs/faults.md"

const faultsHead = `# Faults and what a status says of them

What Ready ends up with where something goes wrong and stays so, for the samples of each kind, and the
conditions that are True beside it. A dash is for what cannot happen there. POD is the name of a Pod, and NAME that of
what makes it. ` + "`operetta simulate FILE --action \"fail Deployment/NAME oom\"`" + ` plays such a fault, and
` + "`kubectl operetta why`" + ` tells the cause of one, with the command that shows more.
`

// faultsTable holds docs/faults.md to what the samples say.
func (p project) faultsTable(t *testing.T) {
	path := filepath.Join(p.dir, filepath.FromSlash(faultsFile))
	written, err := os.ReadFile(path)
	if os.IsNotExist(err) && !update() {
		t.Skip("there is no " + faultsFile + ": make golden writes it")
	}
	if testenv.Inner() && !update() {
		t.Skip("make test holds the table, which takes seconds")
	}
	table := p.faultsText(t)
	if update() {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(table), 0o644))
		return
	}
	require.Equal(t, string(written), table, "if that is right, run make golden")
}

// faultsText returns the table: a row for each fault, a column for each kind.
func (p project) faultsText(t *testing.T) string {
	var columns []map[string]string
	var rows, names []string
	does := map[string]string{}
	for _, controller := range p.all {
		k := newKind(t, controller, p)
		if !k.readsPods() || len(k.samples) == 0 {
			continue
		}
		cells, misses := map[string]string{}, map[string]string{}
		for _, sample := range k.samples {
			for _, f := range k.faultsOf(t, sample) {
				row := f.row()
				if !slices.Contains(rows, row) {
					rows = append(rows, row)
				}
				does[row] = f.what()
				if cells[row] == "" { // else another sample, or an earlier time, says the same
					text, why := k.cell(t, sample, f)
					cells[row], misses[row] = text, cmp.Or(misses[row], why)
				}
			}
		}
		for row, why := range misses {
			cells[row] = cmp.Or(cells[row], "- "+cmp.Or(why, none))
		}
		names, columns = append(names, controller.Parent.Kind), append(columns, cells)
	}
	var b strings.Builder
	b.WriteString(faultsHead)
	fmt.Fprintf(&b, "\n| fault | %s |\n| --- |%s\n", strings.Join(names, " | "), strings.Repeat(" --- |", len(names)))
	for _, row := range rows {
		fmt.Fprintf(&b, "| `%s`: %s |", row, does[row])
		for _, cells := range columns {
			fmt.Fprintf(&b, " %s |", cmp.Or(cells[row], "- "+none))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// none is why a fault cannot happen to a kind that makes nothing to which it could.
const none = "it makes none"

// row is the action without its target.
func (f fault) row() string {
	kind, _, _ := strings.Cut(f.Target, "/")
	switch kind {
	case f.Target: // a kind
	case "Service", "PersistentVolumeClaim":
		kind += "/NAME"
	default:
		kind = "NAME"
	}
	return strings.TrimSpace(f.Do + " " + kind + " " + f.Detail)
}

// what says what happens.
func (f fault) what() string {
	if f.does != "" {
		return f.does
	}
	for _, kind := range player.ActionKinds() {
		if kind.Name != f.Do {
			continue
		}
		for _, detail := range kind.Details {
			if detail.Name == f.Detail {
				return detail.Does
			}
		}
		return kind.Does
	}
	return ""
}

// cell is what a status ends up with, or why that does not happen.
func (k kind) cell(t *testing.T, sample corpus.Sample, f fault) (text, why string) {
	w := k.watch(sample, player.DynamicApply, f)
	w.play(t)
	switch {
	case w.hasHappened():
		return w.end, ""
	case len(w.vain) > 0:
		why = w.vain[0].Why
		if _, misses, found := strings.Cut(why, ": "); found {
			why = misses
		}
	}
	return "", why
}

// cellOf returns what a status says, without the names of the sample.
func (w *watched) cellOf() string {
	parent := w.parent()
	ready := kube.ConditionOf(parent, operator.ConditionReady)
	text := ready.Reason + ": " + ready.Message
	for _, pod := range w.pods() {
		text = strings.ReplaceAll(text, pod.GetName(), "POD")
	}
	text = strings.ReplaceAll(text, w.child, "NAME")
	text = strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(text)
	var also []string
	for _, conditionType := range []string{operator.ConditionDegraded, operator.ConditionStalled} {
		if kube.ConditionOf(parent, conditionType).Status == "True" {
			also = append(also, conditionType)
		}
	}
	if ready.Status == "True" {
		text = "**Ready** " + text
	}
	if len(also) > 0 {
		text += " (" + strings.Join(also, ", ") + ")"
	}
	return text
}
