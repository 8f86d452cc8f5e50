package podset_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/operettatest"
)

func TestSurgeKeepsAllPodsReady(t *testing.T) {
	for spec, test := range map[string]struct{ fewestReady, most int }{
		"maxSurge: 1, maxUnavailable: 0":     {4, 5},
		"maxSurge: 1":                        {3, 5},
		"maxSurge: 50%, maxUnavailable: 0%":  {4, 6},
		"maxSurge: 10%, maxUnavailable: 10%": {4, 5}, // rounded up, and down
		"maxSurge: 0, maxUnavailable: 10%":   {3, 4},
	} {
		s := tell(t, operettatest.Options{})
		s.edit("{size: 4, " + template("one") + "}")
		s.edit("{size: 4, " + spec + ", " + template("two") + "}")
		require.Len(t, s.pods(ofImage("two")), 4, spec)
		require.Len(t, s.pods(isReady), 4, spec)
		require.Equal(t, test.fewestReady, s.fewestReady, spec)
		require.Equal(t, test.most, s.most, spec)
		s.requireReady("True", "Ready")
	}
}

func TestPodsAreAvailableAfterMinReadySeconds(t *testing.T) {
	s := tell(t, operettatest.Options{})
	created := s.world.Now()
	s.edit("{size: 2, minReadySeconds: 30, " + template("one") + "}")
	began := s.world.Now()
	require.GreaterOrEqual(t, began.Sub(created), 30*time.Second)
	s.edit("{size: 2, minReadySeconds: 30, " + template("two") + "}")
	require.GreaterOrEqual(t, s.world.Now().Sub(began), time.Minute, "one after the other")
	require.Len(t, s.pods(ofImage("two")), 2)
	s.requireReady("True", "Ready")
}

func TestPartitionAndPauseHoldARollBack(t *testing.T) {
	s := tell(t, operettatest.Options{})
	s.edit("{size: 4, " + template("one") + "}")
	s.edit("{size: 4, partition: 3, " + template("two") + "}")
	require.Len(t, s.pods(ofImage("two")), 1)
	s.requireReady("True", "Ready")

	s.edit("{size: 4, partition: 0, paused: true, " + template("two") + "}")
	require.Len(t, s.pods(ofImage("two")), 1)
	s.requireReady("False", "Paused")
	require.Empty(t, s.condition("Stalled"), "a pause has no deadline")
	s.edit("{size: 5, partition: 0, paused: true, " + template("two") + "}")
	require.Len(t, s.pods(isReady), 5, "size works")
	s.edit("{size: 5, " + template("two") + "}")
	require.Len(t, s.pods(ofImage("two")), 5)
	s.requireReady("True", "Ready")
}

func TestPartitionHoldsWhenThereAreFewerPods(t *testing.T) {
	s := tell(t, operettatest.Options{})
	s.edit("{size: 6, " + template("one") + "}")
	s.edit("{size: 6, maxUnavailable: 3, partition: 3, " + template("two") + "}")
	s.edit("{size: 4, partition: 3, " + template("two") + "}")
	require.Len(t, s.pods(ofImage("one")), 3, "an autoscaler does not complete the change")
	require.Len(t, s.pods(ofImage("two")), 1)
	s.edit("{size: 2, partition: 3, " + template("two") + "}")
	require.Len(t, s.pods(ofImage("one")), 2)
	s.requireReady("True", "Ready")
}

func TestPodsToDelete(t *testing.T) {
	s := tell(t, operettatest.Options{})
	s.edit("{size: 4}")
	s.edit("{size: 3, podsToDelete: [web-1, web-77, other]}")
	require.Equal(t, []string{"web-0", "web-2", "web-3"}, s.pods(isReady))
	s.edit("{size: 3, podsToDelete: [web-0, web-1]}")
	require.Equal(t, []string{"web-2", "web-3", "web-4"}, s.pods(isReady), "replaced under the next number")
	require.Equal(t, 2, s.fewestReady)
	s.requireReady("True", "Ready")
	s.edit("{size: 4}")
	require.Equal(t, []string{"web-0", "web-2", "web-3", "web-4"}, s.pods(isReady))
}

func TestProgressDeadline(t *testing.T) {
	s := tell(t, operettatest.Options{Hold: []string{"Pod/web-0"}})
	created := s.world.Now()
	s.edit("{size: 1, progressDeadlineSeconds: 60}")
	s.requireReady("False", "ProgressDeadlineExceeded")
	require.Less(t, s.world.Now().Sub(created), 70*time.Second)
}
