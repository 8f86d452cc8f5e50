package picture

import (
	"slices"
	"time"
)

const (
	// longWait is how many of the shortest waits a wait may have before it is cut.
	longWait = 8
	// cutWidth is the width of a wait that is cut, tornAt where in it the edge is: words fit
	// before it.
	cutWidth, tornAt = 104, 82
)

// axis gives times their places. It is linear but for waits that are cut.
type axis struct {
	times []time.Duration
	at    []int // of each time
	cuts  []int // the torn edges of waits that are cut
	end   int   // of what lasts beyond the last time
}

// newAxis places times, which are in their order, from one place to another, and leaves room for
// the last state.
func newAxis(times []time.Duration, from, to, tail int) axis {
	a := axis{times: slices.Compact(slices.Clone(times)), end: to}
	waits := make([]time.Duration, 0, len(a.times))
	shortest := time.Duration(0)
	for i := 1; i < len(a.times); i++ {
		wait := a.times[i] - a.times[i-1]
		waits = append(waits, wait)
		if shortest == 0 || wait < shortest {
			shortest = wait
		}
	}
	isLong := func(wait time.Duration) bool { return wait > longWait*shortest }
	linear, cuts := time.Duration(0), 0
	for _, wait := range waits {
		if isLong(wait) {
			cuts++
		} else {
			linear += wait
		}
	}
	room := to - tail - from
	width := min(cutWidth, room/2/max(1, cuts))
	room -= cuts * width
	passed, cutBefore := time.Duration(0), 0
	place := func() int {
		if linear == 0 {
			return from + cutBefore*width
		}
		return from + cutBefore*width + int(float64(room)*float64(passed)/float64(linear))
	}
	a.at = append(a.at, from)
	for _, wait := range waits {
		if isLong(wait) {
			a.cuts = append(a.cuts, place()+width*tornAt/cutWidth)
			cutBefore++
		} else {
			passed += wait
		}
		a.at = append(a.at, place())
	}
	return a
}

// x returns the place of a time of the axis.
func (a axis) x(at time.Duration) int {
	i, _ := slices.BinarySearch(a.times, at)
	return a.at[min(i, len(a.at)-1)]
}

// room returns the place up to which words can be written from a place on: the end, or the torn
// edge before it.
func (a axis) room(from, to int) int {
	for _, x := range a.cuts {
		if from < x && x < to {
			return x - 4
		}
	}
	return to
}
