package podset_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// status returns the status of an answer as the next request has it.
func (a answer) status(t *testing.T) string {
	t.Helper()
	text, err := json.Marshal(a.Status)
	require.NoError(t, err)
	return string(text)
}

// terminatingPodsOf returns Pods that are being deleted.
func terminatingPodsOf(numbers ...int) string {
	return strings.ReplaceAll(podsOf(numbers...), `"creationTimestamp"`, `"deletionTimestamp":"2026-01-02T03:04:00Z","creationTimestamp"`)
}

// both merges two groups of Pods.
func both(a, b string) string {
	if a == "{}" {
		return b
	}
	if b == "{}" {
		return a
	}
	return strings.TrimSuffix(a, "}") + "," + strings.TrimPrefix(b, "{")
}

// TestALateCacheMakesNoPodTwice follows a cache that shows that a Pod has gone
// before it shows the one that was made in its stead: the number that has become
// free is not taken.
func TestALateCacheMakesNoPodTwice(t *testing.T) {
	first := ask(t, `{"size":5}`, both(podsOf(0, 2, 3, 4), terminatingPodsOf(1)))
	require.Equal(t, []string{"web-5"}, first.fresh)

	late := askWithStatus(t, `{"size":5}`, first.status(t), podsOf(0, 2, 3, 4))
	require.Equal(t, []string{"web-5"}, late.fresh, "web-1 would be one too many")
	require.Equal(t, []int32{5}, late.Status.Pending)

	seen := askWithStatus(t, `{"size":5}`, late.status(t), podsOf(0, 2, 3, 4, 5))
	require.Empty(t, seen.fresh)
	require.Empty(t, seen.Status.Pending)

	// A status that was lost is no memory: then there is one too many for as long
	// as the cache is late.
	lost := ask(t, `{"size":5}`, podsOf(0, 2, 3, 4))
	require.Equal(t, []string{"web-1"}, lost.fresh)
	both := askWithStatus(t, `{"size":5}`, lost.status(t), podsOf(0, 1, 2, 3, 4, 5))
	require.Equal(t, 5, both.kept, "the cache has caught up, and one goes")
}

// TestNumbersThatCannotBeHadHoldUpNothing is a name that someone else has taken: the next is asked
// for, and that one again, to be told when it is free.
func TestNumbersThatCannotBeHadHoldUpNothing(t *testing.T) {
	first := ask(t, `{"size":2}`, both(podsOf(0), terminatingPodsOf(1)))
	require.Equal(t, []string{"web-2"}, first.fresh)
	old := strings.ReplaceAll(first.status(t), "2026-01-02T03:04:05Z", "2026-01-02T03:03:35Z")
	later := askWithStatus(t, `{"size":2}`, old, podsOf(0))
	require.Equal(t, []string{"web-1", "web-2"}, later.fresh)
	require.Equal(t, []int32{1, 2}, later.Status.Pending)

	seen := askWithStatus(t, `{"size":2}`, later.status(t), podsOf(0, 1))
	require.Empty(t, seen.fresh)
	late := askWithStatus(t, `{"size":2}`, seen.status(t), podsOf(0, 1, 2))
	require.Equal(t, 2, late.kept, "one that appears late is one too many")
}
