package operator

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// missingSince are the conditions of a parent whose children have been missing for so long.
func missingSince(at time.Time) []metav1.Condition {
	return []metav1.Condition{{Type: ConditionChildrenObserved, Status: metav1.ConditionFalse, ObservedGeneration: 1, LastTransitionTime: metav1.NewTime(at)}}
}

func TestAttempt(t *testing.T) {
	const s, m = time.Second, time.Minute
	for missing, wait := range map[time.Duration]time.Duration{
		-time.Hour: 0, 0: 0, 29 * s: 0, 30 * s: 0, 39 * s: 0, 40 * s: 20 * s, 59 * s: s, 60 * s: 0, 70 * s: 50 * s, 120 * s: 0, 130 * s: 110 * s,
		240 * s: 0, 480 * s: 0, 490 * s: 470 * s, 960 * s: 0, 970 * s: 590 * s, 16*m + 10*m: 0, 16*m + 10*m + 10*s: 590 * s, 16*m + 1000*10*m + 11*s: 589 * s,
	} {
		isNow, next := Attempt(missingSince(noon.Add(-missing)), 1, noon)
		require.Equal(t, wait == 0, isNow, missing)
		require.Equal(t, wait, next, missing)
	}
	isNow, _ := Attempt(missingSince(noon.Add(-50*s)), 2, noon)
	require.True(t, isNow, "an edit begins anew")
	isNow, _ = Attempt(nil, 1, noon)
	require.True(t, isNow)
}

// TestAttemptEndsWhateverTheTime: a status is anybody's who may write it, and durations
// saturate.
func TestAttemptEndsWhateverTheTime(t *testing.T) {
	for _, at := range []time.Time{{}, time.Date(1, 1, 1, 0, 0, 0, 1, time.UTC), time.Date(1700, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(0, math.MinInt64), time.Unix(0, math.MaxInt64)} {
		_, next := Attempt(missingSince(at), 1, noon)
		require.LessOrEqual(t, next, 10*time.Minute, at)
		require.GreaterOrEqual(t, next, time.Duration(0), at)
	}
}
