package dataservice

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// TestAnotherTable carries another product: nothing but the table knows a
// component.
func TestAnotherTable(t *testing.T) {
	says := func(image string) func(*Spec) *settings {
		return func(*Spec) *settings { return &settings{image: image} }
	}
	other := []component{
		{key: "queue", from: says("nats:2"), name: "queue", port: 4222, kind: StatefulSet, isMiddleware: true},
		{key: "worker", from: says("worker:1"), name: "worker", port: 8080, kind: DaemonSet, after: []string{"queue"}, needs: []string{"queue"}},
		{key: "cache", from: func(*Spec) *settings { return nil }, name: "cache", port: 6379, kind: Deployment},
		{key: "front", from: says("front:1"), name: "front", port: 80, kind: Deployment, after: []string{"worker", "cache"}},
	}
	ds := &DataService{}
	ds.Name = "other"
	p, err := resolve(ds, DefaultPolicy(), other)
	require.NoError(t, err)
	require.Equal(t, map[string]int{"queue": 0, "worker": 1, "cache": 0, "front": 2}, p.stages)
	plan, err := decide(p, observed{}, metacontroller.Observed{})
	require.NoError(t, err)
	require.Equal(t, []string{"Service/queue", "StatefulSet/queue"}, plan.differs.Missing)
	status := plan.report(operator.NewReport(ds, ds.Status.Status, metacontroller.Observed{Now: time.Now()}, plan.differs))
	require.Equal(t, []ComponentStatus{
		{Component: "queue", Name: "queue", Kind: StatefulSet, Message: "Service/queue is being created"},
		{Component: "worker", Name: "worker", Kind: DaemonSet, Message: "waits for queue"},
		{Component: "front", Name: "front", Kind: Deployment, Message: "waits for worker"},
	}, status.Components)

	other[1].needs = append(other[1].needs, "cache")
	_, err = resolve(ds, DefaultPolicy(), other)
	require.EqualError(t, err, "worker needs cache: write spec.cache, as third-party if it runs elsewhere")
}

// TestTableIsInOrder makes sure of what the code relies on.
func TestTableIsInOrder(t *testing.T) {
	seen := map[string]bool{}
	for _, row := range DefaultPolicy().table() {
		require.False(t, seen[row.key], row.key)
		for _, before := range row.after {
			require.True(t, seen[before], "%s comes after %s, which stands below it", row.key, before)
		}
		seen[row.key] = true
	}
	for _, row := range DefaultPolicy().table() {
		for _, other := range append(append(append([]string{}, row.needs...), row.routes...), row.uses...) {
			require.True(t, seen[other], "%s knows %s, which is no component", row.key, other)
		}
	}
}
