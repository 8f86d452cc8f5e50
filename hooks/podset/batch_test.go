package podset_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks/podset"
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operettatest"
)

// tellBatches begins a story that notes of each sync when it was and how many Pods
// it asked for that do not exist.
func tellBatches(t *testing.T, options operettatest.Options) (*story, *[]batch) {
	t.Helper()
	controller, batches := podset.Controller(), &[]batch{}
	s := &story{T: t}
	options.MaxSteps = 1000
	options.Around = func(operettatest.Call) operettatest.Call {
		return func(now time.Time, _ string, body []byte) (int, []byte, error) {
			answer, err := controller.Call(metacontroller.SyncHook, now, body)
			if err != nil {
				return http.StatusInternalServerError, []byte(err.Error()), nil
			}
			s.count()
			b := batch{at: now}
			for _, child := range answer.Children {
				if !child.Kept {
					b.fresh++
				}
			}
			*batches = append(*batches, b)
			return http.StatusOK, answer.Body, nil
		}
	}
	s.world = operettatest.NewWorld(t, options, podset.Controller())
	return s, batches
}

// batch is what one sync asked for.
type batch struct {
	at    time.Time
	fresh int
}

// perMinute adds up what the batches ask for in each minute of a time.
func perMinute(batches []batch, began time.Time, minutes int) []int {
	sums := make([]int, minutes)
	for _, b := range batches {
		if minute := int(b.at.Sub(began) / time.Minute); minute < minutes {
			sums[minute] += b.fresh
		}
	}
	return sums
}

// TestRefusedPodsCostLittle has a quota of 100 Pods, which is lifted.
func TestRefusedPodsCostLittle(t *testing.T) {
	size := 500
	if testing.Short() {
		size = 200
	}
	s, batches := tellBatches(t, operettatest.Options{Late: true})
	s.apply(fmt.Sprintf("{size: %d}", size))
	for len(s.pods(nil)) < 100 {
		s.world.Step()
	}
	began, there := s.world.Now(), len(s.pods(nil))
	s.world.Do("quota Pod")
	*batches = nil
	for s.world.Now().Before(began.Add(10 * time.Minute)) {
		if !s.world.Step() {
			s.world.Do("wait 10s")
		}
	}
	require.Len(t, s.pods(nil), there)
	sums := perMinute(*batches, began, 10)
	require.LessOrEqual(t, sums[0], 2*there+20, sums)
	for _, sum := range sums[1:] { // two new ones at a time, and two that are blocked
		require.LessOrEqual(t, sum, 8, sums)
	}
	s.requireReady("False", "ChildBlocked")
	require.Contains(t, s.world.Condition("PodSet/web", "Ready").Message, " more Pods are asked for as these appear")

	s.world.Do("quota off")
	began = s.world.Now()
	for len(s.pods(nil)) < size && s.world.Now().Before(began.Add(20*time.Minute)) {
		if !s.world.Step() {
			s.world.Do("wait 1s")
		}
	}
	// It is asked for again after as long as it has been blocked at most.
	require.LessOrEqual(t, s.world.Now().Sub(began), 10*time.Minute+15*time.Second)
	s.play()
	s.requireReady("True", "Ready")
	require.Equal(t, size, s.most)
	require.Len(t, s.pods(nil), size)
}

// TestNamesOfOthersStopNoPod has somebody else's Pods under the lowest names, more
// than a first batch has.
func TestNamesOfOthersStopNoPod(t *testing.T) {
	s := tell(t, operettatest.Options{})
	for n := range 20 {
		s.world.Apply(fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-%d"},"spec":{"containers":[{"name":"a","image":"a"}]}}`, n))
	}
	s.edit("{size: 60}")
	require.Len(t, s.pods(nil), 20+60, "others under the next names")
	s.requireReady("True", "Ready")
	s.edit("{size: 80}")
	require.Len(t, s.pods(nil), 20+80)
}
