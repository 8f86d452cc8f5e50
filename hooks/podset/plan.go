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

// plan says which Pods stay and how many are made. Taking a Pod out of what is
// observed never makes another one go: what is dropped follows from how many are
// too many, which only becomes less.
type plan struct {
	stay   []*observedPod // live ones, by number
	failed []*observedPod // failed ones that wait for their replacement
	fresh  []freshPod
	// pending are the numbers of those to be made, and of those that were asked for
	// before and may yet appear, which the batch leaves out.
	pending []int
	batch   int       // how many may be made in this sync
	stuck   bool      // none of those that were asked for before has appeared
	later   int       // Pods that are missing too, and are made in a later sync
	excess  int       // Pods that go because there are too many
	rolled  int       // Pods that go because their template is outdated
	retry   time.Time // when Pods are made next that are not made now, if later than now
	lost    *Lost     // Pods that something else has deleted
	// waits is why no Pods are made that are missing, or nothing.
	waits string
	// held is set where the fresh Pods are not asked for in this sync: none of those that
	// were asked for before has appeared, and the next attempt is at retry.
	held bool
}

// freshPod is a Pod to be made.
type freshPod struct {
	number int
	// failures counts the failed Pods in a row of which this one replaces the
	// last.
	failures int
}

// decide makes the plan.
func decide(set *PodSet, there observed, bounds bounds, now time.Time) plan {
	size := int(*set.Spec.Size)
	var p plan
	p.stay = slices.Clone(there.live)
	p.dropExcess(size)
	p.lost = countLost(set, there, now)
	again := p.lost.tooMany(size, now)
	room := max(0, size+operator.MaxBurst-there.terminating)
	if size <= bounds.most && room > 0 && again.IsZero() { // or what goes would not be replaced
		p.dropOutdated(size - maxUnavailable(set))
	}
	slices.SortFunc(p.stay, byNumber)

	missing := max(0, min(size, bounds.most)-len(p.stay))
	replacements := p.replaceFailed(there.failed, missing, now)
	rest := missing - len(p.failed)
	pending := slices.DeleteFunc(slices.Clone(pendingNumbers(set, now)), func(n int32) bool { return there.taken[int(n)] })
	p.batch, p.stuck = batchOf(set, there)
	p.batch = min(p.batch, bounds.burst, max(room, len(pending)))
	if missing > 0 {
		p.wait(there, size, room, again)
	}
	if p.waits != "" || set.DeletionTimestamp != nil {
		replacements, rest = nil, min(rest, len(pending)) // those that have been asked for may yet appear
	}
	p.makeFresh(replacements, rest, bounds.burst, there, pending)
	if p.stuck && len(p.fresh) > 0 {
		p.hold(set, now)
	}
	return p
}

// hold leaves the fresh Pods to the next attempt, unless there is one now.
func (p *plan) hold(set *PodSet, now time.Time) {
	isNow, next := operator.Attempt(set.Status.Conditions, set.Generation, now)
	if p.held = !isNow; !p.held {
		return
	}
	if due := now.Add(next); p.retry.IsZero() || due.Before(p.retry) {
		p.retry = due
	}
}

// wait says why no Pods are made, if there are reasons: until some time because too
// many have been lost, or for want of room beside those that are being deleted.
func (p *plan) wait(there observed, size, room int, until time.Time) {
	switch {
	case !until.IsZero():
		p.waits, p.retry = p.lost.String(), until
	case room == 0:
		p.waits = fmt.Sprintf("%d of %d Pods exist, and of %d that are being deleted some have to end first", len(there.live), size, there.terminating)
	}
}

// makeFresh asks for the replacements and for the rest of the missing Pods, as
// many as the batch has of a burst: first for those that were asked for and are not observed
// yet, then under the lowest numbers that are free. A number may have become free
// while the Pods that were asked for are still on their way to the cache, and under
// another name they would be made twice.
func (p *plan) makeFresh(replacements []freshPod, rest, burst int, there observed, pending []int32) {
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
		if !there.taken[number] && !asked[number] {
			numbers = append(numbers, number)
		}
	}
	chosen := batchFrom(numbers, p.batch)
	slices.Sort(chosen)
	p.fresh, p.later = make([]freshPod, len(chosen)), missing-len(chosen)
	copy(p.fresh, replacements)
	for i := range p.fresh {
		p.fresh[i].number = chosen[i]
		asked[chosen[i]] = true
	}
	p.pending = slices.DeleteFunc(numbers, func(n int) bool { return !asked[n] })
	slices.Sort(p.pending)
}

// highestNumber is more than any Pod can have: those that are being deleted are no more
// than the largest size, and a burst, and there are as many others and as many pending.
const highestNumber = 99999

// pendingNumbers returns the numbers that the status remembers. What has not
// appeared for as long as a cache may lag will not: the name may be taken.
func pendingNumbers(set *PodSet, now time.Time) []int32 {
	since, isMissing := operator.MissingSince(set.Status.Conditions)
	if !isMissing || now.Sub(since) >= operator.ChildGrace {
		return nil
	}
	return set.Status.Pending
}

// dropExcess lets those go that are too many.
func (p *plan) dropExcess(size int) {
	p.excess = max(0, len(p.stay)-size)
	sortByDeletionOrder(p.stay)
	p.stay = p.stay[p.excess:]
}

// dropOutdated lets Pods of an older template go: all that are not ready, and
// of the ready ones as many as leave the least number of ready Pods. The order
// is that in which Pods are deleted.
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

// The pause before a failed Pod is replaced. The first failure costs none: a
// node that is drained of memory is no fault of the Pod.
const (
	firstPause  = 10 * time.Second
	longestWait = 5 * time.Minute
	// steady is how long a Pod must have run for its failure to count as a
	// first one.
	steady = 10 * time.Minute
)

// replaceFailed keeps as many failed Pods as replacements are missing, those
// that are due last, and returns the replacements of those that are due. The
// others have been replaced.
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

// failures returns how many Pods in a row had failed when this one was made. A
// Pod that has run for long ends the row.
func (p *observedPod) failures() int {
	if p.changed.Sub(p.Metadata.CreationTimestamp.Time) > steady {
		return 0
	}
	count, err := strconv.Atoi(p.Metadata.Annotations.Failures)
	if err != nil || count < 0 {
		return 0
	}
	return min(count, 20) // longer pauses than the longest are all the same
}

// nextFailures returns how many Pods in a row have failed when the replacement of
// this one is made. One of a newer template has nothing to do with them.
func (p *observedPod) nextFailures() int {
	if !p.current {
		return 0
	}
	return p.failures() + 1
}

// due returns when a failed Pod is to be replaced. It failed when it stopped
// being ready or, if it never was, when it was made, as far as it tells. One of an
// older template is due at once: the newest may be what mends it.
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

// maxUnavailable returns how many Pods an update may take away at a time.
func maxUnavailable(set *PodSet) int {
	if set.Spec.MaxUnavailable == nil {
		return 1
	}
	count, err := intstr.GetScaledValueFromIntOrPercent(set.Spec.MaxUnavailable, int(*set.Spec.Size), false)
	if err != nil {
		return 1 // the schema lets nothing else through
	}
	return max(1, count)
}

// isIdle reports whether there is nothing to do but to wait.
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
