package operator

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

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
		isNow, in := attempt(missing)
		require.Equal(t, next.isNow, isNow, missing)
		require.Equal(t, next.in, in, missing)
	}
}

// TestAttemptEndsWhateverTheTime: a status is anybody's who may write it, and durations
// saturate.
func TestAttemptEndsWhateverTheTime(t *testing.T) {
	for _, missing := range []time.Duration{math.MinInt64, math.MaxInt64} {
		_, next := attempt(missing)
		require.LessOrEqual(t, next, 10*time.Minute)
		require.GreaterOrEqual(t, next, time.Duration(0))
	}
}
