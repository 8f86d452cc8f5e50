package metrics

import (
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/metacontroller"
)

// busy returns metrics in which every series has a value.
func busy() *Metrics {
	none := func() int64 { return 0 }
	m := New(Options{
		Controllers: []metacontroller.Controller{{Parent: metacontroller.Resource{Kind: "Web"}}},
		Load:        Load{Requests: none, Connections: none, Memory: []Share{{"a", 1, none, none}}, Slots: []Share{{"b", 1, none, none}}},
		Log:         slog.New(slog.DiscardHandler),
	})
	answer := &metacontroller.Answer{Ready: metacontroller.ReadyCondition{Status: "True", Reason: "Available"}}
	m.Route("web", metacontroller.SyncHook).Count(Request{Code: http.StatusOK, Answer: answer})
	return m
}

// own returns the metric families of this program.
func own(t *testing.T, from prometheus.Gatherer) []*dto.MetricFamily {
	t.Helper()
	families, err := from.Gather()
	require.NoError(t, err)
	families = slices.DeleteFunc(families, func(f *dto.MetricFamily) bool { return !strings.HasPrefix(f.GetName(), "operetta_") })
	require.NotEmpty(t, families)
	return families
}

// TestThePageHasEveryMetric: the documentation lists exactly the metrics that exist.
func TestThePageHasEveryMetric(t *testing.T) {
	const begin, end = "<!-- metrics:begin -->\n", "<!-- metrics:end -->"
	var table strings.Builder
	table.WriteString("| metric | type | labels | what it tells |\n| --- | --- | --- | --- |\n")
	for _, family := range own(t, busy().Registry()) {
		labels := []string{}
		for _, label := range family.GetMetric()[0].GetLabel() {
			labels = append(labels, "`"+label.GetName()+"`")
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", family.GetName(), strings.ToLower(family.GetType().String()), strings.Join(labels, ", "), family.GetHelp())
	}
	page, err := os.ReadFile("../../docs/metrics.md")
	require.NoError(t, err)
	_, after, found := strings.Cut(string(page), begin)
	require.True(t, found)
	got, _, found := strings.Cut(after, end)
	require.True(t, found)
	require.Equal(t, table.String(), got, "put this table there:\n%s", table.String())
}

// TestThePageHasEveryReason: the documentation lists every reason of a refusal.
func TestThePageHasEveryReason(t *testing.T) {
	page, err := os.ReadFile("../../docs/metrics.md")
	require.NoError(t, err)
	for _, reason := range reasons() {
		require.Contains(t, string(page), "`"+reason+"`")
	}
}
