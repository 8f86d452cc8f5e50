package podset

import (
	"slices"

	"github.com/operetta-dev/operetta/operator"
)

// batchOf returns how many Pods a sync may ask for, and whether none has appeared of
// those that were asked for before. It grows by one with each Pod that appears, so
// that it doubles where all do. One that is being deleted at once counts as one that
// does not appear. A hook hears of no refusal: Pods that do not appear are all that
// tells of one.
func batchOf(set *PodSet, there observed) (batch int, isStuck bool) {
	status := &set.Status
	if len(status.Pending) == 0 {
		return operator.FirstBurst, false
	}
	appeared := 0
	for _, number := range status.Pending {
		if there.alive[podName(set, int(number))] {
			appeared++
		}
	}
	if appeared == 0 {
		return operator.StuckBurst, true
	}
	last := operator.FirstBurst
	if status.Batch > 0 {
		last = int(status.Batch)
	}
	return min(last, operator.MaxBurst) + appeared, false
}

// batchFrom returns the first of the numbers that are missing, as many as a batch
// has. After none has appeared, half of them are the last: somebody else's Pods may
// have the names of the first, and would keep all others waiting.
func batchFrom(numbers []int, batch int) []int {
	switch {
	case len(numbers) <= batch:
		return slices.Clone(numbers)
	case batch >= operator.FirstBurst:
		return slices.Clone(numbers[:batch])
	}
	last := batch / 2
	return slices.Concat(numbers[:batch-last], numbers[len(numbers)-last:])
}
