package podset

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// plan says which Pods stay and how many are created. Deletions follow from the excess, which
// only shrinks when a Pod disappears.
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

// decide makes the plan, with at most so many Pods.
func decide(set *PodSet, observed observed, most int, now time.Time) plan {
	size, r := int(*set.Spec.Size), rollOf(set)
	p := plan{stay: slices.Clone(observed.live)}
	p.dropExcess(size+r.surge(p.stay, size), r.partition)
	if size <= most { // or what goes would not be replaced
		p.dropOutdated(r, size-r.maxUnavailable)
	}
	slices.SortFunc(p.stay, byNumber)
	missing := max(0, min(size+r.surge(p.stay, size), most)-len(p.stay))
	replacements := p.replaceFailed(observed.failed, missing, now)
	p.makeFresh(set, observed, replacements, missing-len(p.failed)+len(replacements), now)
	return p
}

// makeFresh creates missing Pods, the replacements among them, in a slow start as a ReplicaSet
// does: nobody tells a hook what the API server refuses, it only sees which of the Pods that the
// last sync asked for have appeared. While none does, few are asked for.
//
// First come the numbers that were asked for and are not observed yet, then the lowest free ones.
// A lower number may have become free while those Pods are not in the cache, and under another
// they would be created twice. After [operator.ChildGrace] they hold up nothing: the next numbers
// are asked for, and the first of them again, which tells when they can be created. One that
// appears then is one too many, and goes.
func (p *plan) makeFresh(set *PodSet, observed observed, replacements []freshPod, missing int, now time.Time) {
	asked, appeared := observed.asked(set)
	p.stuck = appeared == 0 && len(set.Status.Pending) > 0
	p.batch = min(max(operator.FirstBurst, 2*appeared), operator.MaxBurst)
	if p.stuck {
		p.batch = operator.StuckBurst
	}
	count := min(missing, operator.MaxBurst)
	again, blocked := asked, []int(nil)
	switch since, isMissing := operator.MissingSince(set.Status.Conditions); {
	case !isMissing:
		again = nil
	case now.Sub(since) >= operator.ChildGrace:
		again, blocked = nil, asked
	}
	if len(blocked) >= missing+3*operator.StuckBurst && !observed.hasAbove(blocked[len(blocked)-1]) {
		count = 0 // it is not the names
	}
	numbers := observed.freeNumbers(set, again, blocked, count)
	chosen := slices.Clone(numbers[:min(p.batch, count)])
	if p.stuck && p.batch < count { // the first names may be taken by other Pods
		chosen[len(chosen)-1] = numbers[count-1]
	}
	slices.Sort(chosen)
	p.pending = slices.DeleteFunc(numbers, func(n int) bool { // the others are not asked for any more, but may appear
		return !slices.Contains(again, n) && !slices.Contains(chosen, n)
	})
	if missing > 0 {
		p.pending = append(p.pending, blocked...)
		chosen = append(chosen, blocked[:min(operator.StuckBurst, len(blocked))]...)
	}
	p.remaining = max(0, missing-len(chosen))
	slices.Sort(p.pending)
	p.fresh = make([]freshPod, len(chosen))
	copy(p.fresh, replacements)
	for i, number := range chosen {
		p.fresh[i].number = number
	}
}

// asked returns the numbers that the status says have been asked for and are not observed, and how
// many others have appeared.
func (o observed) asked(set *PodSet) (numbers []int, appeared int) {
	for _, n := range set.Status.Pending {
		switch isAlive, isTaken := o.numbers[int(n)]; {
		case isAlive:
			appeared++
		case !isTaken:
			numbers = append(numbers, int(n))
		}
	}
	slices.Sort(numbers)
	return numbers, appeared
}

// hasAbove reports whether there is a live Pod of a higher number.
func (o observed) hasAbove(number int) bool {
	return slices.ContainsFunc(o.live, func(pod *observedPod) bool { return pod.number > number })
}

// freeNumbers returns so many numbers: some, and then the lowest that are free and not blocked.
func (o observed) freeNumbers(set *PodSet, first, blocked []int, count int) []int {
	skipped := slices.Concat(first, blocked)
	for _, name := range set.Spec.PodsToDelete {
		skipped = append(skipped, numberOf(name, prefix(set)))
	}
	numbers := slices.Clone(first)
	for n := 0; len(numbers) < count; n++ {
		if _, isTaken := o.numbers[n]; !isTaken && !slices.Contains(skipped, n) {
			numbers = append(numbers, n)
		}
	}
	return numbers[:count]
}

// dropExcess deletes Pods while there are too many.
func (p *plan) dropExcess(size, partition int) {
	p.excess = max(0, len(p.stay)-size)
	sortByDeletionOrder(p.stay, partition)
	p.stay = p.stay[p.excess:]
}

// dropOutdated deletes Pods that are to be replaced: all that are not available, and available
// ones while at least least available Pods remain, in deletion order.
func (p *plan) dropOutdated(r roll, least int) {
	available, outdated := 0, 0
	for _, pod := range p.stay {
		if pod.available {
			available++
		}
		if !pod.current {
			outdated++
		}
	}
	budget := max(0, available-least)
	p.stay = slices.DeleteFunc(p.stay, func(pod *observedPod) bool {
		isOutdated := !pod.current && !r.paused && outdated > r.partition
		if !isOutdated && !pod.listed || pod.available && budget == 0 {
			return false
		}
		if pod.available {
			budget--
		}
		if !pod.current {
			outdated--
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

// replaceFailed keeps as many failed Pods as are missing, those that are due last, and returns
// the replacements that are due. The other failed Pods are deleted.
func (p *plan) replaceFailed(failed []*observedPod, missing int, now time.Time) []freshPod {
	failed = slices.Clone(failed)
	slices.SortFunc(failed, func(a, b *observedPod) int { return cmp.Or(a.due().Compare(b.due()), byNumber(a, b)) })
	p.failed = failed[max(0, len(failed)-missing):]
	var replacements []freshPod
	for _, pod := range p.failed {
		if due := pod.due(); due.After(now) {
			p.retry = due
			break
		}
		replacements = append(replacements, freshPod{failures: pod.failures()})
	}
	return replacements
}

// failures returns how many Pods in a row have failed, this one included. One that ran for long
// enough is the first, and one of an older template does not count.
func (p *observedPod) failures() int {
	if !p.current {
		return 0
	}
	before, err := strconv.Atoi(p.Metadata.Annotations.Failures)
	if err != nil || before < 0 || p.changed.Sub(p.Metadata.CreationTimestamp.Time) > steady {
		before = 0
	}
	return min(before, 20) + 1 // the backoff does not grow any further
}

// due returns when to replace a failed Pod: after a backoff from when it was last ready or, if it
// never was, from its creation. One of an older template is replaced at once: the newest may fix it.
func (p *observedPod) due() time.Time {
	switch failures := p.failures(); failures {
	case 0:
		return time.Time{}
	case 1:
		return p.changed
	default:
		return p.changed.Add(min(firstPause<<(failures-2), longestWait))
	}
}

// isIdle reports whether there is nothing to do but wait.
func (p plan) isIdle() bool { return len(p.fresh) == 0 && p.excess == 0 && p.rolled == 0 }

// kept returns the observed Pods that stay.
func (p plan) kept() []metacontroller.Object {
	kept := make([]metacontroller.Object, 0, len(p.stay)+len(p.failed)+len(p.fresh))
	for _, pod := range slices.Concat(p.stay, p.failed) {
		kept = append(kept, metacontroller.Keep(pod.Snapshot))
	}
	return kept
}
