package operator

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Limits for the number of children that a hook creates at once. An answer is
// built in memory, and Metacontroller creates its children one after the other:
// a hook that wants many asks for some of them first, and for the rest when
// those are observed.
const (
	// MaxBurst is the largest number of children that one answer creates. It is the
	// burst of a ReplicaSet.
	MaxBurst = 500
	// FirstBurst is how many are created first, before it is known whether the
	// API server accepts them: a ReplicaSet begins with one, and stops at the first
	// refusal, which no hook is told of.
	FirstBurst = 16
	// StuckBurst is how many are created while none appears. Each one that the
	// API server refuses costs one of the requests that all custom resources
	// share.
	StuckBurst = 2
)

// attemptTime is how long an attempt of [Attempt] lasts. A busy Metacontroller
// may call later than that; the hook then waits for the next attempt.
const attemptTime = 10 * time.Second

// Attempt reports whether missing children should be created now, and when the
// next attempt begins. They are created during [ChildGrace], and then in windows
// of ten seconds with exponential backoff, at least every ten minutes. Between
// them a hook may be called several times a second, by events of children that
// something else deletes as soon as they are created. Since when they are
// missing is read from the old conditions; a newer generation starts again.
func Attempt(old []metav1.Condition, generation int64, now time.Time) (isNow bool, next time.Duration) {
	observed := meta.FindStatusCondition(old, ConditionChildrenObserved)
	since, isMissing := MissingSince(old)
	if !isMissing || observed.ObservedGeneration != generation {
		return true, 0
	}
	isNow, next = attempt(now.Sub(since))
	return isNow || since.IsZero(), next
}

// attempt is Attempt for what has been missing for some time. The next attempt
// begins after the returned duration.
func attempt(missing time.Duration) (isNow bool, next time.Duration) {
	if missing < ChildGrace {
		return true, ChildGrace - max(missing, 0)
	}
	begins := ChildGrace
	for begins < maxRetryAfter && missing-begins >= begins {
		begins *= 2
	}
	passed, period := missing-begins, begins
	if begins >= maxRetryAfter {
		passed, period = passed%maxRetryAfter, maxRetryAfter
	}
	return passed < attemptTime, period - passed
}
