package diff

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/hooks/invariants"
	"github.com/operetta-dev/operetta/internal/lab/dump"
	"github.com/operetta-dev/operetta/internal/lab/dump/dumptest"
	"github.com/operetta-dev/operetta/internal/lab/player"
)

// memory makes the many Worlds of these operators cheaper.
var memory = player.NewMemory()

var strategies = []player.Strategy{player.DynamicApply, player.ServerSideApply}

func converged(t testing.TB, apply player.Strategy, paths ...string) *player.World {
	t.Helper()
	return dumptest.Converged(t, player.Options{
		Controllers: hooks.All(), Simulation: invariants.All(), Call: player.Direct(hooks.All()...), Apply: apply, Memory: memory,
	}, paths...)
}

// compared returns the report on some objects.
func compared(t testing.TB, objects []kube.Object, options Options) *Report {
	t.Helper()
	d, err := dump.Read(bytes.NewReader(dumptest.List(t, objects)))
	require.NoError(t, err)
	options.Controllers, options.Call = hooks.All(), player.Direct(hooks.All()...)
	options.Apply, err = d.Strategy(options.Controllers, options.Apply)
	require.NoError(t, err)
	report, err := Compare(d, options)
	require.NoError(t, err)
	return report
}

// printed returns all forms of a report.
func printed(t testing.TB, r *Report) string {
	t.Helper()
	var b bytes.Buffer
	r.PrintSummary(&b)
	r.PrintObjects(&b)
	require.NoError(t, r.PrintMarkdown(&b))
	b.Write(dumptest.JSON(t, r))
	return b.String()
}

func eachSample(t *testing.T, test func(t *testing.T, apply player.Strategy, path string)) {
	for _, apply := range strategies {
		for _, path := range dumptest.Samples(t, "../../..") {
			t.Run(string(apply)+"/"+strings.TrimPrefix(path, "../../../deploy/samples/"), func(t *testing.T) { test(t, apply, path) })
		}
	}
}

func TestConvergedSamplesDoNotChange(t *testing.T) {
	eachSample(t, func(t *testing.T, apply player.Strategy, path string) {
		report := compared(t, converged(t, apply, path).Objects(), Options{Options: dump.Options{Apply: apply}})
		require.Equal(t, 1, report.Compared)
		require.Empty(t, report.Parents, printed(t, report))
		require.Zero(t, report.Rewritten)
		require.Equal(t, Nothing, report.Outcome())
	})
}

// edits returns edits of one field each: of every number, truth value and image in a spec.
func edits(object kube.Object) map[string]kube.Object {
	all := map[string]kube.Object{}
	var walk func(path []string, value any, set func(root map[string]any, value any))
	walk = func(path []string, value any, set func(map[string]any, any)) {
		add := func(value any) {
			edited := object.DeepCopy()
			set(edited.Object, value)
			all[strings.Join(path, ".")] = edited
		}
		switch value := value.(type) {
		case map[string]any:
			for name, member := range value {
				walk(append(slices.Clip(path), name), member, func(root map[string]any, value any) {
					inner := root
					for _, name := range path {
						inner = inner[name].(map[string]any)
					}
					inner[name] = value
				})
			}
		case int64:
			add(value + 1)
		case bool:
			add(!value)
		case string:
			if strings.Contains(path[len(path)-1], "mage") {
				add("registry.example.com/another:v9")
			}
		}
	}
	walk([]string{"spec"}, object.Object["spec"], nil)
	return all
}

// agreement counts the fields of predictions.
type agreement struct{ agreed, all, refused int }

// add compares what is predicted from some objects with the next step of the World that they are of.
func (a *agreement) add(t *testing.T, world *player.World, options dump.Options, apply func() error, what string) {
	before := world.Objects()
	d, err := dump.Read(bytes.NewReader(dumptest.List(t, before)))
	require.NoError(t, err)
	for _, c := range hooks.All() {
		for _, child := range c.Children {
			d.Asked(child.Resource) // kubectl was asked for all
		}
	}
	options.Controllers, options.Call, options.Now = hooks.All(), player.Direct(hooks.All()...), world.Now()
	report, err := Compare(d, Options{Options: options})
	if applyErr := apply(); err != nil || applyErr != nil {
		require.EqualError(t, err, fmt.Sprint(applyErr), what)
		a.refused++
		return
	}
	predicted, happened := writesIn(report), map[string]bool{}
	for step := 0; step <= mostNotes && len(happened) == 0; step++ { // a hook may write its status first
		world.Step()
		happened = writesOf(world, before)
	}
	for key := range union(predicted, happened) {
		a.all++
		if predicted[key] && happened[key] {
			a.agreed++
		} else {
			t.Logf("%s: %s: predicted %t, happened %t", what, key, predicted[key], happened[key])
		}
	}
}

