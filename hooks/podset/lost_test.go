package podset_test

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// numberedPods are Pods by their numbers.
type numberedPods map[int]bool

func (p numberedPods) add(names []string) {
	for _, name := range names {
		number, _ := strconv.Atoi(strings.TrimPrefix(name, "web-"))
		p[number] = true
	}
}

func (p numberedPods) list() []int { return slices.Sorted(maps.Keys(p)) }

// TestPodsThatAreDeletedAtOnceAreNotMadeForEver: something deletes all Pods as soon as
// they have been observed, and calls the hook again each time.
func TestPodsThatAreDeletedAtOnceAreNotMadeForEver(t *testing.T) {
	const size = 200
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	status, made := "{}", make([]int, 40) // per minute
	there := numberedPods{}
	var last answer
	for round := 0; round < 40*60*2; round++ {
		now := began.Add(time.Duration(round) * time.Second / 2)
		last = askAt(t, now, `{"size":200}`, status, podsOf(there.list()...))
		status = last.status(t)
		made[int(now.Sub(began)/time.Minute)] += len(last.fresh)
		if round%2 == 0 {
			there = numberedPods{}
		}
		there.add(last.fresh)
	}
	sum := 0
	for minute, n := range made {
		if sum += n; minute%10 == 9 {
			require.LessOrEqual(t, sum, 4*size+100, made)
			require.GreaterOrEqual(t, sum, 2*size, "the PodSet goes on: %v", made)
			sum = 0
		}
	}
	require.Equal(t, "False", string(last.condition("Ready").Status))
}

// TestARollingUpdateIsNoExcuse: half of the Pods are of the template before, are ready and
// stay, and those of the newest are deleted as soon as they have been observed.
func TestARollingUpdateIsNoExcuse(t *testing.T) {
	const size = 200
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	status, made, there := "{}", 0, numberedPods{}
	old := strings.ReplaceAll(podsOf(numbers(100, size)...), "44136fa355b3678a", "x")
	for round := range 10 * 60 * 2 {
		pods := old
		if len(there) > 0 {
			pods = both(strings.ReplaceAll(podsOf(there.list()...), `"status":"True"`, `"status":"False"`), old)
		}
		a := askAt(t, began.Add(time.Duration(round)*time.Second/2), `{"size":200,"maxUnavailable":"50%"}`, status, pods)
		status = a.status(t)
		made += len(a.fresh)
		if round%2 == 0 {
			there = numberedPods{}
		}
		there.add(a.fresh)
	}
	require.LessOrEqual(t, made, 4*size+100)
	require.GreaterOrEqual(t, made, 2*size)
}

// TestWhatThePodSetLetsGoIsNotLost by itself: it scales down, and rolls.
func TestWhatThePodSetLetsGoIsNotLost(t *testing.T) {
	down := askWithStatus(t, `{"size":10}`, "{}", podsOf(numbers(0, 100)...))
	require.EqualValues(t, 90, down.Status.Released)
	after := askWithStatus(t, `{"size":10}`, down.status(t), podsOf(numbers(0, 10)...))
	require.Nil(t, after.Status.Lost)
	require.Zero(t, after.Status.Released)
	fewer := askWithStatus(t, `{"size":10}`, down.status(t), podsOf(numbers(0, 7)...))
	require.EqualValues(t, 3, fewer.Status.Lost.Count)
}

// TestADrainOfAllNodesIsNotWaitedFor: all Pods may go a few times, and are made anew
// at once.
func TestADrainOfAllNodesIsNotWaitedFor(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	status, there := "{}", numberedPods{}
	ask := func() answer {
		now = now.Add(time.Second)
		a := askAt(t, now, `{"size":20}`, status, podsOf(there.list()...))
		status = a.status(t)
		return a
	}
	for drain := range 5 {
		there = numberedPods{}
		for syncs := 0; len(there) < 20; syncs++ {
			if drain == 4 {
				waits := ask()
				require.Empty(t, waits.fresh)
				ready := waits.condition("Ready")
				require.Equal(t, "PodsDeleted", ready.Reason)
				require.Contains(t, ready.Message, "80 Pods have been deleted by something else since 2026-01-02T03:04:")
				require.Greater(t, waits.Resync, 500)
				now = now.Add(10 * time.Minute)
				require.NotEmpty(t, ask().fresh, "and then they are made")
				return
			}
			require.Less(t, syncs, 5)
			there.add(ask().fresh)
		}
		require.Empty(t, ask().fresh)
	}
}

// TestPodsThatDoNotEndBoundTheOthers: a node that is gone never tells that a Pod has
// ended.
func TestPodsThatDoNotEndBoundTheOthers(t *testing.T) {
	few := askWithStatus(t, `{"size":20}`, "{}", terminatingPodsOf(numbers(0, 500)...))
	require.Len(t, few.fresh, 16)
	many := askWithStatus(t, `{"size":20}`, "{}", terminatingPodsOf(numbers(0, 520)...))
	require.Empty(t, many.fresh)
	require.Equal(t, "PodsDeleted", many.condition("Ready").Reason)
	require.Equal(t, "0 of 20 Pods exist, and of 520 that are being deleted some have to end first", many.condition("Ready").Message)
	asked := askWithStatus(t, `{"size":20}`, `{"pending":[7000],"conditions":[{"type":"ChildrenObserved","status":"False","reason":"Asked","message":"asked for: Pod/web-7000","lastTransitionTime":"2026-01-02T03:04:00Z"}]}`,
		terminatingPodsOf(numbers(0, 520)...))
	require.Equal(t, []string{"web-7000"}, asked.fresh, "it may yet appear")
	require.Equal(t, []int32{7000}, asked.Status.Pending)
}

// TestPodsThatAreBeingDeletedHaveNotAppeared, so that no more are made for them.
func TestPodsThatAreBeingDeletedHaveNotAppeared(t *testing.T) {
	a := askWithStatus(t, `{"size":100}`, `{"pending":[0,1,2,3]}`, terminatingPodsOf(0, 1, 2, 3))
	require.Len(t, a.fresh, 2)
}
