package podset

import (
	"slices"
	"time"

	"github.com/operetta-dev/operetta/operator"
)

// limits bound how many Pods a sync may create.
type limits struct {
	batch int // of all
	// again is how many of those that were asked for before and have not appeared: they may
	// have been created, and deleted before they were observed.
	again int
	stuck bool // none of the Pods that were asked for before has appeared
}

// limitsOf returns the limits of a sync. The batch grows by one with each Pod that
// appears, so that it doubles if all do. A Pod that is deleted at once counts
// as missing. A hook is not told of refusals: missing Pods are the only sign.
// The first batch is smaller for a large template: what the API server refuses it may
// quote, and Metacontroller keeps that for a while.
func limitsOf(set *PodSet, observed observed, bounds bounds) limits {
	status := &set.Status
	if len(status.Pending) == 0 {
		return limits{batch: bounds.first, again: bounds.first}
	}
	appeared := 0
	for _, number := range status.Pending {
		if observed.alive[podName(set, int(number))] {
			appeared++
		}
	}
	if appeared == 0 {
		stuck := min(operator.StuckBurst, bounds.first)
		return limits{batch: stuck, again: stuck, stuck: true}
	}
	last := bounds.first
	if status.Batch > 0 {
		last = int(status.Batch)
	}
	return limits{batch: min(last, operator.MaxBurst) + appeared, again: max(operator.StuckBurst, 2*appeared)}
}

// askedBefore returns the numbers of the Pods that the last sync has asked for.
func askedBefore(set *PodSet) map[int]bool {
	before := make(map[int]bool, len(set.Status.Pending))
	for _, number := range set.Status.Pending {
		if n := int(number); n >= 0 && n <= highestNumber {
			before[n] = true
		}
	}
	return before
}

// atMost returns the numbers without those of a group that come after its first count.
func atMost(count int, group map[int]bool, numbers []int) []int {
	return slices.DeleteFunc(slices.Clone(numbers), func(n int) bool {
		if group[n] {
			count--
		}
		return group[n] && count < 0
	})
}

// stuckTime is how long a batch of one has the same number while none appears: the API
// server's message about another name is another message, and Metacontroller keeps nine of them.
const stuckTime = 10 * time.Minute

// batchFrom returns the first of the missing numbers, as many as the batch has, those that were
// asked for before the others. If none of them has appeared, half of them are taken from the end:
// the first names may be taken by other Pods, which would block all the rest. A batch of one
// takes the lowest number, and after [stuckTime] one from the end, another one each time.
func batchFrom(numbers []int, batch int, isStuck bool, now time.Time) []int {
	switch {
	case len(numbers) <= batch:
		return slices.Clone(numbers)
	case !isStuck:
		return slices.Clone(numbers[:batch])
	case batch > 1:
		last := batch / 2
		return slices.Concat(numbers[:batch-last], numbers[len(numbers)-last:])
	}
	// Not in the order of what was asked for before, which is different the next time.
	numbers = slices.Sorted(slices.Values(numbers))
	turn := int(now.Unix() / int64(stuckTime/time.Second))
	if turn%2 == 0 {
		return numbers[:1]
	}
	i := len(numbers) - 1 - turn/2%len(numbers)
	return numbers[i : i+1]
}
