package operettatest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// shortest is what is too short to be measured.
const shortest = 5 * time.Millisecond

// RequireGrowth fails the test where one call uses more than so many times as much of a
// processor as another, which has less to do: as where four times as many children cost
// sixteen times as much, for each is looked for among all others. It tries several times,
// for a busy machine can only make it seem more. Neither call may start a goroutine. On
// Linux other processes do not count; elsewhere it measures by the clock.
func RequireGrowth(t testing.TB, most float64, less, more func()) {
	t.Helper()
	less() // what is done only once
	var ratio float64
	var times [2]time.Duration
	for try := 0; try < 8 && (try == 0 || ratio > most); try++ {
		for i, call := range []func(){less, more} {
			took, err := processorTime(call)
			require.NoError(t, err)
			if try == 0 || took < times[i] {
				times[i] = took
			}
		}
		ratio = float64(times[1]) / float64(max(times[0], shortest))
	}
	t.Logf("%.1f times as much: %s and %s", ratio, times[0], times[1])
	if ratio > most {
		t.Fatalf("it costs %.1f times as much, and at most %.1f times is wanted: %s and %s", ratio, most, times[0], times[1])
	}
}
