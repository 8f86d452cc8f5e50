package operettatest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/processor"
)

// RequireGrowth fails the test where one call uses more than so many times as much of a
// processor as another, which has less to do: as where four times as many children cost
// sixteen times as much, for each is looked for among all others. It tries several times,
// for a busy machine can only make it seem more. Neither call may start a goroutine. On
// Linux other processes do not count; elsewhere it measures by the clock.
func RequireGrowth(t testing.TB, most float64, less, more func()) {
	t.Helper()
	ratio, times, err := processor.Growth(most, less, more)
	require.NoError(t, err)
	t.Logf("%.1f times as much: %s and %s", ratio, times[0], times[1])
	if ratio > most {
		t.Fatalf("it costs %.1f times as much, and at most %.1f times is wanted: %s and %s", ratio, most, times[0], times[1])
	}
}
