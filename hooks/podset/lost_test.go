package podset_test

import (
	"cmp"
	"encoding/json"
	"fmt"
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
	size, minutes := 200, 40
	if testing.Short() {
		size, minutes = 100, 20
	}
	spec := fmt.Sprintf(`{"size":%d}`, size)
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	status, made := "{}", make([]int, minutes) // per minute
	there := numberedPods{}
	var last answer
	for round := range minutes * 60 * 2 {
		now := began.Add(time.Duration(round) * time.Second / 2)
		last = askAt(t, now, spec, status, podsOf(there.list()...))
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

// TestPodsThatAreRelabelledAtOnceAreNotMadeForEver: something writes another template hash onto
// each Pod as soon as it has been observed, and the PodSet replaces it itself, at once or later.
func TestPodsThatAreRelabelledAtOnceAreNotMadeForEver(t *testing.T) {
	const size = 20
	minutes := 10
	if testing.Short() {
		minutes = 3
	}
	for name, c := range map[string]struct {
		maxUnavailable int
		ready          string
	}{"one at a time": {1, "True"}, "all at once": {size, "False"}} {
		t.Run(name, func(t *testing.T) {
			spec := fmt.Sprintf(`{"size":%d,"maxUnavailable":%d}`, size, c.maxUnavailable)
			began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
			status, made := "{}", 0
			var last answer
			fresh, relabelled := numberedPods{}, numberedPods{}
			for round := range minutes * 60 * 2 {
				pods := both(podsOf(fresh.list()...), relabel(podsOf(relabelled.list()...)))
				a := askAt(t, began.Add(time.Duration(round)*time.Second/2), spec, status, strings.ReplaceAll(pods, `"status":"True"`, `"status":"`+c.ready+`"`))
				last, status = a, a.status(t)
				made += len(a.fresh)
				for number := range relabelled {
					if !slices.Contains(a.names, fmt.Sprintf("web-%d", number)) {
						delete(relabelled, number)
					}
				}
				maps.Copy(relabelled, fresh)
				fresh = numberedPods{}
				fresh.add(a.fresh)
			}
			require.LessOrEqual(t, made, 4*size+100)
			require.GreaterOrEqual(t, made, 2*size, "the PodSet goes on")
			require.Equal(t, "PodsDeleted", last.condition("Ready").Reason)
			require.Positive(t, last.Resync, "it goes on by itself")
		})
	}
}

// relabel makes Pods be of another template.
func relabel(pods string) string { return strings.ReplaceAll(pods, "44136fa355b3678a", "x") }

// TestAnUpdateLosesNoPods: they are of an older template since the edit of the spec.
func TestAnUpdateLosesNoPods(t *testing.T) {
	const spec = `{"size":20,"maxUnavailable":5}`
	old := relabel(podsOf(numbers(0, 20)...))
	first := askWithStatus(t, spec, `{"observedGeneration":7,"replicas":20,"updatedReplicas":20}`, old)
	require.Nil(t, first.Status.Lost)
	require.Len(t, first.names, 15+5)
	require.Zero(t, first.Status.Released)
	require.Nil(t, askWithStatus(t, spec, first.status(t), old).Status.Lost, "by late caches")
	second := askWithStatus(t, spec, first.status(t), both(podsOf(20, 21), relabel(podsOf(numbers(5, 20)...))))
	require.Nil(t, second.Status.Lost)
	require.EqualValues(t, 2, second.Status.UpdatedReplicas)
	require.Nil(t, askWithStatus(t, spec, second.status(t), both(podsOf(20, 21, 22), relabel(podsOf(numbers(5, 20)...)))).Status.Lost)
}

// TestARollingUpdateIsNoExcuse: half of the Pods are of the template before, are ready and
// stay, and those of the newest are deleted as soon as they have been observed.
func TestARollingUpdateIsNoExcuse(t *testing.T) {
	size := 200
	if testing.Short() {
		size = 40
	}
	spec := fmt.Sprintf(`{"size":%d,"maxUnavailable":"50%%"}`, size)
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	status, made, there := "{}", 0, numberedPods{}
	old := relabel(podsOf(numbers(size/2, size)...))
	for round := range 10 * 60 * 2 {
		pods := old
		if len(there) > 0 {
			pods = both(strings.ReplaceAll(podsOf(there.list()...), `"status":"True"`, `"status":"False"`), old)
		}
		a := askAt(t, began.Add(time.Duration(round)*time.Second/2), spec, status, pods)
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

// failedPodsOf returns Pods that have failed.
func failedPodsOf(numbers ...int) string {
	return strings.ReplaceAll(strings.ReplaceAll(podsOf(numbers...), `"Running"`, `"Failed"`), `"status":"True"`, `"status":"False"`)
}

// TestFailedPodsWhoseReplacementIsRefused: the status says the same between two attempts and
// during one.
func TestFailedPodsWhoseReplacementIsRefused(t *testing.T) {
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	pods := both(podsOf(1), failedPodsOf(0))
	status, asked := "{}", 0
	for second := range 30 * 60 {
		a := askAt(t, began.Add(time.Duration(second)*time.Second), `{"size":2}`, status, pods)
		status = a.status(t)
		if second > 60 {
			require.Equal(t, []string{"web-0"}, a.Status.FailedPods, second)
			asked += len(a.fresh)
		}
	}
	require.Positive(t, asked, "it is tried again")
}

// annotations returns those of the Pods that an answer creates, by their names, in JSON.
func (a answer) annotations(t *testing.T) map[string]string {
	t.Helper()
	var got struct {
		Children []struct {
			Metadata struct {
				Name        string          `json:"name"`
				Annotations json.RawMessage `json:"annotations"`
			} `json:"metadata"`
		} `json:"children"`
	}
	require.NoError(t, json.Unmarshal(a.body, &got))
	of := map[string]string{}
	for _, child := range got.Children {
		of[child.Metadata.Name] = cmp.Or(string(child.Metadata.Annotations), "{}")
	}
	return of
}

// TestFailedPodsThatAreDeletedAreNotMadeForEver: each Pod fails, and something deletes it as
// soon as it has been observed, and with it the count of failures that its replacement waits for.
func TestFailedPodsThatAreDeletedAreNotMadeForEver(t *testing.T) {
	for name, pods := range map[string]func(numbers ...int) string{
		"failed when first seen":  failedPodsOf,
		"running when first seen": podsOf,
	} {
		t.Run(name, func(t *testing.T) {
			const size = 200
			began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
			status, made, there := "{}", 0, map[string]string{} // annotations and time of creation
			var last answer
			for round := range 10 * 60 * 3 {
				observe := failedPodsOf
				if round%3 == 1 {
					observe = pods
				}
				var seen []string
				for name, created := range there {
					number, err := strconv.Atoi(strings.TrimPrefix(name, "web-"))
					require.NoError(t, err)
					pod := observe(number)
					seen = append(seen, strings.NewReplacer(`"creationTimestamp":"2026-01-02T03:00:00Z"`, created, `"2026-01-02T03:00:03Z"`, "null").Replace(pod[1:len(pod)-1]))
				}
				now := began.Add(time.Duration(round) * time.Second / 3)
				last = askAt(t, now, `{"size":200}`, status, "{"+strings.Join(seen, ",")+"}")
				status = last.status(t)
				made += len(last.fresh)
				if round%3 == 0 {
					there = map[string]string{}
				}
				annotations := last.annotations(t)
				for _, name := range last.fresh {
					there[name] = fmt.Sprintf(`"annotations":%s,"creationTimestamp":%q`, annotations[name], now.Format(time.RFC3339))
				}
			}
			// Each is replaced once without a pause, and the PodSet lets one of the two go.
			require.LessOrEqual(t, made, 7*size+100)
			require.GreaterOrEqual(t, made, 2*size)
			require.Equal(t, "PodsDeleted", last.condition("Ready").Reason)
		})
	}
}

// TestReplacedPodsAreNotLost: failed Pods that the PodSet lets go, because their replacement
// is there, count for nothing, also where the status in the request is one behind.
func TestReplacedPodsAreNotLost(t *testing.T) {
	first := askWithStatus(t, `{"size":3}`, "{}", both(podsOf(0, 1), failedPodsOf(2)))
	require.Equal(t, []string{"web-3"}, first.fresh)
	require.Empty(t, first.Status.FailedPods, "its replacement is asked for")
	replaced := askWithStatus(t, `{"size":3}`, first.status(t), both(podsOf(0, 1, 3), failedPodsOf(2)))
	require.Equal(t, 3, replaced.kept)
	require.Nil(t, askWithStatus(t, `{"size":3}`, replaced.status(t), podsOf(0, 1, 3)).Status.Lost)
	require.Nil(t, askWithStatus(t, `{"size":3}`, first.status(t), podsOf(0, 1, 3)).Status.Lost)

	again := strings.NewReplacer(`"labels":`, `"annotations":{"podset.apps.jicki.cn/failures":"9"},"labels":`, "03:00:0", "03:04:0").Replace(failedPodsOf(2))
	waits := askWithStatus(t, `{"size":3}`, "{}", both(podsOf(0, 1), again))
	require.Empty(t, waits.fresh, "it has failed before, so there is a pause")
	require.Equal(t, []string{"web-2"}, waits.Status.FailedPods)
	deleted := askWithStatus(t, `{"size":3}`, waits.status(t), podsOf(0, 1))
	require.EqualValues(t, 1, deleted.Status.Lost.Count, "somebody has deleted it")
}

// TestPodsOfWhichFewAreSeenAreNotMadeForEver: something deletes most Pods before they are
// observed or while they end, and the others when they have been.
func TestPodsOfWhichFewAreSeenAreNotMadeForEver(t *testing.T) {
	const (
		size  = 200
		calls = 10 * 60 * 2 // in ten minutes
	)
	shares, times := []int{2, 3, 8, 100}, 4
	if testing.Short() {
		shares, times = []int{8}, 1
	}
	tests := map[string]struct {
		going func(numbers ...int) string
		most  int // in ten minutes
	}{
		// Nobody can tell those from refused ones: two at each call.
		"gone":          {func(...int) string { return "{}" }, 2*calls + 2*size},
		"being deleted": {terminatingPodsOf, 4*size + 100},
	}
	for name, test := range tests {
		for _, share := range shares {
			t.Run(fmt.Sprintf("%s/one of %d", name, share), func(t *testing.T) {
				began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
				status, asked := "{}", []string(nil)
				var made []int // in each ten minutes
				for call := range times * calls {
					seen, others := numberedPods{}, numberedPods{}
					for i, name := range asked {
						if (i+call)%share == 0 {
							seen.add([]string{name})
						} else {
							others.add([]string{name})
						}
					}
					pods := podsOf(seen.list()...)
					if gone := test.going(others.list()...); len(seen) == 0 {
						pods = gone
					} else if gone != "{}" {
						pods = both(pods, gone)
					}
					a := askAt(t, began.Add(time.Duration(call)*time.Second/2), `{"size":200}`, status, pods)
					status, asked = a.status(t), a.fresh
					if call%calls == 0 {
						made = append(made, 0)
					}
					made[len(made)-1] += len(a.fresh)
				}
				for _, n := range made {
					require.LessOrEqual(t, n, test.most, made)
					require.Positive(t, n, "the PodSet goes on: %v", made)
				}
			})
		}
	}
}
