package operator

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// How many children a hook asks for at once. An answer is built in memory, and
// Metacontroller creates its children one after the other: a hook that wants many asks
// for some of them, and for the rest when those are observed.
const (
	// MaxBurst is the largest number of children that one answer creates. It is the
	// burst of a ReplicaSet.
	MaxBurst = 500
	// MaxBurstBytes is how much the children that one answer creates may have
	// together.
	MaxBurstBytes = 16 << 20
	// FirstBurst is how many are asked for at first, of which nobody knows whether the
	// API server takes them.
	FirstBurst = 16
	// StuckBurst is how many are asked for while none appears. Each one that the API
	// server refuses costs one of the requests that all custom resources share.
	StuckBurst = 2
)

// Burst returns how many children of this many bytes an answer may create, at
// least 1. Their size is that of metacontroller.Size.
func Burst(bytes int) int { return max(1, min(MaxBurst, MaxBurstBytes/max(1, bytes))) }

// attemptTime is how long an attempt of [Attempt] lasts. Metacontroller calls late when
// it is busy, and a call that comes later than that waits for the next attempt.
const attemptTime = 10 * time.Second

// Attempt reports whether children of which none appears are asked for at this time, and
// otherwise after what time they are next. They are during [ChildGrace], and then for ten
// seconds each time that they have been missing for twice as long, at least every ten
// minutes. A hook may be called several times a second meanwhile, by the events of
// children that something else deletes as soon as they are made. The old conditions of
// the parent tell since when they have been missing; a newer generation begins anew.
func Attempt(old []metav1.Condition, generation int64, now time.Time) (isNow bool, next time.Duration) {
	observed := meta.FindStatusCondition(old, ConditionChildrenObserved)
	since, isMissing := MissingSince(old)
	if !isMissing || observed.ObservedGeneration != generation {
		return true, 0
	}
	missing := now.Sub(since)
	if missing < ChildGrace || since.IsZero() {
		return true, 0
	}
	begins := ChildGrace
	for begins < maxLookAgain && missing-begins >= begins {
		begins *= 2
	}
	// The last attempt began this long ago, and the next one is period after that.
	passed, period := missing-begins, begins
	if begins >= maxLookAgain {
		passed, period = passed%maxLookAgain, maxLookAgain
	}
	if passed < attemptTime {
		return true, 0
	}
	return false, period - passed
}
