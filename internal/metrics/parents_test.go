package metrics

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operetta-dev/operetta/metacontroller"
)

// remembering are parents whose clock the test sets.
type remembering struct {
	*parents

	registry *prometheus.Registry
	at       time.Time
}

func newRemembering() *remembering { return newRememberingAtMost(maxParents) }

func newRememberingAtMost(most int) *remembering {
	m := &Metrics{registry: prometheus.NewPedanticRegistry()}
	m.addParents([]metacontroller.Controller{
		{Parent: metacontroller.Resource{Kind: "Web"}, Reasons: []string{"Fine"}}, {Parent: metacontroller.Resource{Kind: "Job"}},
	}, most)
	r := &remembering{parents: m.parents, registry: m.registry, at: time.Now()}
	r.now = func() time.Time { return r.at }
	return r
}

func (r *remembering) answered(kind, name, ready, reason string, finalized bool) {
	r.note(kind, &metacontroller.Answer{
		Parent:    metacontroller.Identity{Namespace: "ns", Name: name, UID: types.UID("uid of " + name)},
		Ready:     metacontroller.ReadyCondition{Status: ready, Reason: reason},
		Finalized: finalized,
	})
}

// requireCounts compares all counts that are not zero, written as in "web True Fine 2".
func (r *remembering) requireCounts(t *testing.T, want ...string) {
	t.Helper()
	families, err := r.registry.Gather()
	require.NoError(t, err)
	got := []string{}
	for _, family := range families {
		if family.GetName() != "operetta_parents" {
			continue
		}
		for _, metric := range family.GetMetric() {
			labels := map[string]string{}
			for _, label := range metric.GetLabel() {
				labels[label.GetName()] = label.GetValue()
			}
			if value := metric.GetGauge().GetValue(); value != 0 {
				got = append(got, fmt.Sprintf("%s %s %s %v", labels["kind"], labels["ready"], labels["reason"], value))
			}
		}
	}
	require.ElementsMatch(t, want, got)
}

func TestParentsAreCounted(t *testing.T) {
	r := newRemembering()
	r.requireCounts(t)
	for range 3 { // each counts once, however often it is asked about
		r.answered("web", "a", "False", "Creating", false)
		r.answered("web", "b", "True", "Fine", false)
		r.answered("job", "a", "True", "Fine", false)
		r.answered("job", "b", "Unknown", "<script>", false)
		r.answered("job", "c", "Perhaps", "Fine", false)
		r.answered("job", "d", "", "", false)
	}
	r.requireCounts(t, "web False Creating 1", "web True Fine 1", "job True Other 1", "job Unknown Other 1")
	r.answered("web", "a", "True", "Fine", false)
	r.requireCounts(t, "web True Fine 2", "job True Other 1", "job Unknown Other 1")
	require.Contains(t, collected(t, r), `operetta_parents{kind="web",ready="False",reason="Creating"} 0`, "it does not end, it is zero")
	r.answered("web", "a", "False", "Creating", true)
	r.answered("web", "never seen", "False", "Creating", true)
	r.requireCounts(t, "web True Fine 1", "job True Other 1", "job Unknown Other 1")
}

func collected(t *testing.T, r *remembering) string {
	t.Helper()
	families, err := r.registry.Gather()
	require.NoError(t, err)
	var text strings.Builder
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			labels := []string{}
			for _, label := range metric.GetLabel() {
				labels = append(labels, fmt.Sprintf("%s=%q", label.GetName(), label.GetValue()))
			}
			fmt.Fprintf(&text, "%s{%s} %v\n", family.GetName(), strings.Join(labels, ","), metric.GetGauge().GetValue())
		}
	}
	return text.String()
}

func TestParentsAreForgotten(t *testing.T) {
	r := newRemembering()
	r.answered("web", "a", "True", "Fine", false)
	r.answered("web", "b", "True", "Fine", false)
	r.at = r.at.Add(rememberedFor)
	r.answered("web", "b", "True", "Fine", false)
	r.requireCounts(t, "web True Fine 2")
	r.at = r.at.Add(time.Second)
	r.requireCounts(t, "web True Fine 1")
	r.at = r.at.Add(rememberedFor)
	r.requireCounts(t)
	require.Empty(t, r.remembered)
}

// TestParentsThatSelectRelatedObjects are counted by their last request.
func TestParentsThatSelectRelatedObjects(t *testing.T) {
	r := newRemembering()
	answered := func(name string, hasRelated bool) {
		r.note("web", &metacontroller.Answer{
			Parent: metacontroller.Identity{Name: name}, HasRelated: hasRelated, Ready: metacontroller.ReadyCondition{Status: "True", Reason: "Fine"},
		})
	}
	requireSelecting := func(number int) {
		require.NoError(t, testutil.GatherAndCompare(r.registry, strings.NewReader(fmt.Sprintf(`
# HELP operetta_parents_selecting Custom resources whose last request to this process had related objects: Metacontroller compares each change of such an object with all of them.
# TYPE operetta_parents_selecting gauge
operetta_parents_selecting{kind="web"} %d
`, number)), "operetta_parents_selecting"))
	}
	answered("a", true)
	answered("b", true)
	answered("c", false)
	requireSelecting(2)
	answered("a", false)
	requireSelecting(1)
	answered("b", false)
	requireSelecting(0)
}

// TestParentsAreBounded: users can create any number, with names of any length.
func TestParentsAreBounded(t *testing.T) {
	r := newRememberingAtMost(100)
	long := strings.Repeat("x", 1000)
	for i := range 300 {
		r.answered("web", fmt.Sprint(long, i), "True", "Fine", false)
	}
	r.requireCounts(t, "web True Fine 100")
	require.Len(t, r.remembered, 100)
	require.EqualValues(t, 200, testutil.ToFloat64(r.uncounted))
	r.answered("web", long+"0", "False", "Creating", false)
	r.requireCounts(t, "web True Fine 99", "web False Creating 1")
	r.answered("web", long+"0", "False", "Creating", true)
	r.answered("web", "new", "False", "Creating", false)
	r.requireCounts(t, "web True Fine 99", "web False Creating 1")
	r.at = r.at.Add(rememberedFor + time.Second)
	r.requireCounts(t)
	r.answered("web", "newer", "True", "Fine", false)
	r.requireCounts(t, "web True Fine 1")
}

// TestParentsCostLittle: their memory is not part of the memory budget.
func TestParentsCostLittle(t *testing.T) {
	r := newRemembering()
	answer := &metacontroller.Answer{Ready: metacontroller.ReadyCondition{Status: "True", Reason: "Fine"}}
	uids := make([]types.UID, maxParents+1)
	for i := range uids {
		uids[i] = types.UID(fmt.Sprint(i))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, uid := range uids {
		answer.Parent.UID = uid
		r.note("web", answer)
	}
	runtime.ReadMemStats(&after)
	require.Len(t, r.remembered, maxParents)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8<<20), "what the growing map has thrown away included")
}

// TestMetricsAreClean by the rules of promlint.
func TestMetricsAreClean(t *testing.T) {
	registry := busy().Registry()
	problems, err := testutil.GatherAndLint(registry)
	require.NoError(t, err)
	for _, problem := range problems {
		if strings.HasPrefix(problem.Metric, "operetta_") {
			require.Fail(t, "promlint", "%s: %s", problem.Metric, problem.Text)
		}
	}
}
