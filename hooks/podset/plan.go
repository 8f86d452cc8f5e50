package podset

import (
	"fmt"
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
	// replaced is how many of the failed ones the first fresh Pods replace.
	replaced int
	// pending are the numbers to create, and those that were asked for before
	// and may yet appear, which the batch excludes.
	pending   []int
	limits              // of this sync
	remaining int       // Pods that are also missing, to be created in a later sync
	excess    int       // Pods that are deleted because there are too many
	released  int       // up-to-date ones of these
	rolled    int       // Pods that are deleted because their template is outdated
	retry     time.Time // when Pods are created next, if not now
	lost      *Lost     // Pods that something else has deleted
	// waits is why missing Pods are not created, or "".
	waits string
	// held is set if no fresh Pods are created in this sync: none of those that
	// were asked for before has appeared, and the next attempt is at retry.
	held bool
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
	before := askedBefore(set)
	p.lost = countLost(set, observed, before, now)
	again := p.lost.tooMany(size, now)
	room := max(0, size+operator.MaxBurst-observed.terminating)
	if size <= bounds.most && room > 0 && again.IsZero() { // or what goes would not be replaced
		p.dropOutdated(size - maxUnavailable(set))
	}
	slices.SortFunc(p.stay, byNumber)

	missing := max(0, min(size, bounds.most)-len(p.stay))
	replacements := p.replaceFailed(observed.failed, missing, now)
	rest := missing - len(p.failed)
	pending := slices.DeleteFunc(slices.Clone(pendingNumbers(set, now)), func(n int32) bool { return observed.taken[int(n)] })
	p.limits = limitsOf(set, observed, bounds)
	p.batch = min(p.batch, bounds.burst, max(room, len(pending)))
	if _, current := observed.readiness(); missing > 0 || current < len(observed.live) && !again.IsZero() {
		p.wait(observed, size, room, again)
	}
	if p.waits != "" || set.DeletionTimestamp != nil {
		replacements, rest = nil, min(rest, len(pending)) // those that have been asked for may yet appear
	}
	p.makeFresh(replacements, rest, bounds.burst, observed, pending, before, now)
	if p.stuck && len(p.fresh) > 0 {
		p.hold(set, now)
	}
	return p
}

// hold leaves the fresh Pods to the next attempt, unless it is now.
func (p *plan) hold(set *PodSet, now time.Time) {
	isNow, next := operator.Attempt(set.Status.Conditions, set.Generation, now)
	if p.held = !isNow; !p.held {
		return
	}
	if due := now.Add(next); p.retry.IsZero() || due.Before(p.retry) {
		p.retry = due
	}
}

// wait sets why no Pods are created or replaced: too many have been lost, or there is no
// room besides those that are being deleted.
func (p *plan) wait(observed observed, size, room int, until time.Time) {
	switch {
	case !until.IsZero():
		p.waits, p.retry = p.lost.String(), until
	case room == 0:
		p.waits = fmt.Sprintf("%d of %d Pods exist, and of %d that are being deleted some have to end first", len(observed.live), size, observed.terminating)
	}
}

// makeFresh creates the replacements and other missing Pods, within the batch
// and the burst: first under the numbers that were asked for and are not
// observed yet, then under the lowest free numbers. A lower number may have
// become free while those Pods are not in the cache yet, and under another name
// they would be created twice.
func (p *plan) makeFresh(replacements []freshPod, rest, burst int, observed observed, pending []int32, before map[int]bool, now time.Time) {
	missing := len(replacements) + rest
	count := min(missing, burst)
	numbers := make([]int, 0, count)
	asked := map[int]bool{}
	for _, number := range pending {
		n := int(number)
		if len(numbers) < count && n >= 0 && n <= highestNumber && !asked[n] {
			numbers, asked[n] = append(numbers, n), true
		}
	}
	for number := 0; len(numbers) < count; number++ {
		if !observed.taken[number] && !asked[number] {
			numbers = append(numbers, number)
		}
	}
	chosen := atMost(p.again, before, batchFrom(numbers, p.batch, p.stuck, now))
	slices.Sort(chosen)
	p.fresh, p.remaining = make([]freshPod, len(chosen)), missing-len(chosen)
	p.replaced = copy(p.fresh, replacements)
	for i := range p.fresh {
		p.fresh[i].number = chosen[i]
		asked[chosen[i]] = true
	}
	p.pending = slices.DeleteFunc(numbers, func(n int) bool { return !asked[n] && !before[n] })
	slices.Sort(p.pending)
}

// highestNumber is above the number of any Pod: terminating Pods are at most
// the largest size and a burst, and so are the others and the pending ones.
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
	for _, pod := range p.stay[:p.excess] {
		if pod.current {
			p.released++
		}
	}
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

// notReplaced returns the failed Pods whose replacement is not asked for in this
// sync. The others go in the next one, and Metacontroller may show it this status
// after that: what goes then must not look as if something else had deleted it.
// While no Pod appears, none goes, and the status stays as it is at each attempt.
func (p plan) notReplaced() []*observedPod {
	if p.held || p.stuck {
		return p.failed
	}
	return p.failed[min(p.replaced, len(p.failed)):]
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
