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
	for missing, next := range map[time.Duration]struct {
		isNow bool
		in    time.Duration
	}{
		-time.Hour: {true, 30 * s}, 0: {true, 30 * s}, 29 * s: {true, s}, 30 * s: {true, 30 * s}, 39 * s: {true, 21 * s}, 40 * s: {false, 20 * s}, 59 * s: {false, s},
		60 * s: {true, 60 * s}, 70 * s: {false, 50 * s}, 120 * s: {true, 120 * s}, 130 * s: {false, 110 * s}, 240 * s: {true, 240 * s}, 480 * s: {true, 480 * s},
		490 * s: {false, 470 * s}, 960 * s: {true, 10 * m}, 970 * s: {false, 590 * s}, 16*m + 10*m: {true, 10 * m}, 16*m + 10*m + 10*s: {false, 590 * s},
		16*m + 1000*10*m + 11*s: {false, 589 * s},
	} {
		isNow, in := Attempt(missingSince(noon.Add(-missing)), 1, noon)
		require.Equal(t, next.isNow, isNow, missing)
		require.Equal(t, next.in, in, missing)
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
