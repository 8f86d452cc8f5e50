package operettatest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/lab/kube"
	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/internal/printable"
	"github.com/operetta-dev/operetta/internal/testenv"
	"github.com/operetta-dev/operetta/operator"
)

// faultsFile is the table of a project, for its users.
const faultsFile = "docs/faults.md"

const faultsHead = `# Faults and what a status says of them

You see a sentence in a status, and look for its cause here. For each fault that lasts, this page has the reason of Ready,
the conditions that are True beside it, and what Ready's message says of the Pod, for the samples of each kind. A kind
that is not listed cannot have the fault. POD and CONTAINER stand for names, and NAME is the name of what creates the Pod.

` + "`operetta simulate FILE --action \"fail Deployment/NAME oom\"`" + ` plays such a fault, and ` + "`kubectl operetta why`" + ` tells the cause
in a cluster, with the command that shows more.
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

// faultsText returns the table: for each fault what the kinds say, and those that say the same together. A kind to
// which a fault cannot happen does not stand there.
func (p project) faultsText(t *testing.T) string {
	var rows []string
	does := map[string]string{}
	said := map[string][]saying{}
	for _, controller := range p.all {
		k := newKind(t, controller, p)
		if !k.readsPods() {
			continue
		}
		isSaid := map[string]bool{}
		for _, sample := range k.samples {
			for _, f := range k.faultsOf(t, sample) {
				row := f.row()
				if !slices.Contains(rows, row) {
					rows = append(rows, row)
				}
				does[row] = f.what()
				if isSaid[row] { // another sample, or an earlier time, says the same
					continue
				}
				w := k.watch(sample, player.DynamicApply, f)
				w.play(t)
				if isSaid[row] = w.hasHappened(); isSaid[row] {
					said[row] = add(said[row], controller.Parent.Kind, w.end)
				}
			}
		}
	}
	var b strings.Builder
	b.WriteString(faultsHead)
	for _, row := range rows {
		if len(said[row]) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n## `%s`: %s\n\n", row, does[row])
		for _, s := range said[row] {
			fmt.Fprintf(&b, "- %s: %s\n", strings.Join(s.kinds, ", "), s.text)
		}
	}
	return b.String()
}

// saying is what some kinds say of a fault.
type saying struct {
	kinds []string
	text  string
}

// add adds what one more kind says.
func add(said []saying, kind, text string) []saying {
	for i := range said {
		if said[i].text == text {
			said[i].kinds = append(said[i].kinds, kind)
			return said
		}
	}
	return append(said, saying{[]string{kind}, text})
}

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

// cellOf returns the reason of Ready, the conditions that are True beside it, and what is said of a Pod, or else the
// whole message: without the names of the sample.
func (w *watched) cellOf() string {
	parent := w.parent()
	ready := kube.ConditionOf(parent, operator.ConditionReady)
	facts := []string{ready.Reason}
	if ready.Status == "True" {
		facts[0] = "**Ready**, " + ready.Reason
	}
	for _, conditionType := range []string{operator.ConditionDegraded, operator.ConditionStalled} {
		if kube.ConditionOf(parent, conditionType).Status == "True" {
			facts = append(facts, conditionType)
		}
	}
	text := ready.Message
	for _, pod := range w.pods() {
		text = strings.ReplaceAll(text, pod.GetName()+": ", "POD: ")
		text = strings.ReplaceAll(text, pod.GetName(), "POD")
	}
	if _, ofPod, found := strings.Cut(text, "; POD: "); found {
		text = "POD: " + ofPod
	}
	text = strings.ReplaceAll(text, w.child, "NAME")
	for name, form := range placeholders {
		text = form.ReplaceAllString(text, name)
	}
	const longest = 180 // the cause stands at the end
	return strings.Join(facts, ", ") + ": " + strings.ReplaceAll(printable.Ends(text, longest), "<", "&lt;")
}

// placeholders replace what differs from sample to sample.
var placeholders = map[string]*regexp.Regexp{
	"CONTAINER$2":       regexp.MustCompile(`([a-zA-Z][-a-z0-9A-Z]*)( is waiting: | has ended: | has completed| runs, | runs again| is still running)`),
	`image "IMAGE"`:     regexp.MustCompile(`image "[^"]+"`),
	`reference "IMAGE"`: regexp.MustCompile(`reference "[^"]+"`),
	`IMAGE: not found`:  regexp.MustCompile(`[^ ]+: not found`),
	`exec: "COMMAND"`:   regexp.MustCompile(`exec: "[^"]+"`),
}
