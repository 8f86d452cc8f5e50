package operator

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestIsOlder: only what has ended is compared to the second.
func TestIsOlder(t *testing.T) {
	parent := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	for before, want := range map[time.Duration]struct{ runs, ended bool }{
		-time.Second: {}, 0: {}, time.Second: {ended: true}, clockSkew: {ended: true}, clockSkew + time.Second: {runs: true, ended: true},
	} {
		created := metav1.NewTime(parent.Add(-before))
		require.Equal(t, want.runs, IsOlder(created, parent, true), before)
		require.Equal(t, want.ended, IsOlder(created, parent, false), before)
	}
	require.False(t, IsOlder(metav1.Time{}, parent, false), "it has no time")
}
