package podset

import (
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// plan says which Pods stay and how many are created. A Pod that disappears
// never causes another one to be deleted: deletions follow from the excess,
// which only shrinks.
type plan struct {
	stay   []*observedPod // live ones, by number
	failed []*observedPod // failed ones that wait for their replacement
	fresh  []freshPod
	// pending are the numbers to create, and those that were asked for before
	// and may yet appear, which the batch excludes.
	pending   []int
	batch     int       // how many Pods this sync may create
	stuck     bool      // none of the Pods that were asked for before has appeared
	remaining int       // Pods that are also missing, to be created in a later sync
	excess    int       // Pods that are deleted because there are too many
	rolled    int       // Pods that are deleted because their template is outdated
	retry     time.Time // when Pods are created next, if not now
}

// freshPod is a Pod to be created.
type freshPod struct {
	number int
	// failures counts the failed Pods in a row before this one.
	failures int
}

// decide makes the plan.
func decide(set *PodSet, observed observed, bounds bounds, now time.Time) plan {
	size := int(*set.Spec.Size)
	var p plan
	p.stay = slices.Clone(observed.live)
	p.dropExcess(size)
	if size <= bounds.most { // or what goes would not be replaced
		p.dropOutdated(size - maxUnavailable(set))
	}
	slices.SortFunc(p.stay, byNumber)

	missing := max(0, min(size, bounds.most)-len(p.stay))
	replacements := p.replaceFailed(observed.failed, missing, now)
	rest := missing - len(p.failed)
	pending := slices.DeleteFunc(slices.Clone(pendingNumbers(set, now)), func(n int32) bool { return observed.taken[int(n)] })
	if set.DeletionTimestamp != nil {
		replacements, rest = nil, min(rest, len(pending)) // those that have been asked for may yet appear
	}
	p.slowStart(set, observed)
	p.makeFresh(replacements, rest, observed, pending, set.Status.Pending)
	return p
}

// slowStart bounds how many Pods are created, as a ReplicaSet does: nobody tells a hook
// what the API server refuses, it only sees which of the Pods that the last sync asked for
// have not appeared. While none does, few are asked for.
func (p *plan) slowStart(set *PodSet, observed observed) {
	appeared := 0
	for _, number := range set.Status.Pending {
		if observed.alive[podName(set, int(number))] {
			appeared++
		}
	}
	p.stuck = appeared == 0 && len(set.Status.Pending) > 0
	p.batch = min(max(operator.FirstBurst, 2*appeared), operator.MaxBurst)
	if p.stuck {
		p.batch = operator.StuckBurst
	}
}

// makeFresh creates the replacements and other missing Pods, within the batch: first
// under the numbers that were asked for and are not observed yet, then under the lowest
// free numbers. A lower number may have become free while those Pods are not in the cache
// yet, and under another name they would be created twice.
func (p *plan) makeFresh(replacements []freshPod, rest int, observed observed, pending, before []int32) {
	missing := len(replacements) + rest
	count := min(missing, operator.MaxBurst)
	numbers := make([]int, 0, count)
	seen := map[int]bool{}
	for _, number := range pending {
		n := int(number)
		if len(numbers) < count && n >= 0 && n <= highestNumber && !seen[n] {
			numbers, seen[n] = append(numbers, n), true
		}
	}
	for number := 0; len(numbers) < count; number++ {
		if !observed.taken[number] && !seen[number] {
			numbers = append(numbers, number)
		}
	}
	chosen := slices.Clone(numbers[:min(p.batch, len(numbers))])
	if p.stuck && p.batch < len(numbers) { // the first names may be taken by other Pods
		chosen[len(chosen)-1] = numbers[len(numbers)-1]
	}
	slices.Sort(chosen)
	p.fresh, p.remaining = make([]freshPod, len(chosen)), missing-len(chosen)
	copy(p.fresh, replacements)
	asked := make(map[int]bool, len(chosen)+len(before))
	for i, number := range chosen {
		p.fresh[i].number = number
		asked[number] = true
	}
	for _, number := range before {
		asked[int(number)] = true
	}
	p.pending = slices.DeleteFunc(numbers, func(n int) bool { return !asked[n] })
	slices.Sort(p.pending)
}

// highestNumber is above the number of any Pod that a sync has asked for.
const highestNumber = 99999

// pendingNumbers returns the numbers in the status. Pods that have not appeared
// within [operator.ChildGrace] will not: the name may be taken.
func pendingNumbers(set *PodSet, now time.Time) []int32 {
	since, isMissing := operator.MissingSince(set.Status.Conditions)
	if !isMissing || now.Sub(since) >= operator.ChildGrace {
		return nil
	}
	return set.Status.Pending
}

// dropExcess deletes Pods while there are too many.
func (p *plan) dropExcess(size int) {
	p.excess = max(0, len(p.stay)-size)
	sortByDeletionOrder(p.stay)
	p.stay = p.stay[p.excess:]
}

// dropOutdated deletes Pods of an older template: all that are not ready, and
// ready ones while at least least ready Pods remain, in deletion order.
func (p *plan) dropOutdated(least int) {
	ready := 0
	for _, pod := range p.stay {
		if pod.ready {
			ready++
		}
	}
	budget := max(0, ready-least)
	p.stay = slices.DeleteFunc(p.stay, func(pod *observedPod) bool {
		if pod.current || pod.ready && budget == 0 {
			return false
		}
		if pod.ready {
			budget--
		}
		p.rolled++
		return true
	})
}

// The backoff before a failed Pod is replaced. The first failure has none: an
// eviction is not the Pod's fault.
const (
	firstPause  = 10 * time.Second
	longestWait = 5 * time.Minute
	// steady is how long a Pod must have run so that its failure counts as the
	// first one.
	steady = 10 * time.Minute
)

// replaceFailed returns the replacements that are due, and keeps the failed
// Pods whose replacement is not, those that are due last. The other failed Pods
// are deleted.
func (p *plan) replaceFailed(failed []*observedPod, missing int, now time.Time) []freshPod {
	failed = slices.Clone(failed)
	slices.SortStableFunc(failed, func(a, b *observedPod) int {
		if order := a.due().Compare(b.due()); order != 0 {
			return order
		}
		return byNumber(a, b)
	})
	p.failed = failed[max(0, len(failed)-missing):]
	var replacements []freshPod
	for _, pod := range p.failed {
		if due := pod.due(); due.After(now) {
			p.retry = due
			break
		}
		replacements = append(replacements, freshPod{failures: pod.nextFailures()})
	}
	return replacements
}

// failures returns how many Pods in a row had failed when this one was created.
// A Pod that ran long enough resets the count.
func (p *observedPod) failures() int {
	if p.changed.Sub(p.Metadata.CreationTimestamp.Time) > steady {
		return 0
	}
	count, err := strconv.Atoi(p.Metadata.Annotations.Failures)
	if err != nil || count < 0 {
		return 0
	}
	return min(count, 20) // the backoff does not grow any further
}

// nextFailures returns that count for the replacement of this Pod. A newer
// template resets it.
func (p *observedPod) nextFailures() int {
	if !p.current {
		return 0
	}
	return p.failures() + 1
}

// due returns when to replace a failed Pod: after a backoff from when it
// stopped being ready or, if it never was, from its creation. A Pod of an older
// template is replaced at once: the newest may fix it.
func (p *observedPod) due() time.Time {
	if !p.current {
		return time.Time{}
	}
	failures := p.failures()
	if failures == 0 {
		return p.changed
	}
	return p.changed.Add(min(firstPause<<(failures-1), longestWait))
}

// maxUnavailable returns how many Pods an update may remove at a time.
func maxUnavailable(set *PodSet) int {
	if set.Spec.MaxUnavailable == nil {
		return 1
	}
	count, err := intstr.GetScaledValueFromIntOrPercent(set.Spec.MaxUnavailable, int(*set.Spec.Size), false)
	if err != nil {
		return 1 // the schema allows nothing else
	}
	return max(1, count)
}

// isIdle reports whether there is nothing to do but wait.
func (p plan) isIdle() bool { return len(p.fresh) == 0 && p.excess == 0 && p.rolled == 0 }

// kept returns the observed Pods that stay.
func (p plan) kept() []metacontroller.Object {
	kept := make([]metacontroller.Object, 0, len(p.stay)+len(p.failed)+len(p.fresh))
	for _, pod := range p.stay {
		kept = append(kept, metacontroller.Keep(pod.Snapshot))
	}
	for _, pod := range p.failed {
		kept = append(kept, metacontroller.Keep(pod.Snapshot))
	}
	return kept
}