// TestPredictionsAreWhatApplyDoes edits each sample, and each of its children by hand, in one field
// after the other, and compares what is predicted with what happens in the simulated
// cluster: 99 of 100 fields agree.
func TestPredictionsAreWhatApplyDoes(t *testing.T) {
	var a agreement
	eachSample(t, func(t *testing.T, apply player.Strategy, path string) {
		if testing.Short() && !strings.HasSuffix(path, "s/modelbox.yaml") && !strings.HasSuffix(path, "s/podset.yaml") {
			t.Skip("two samples are enough for -short")
		}
		for field, edit := range edits(dumptest.Objects(t, path)[0]) {
			world := converged(t, apply, path)
			edit.SetNamespace("default")
			a.add(t, world, dump.Options{Apply: apply, Edits: map[kube.Ref]kube.Object{kube.RefOf(edit): edit}},
				func() error { return world.Apply(dumptest.JSON(t, edit.Object)) }, field)
		}
		children := childrenIn(converged(t, apply, path))
		for _, child := range children[:min(3, len(children))] {
			byField := edits(child)
			for i, field := range slices.Sorted(maps.Keys(byField)) {
				world := converged(t, apply, path)
				if i%8 > 0 || world.Apply(dumptest.JSON(t, byField[field].Object)) != nil {
					continue // an eighth of the fields, and those that are immutable
				}
				a.add(t, world, dump.Options{Apply: apply}, func() error { return nil }, kube.RefOf(child).String()+" "+field)
			}
			world := converged(t, apply, path)
			require.NoError(t, world.Delete(kube.RefOf(child)))
			a.add(t, world, dump.Options{Apply: apply}, func() error { return nil }, kube.RefOf(child).String())
		}
	})
	t.Logf("%d of %d fields agree, %d edits are refused by both", a.agreed, a.all, a.refused)
	if !testing.Short() {
		require.Greater(t, a.all, 200)
		require.Positive(t, a.refused)
	}
	require.GreaterOrEqual(t, a.agreed*100, a.all*99)
}

// childrenIn returns what the hooks have asked for, and nothing that Kubernetes has made of it.
func childrenIn(world *player.World) []kube.Object {
	return slices.DeleteFunc(world.Objects(), func(object kube.Object) bool { return !world.IsChild(object) })
}

func union(a, b map[string]bool) map[string]bool {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// writesIn returns what a report predicts of children, a text for each field.
func writesIn(report *Report) map[string]bool {
	writes := map[string]bool{}
	for _, parent := range report.Parents {
		for _, o := range parent.Objects {
			verdict := o.Verdict
			if verdict == Recreated { // it is deleted first
				verdict, o.Fields = Deleted, nil
			}
			if o.As != "" {
				writes[fmt.Sprintf("%s/%s %s", o.Kind, o.As, Created)] = true
			}
			for _, f := range o.Fields {
				writes[fmt.Sprintf("%s %s: %v -> %v", o.Ref, f.Path, f.Before, f.After)] = true
			}
			if o.Verdict == Refused {
				continue // nothing is to happen
			}
			if len(o.Fields) == 0 {
				writes[fmt.Sprintf("%s %s", o.Ref, verdict)] = true
			}
		}
	}
	return writes
}

// writesOf returns the same of what has happened to the children in a World.
func writesOf(world *player.World, before []kube.Object) map[string]bool {
	writes := map[string]bool{}
	old := map[kube.Ref]kube.Object{}
	for _, object := range before {
		if world.IsChild(object) && object.GetDeletionTimestamp() == nil {
			old[kube.RefOf(object)] = object
		}
	}
	for _, object := range world.Objects() {
		ref := kube.RefOf(object)
		switch was := old[ref]; {
		case !world.IsChild(object):
		case was == nil:
			writes[fmt.Sprintf("%s %s", ref, Created)] = true
		case object.GetDeletionTimestamp() == nil:
			for _, f := range fieldsOf(was, object, nil) {
				writes[fmt.Sprintf("%s %s: %v -> %v", ref, f.Path, f.Before, f.After)] = true
			}
		}
	}
	for ref := range old {
		if now := world.Get(ref); now == nil || now.GetDeletionTimestamp() != nil {
			writes[fmt.Sprintf("%s %s", ref, Deleted)] = true
		}
	}
	return writes
}

// TestEachVerdictIsDocumented in the words that are printed.
func TestEachVerdictIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/diff.md")
	require.NoError(t, err)
	for _, verdict := range append(slices.Clone(verdicts), statusVerdict) {
		require.Contains(t, string(page), "\n| "+verdict.text()+" | ")
	}
}
