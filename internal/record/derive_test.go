package record

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestAHookIsAskedAgainWithinLimits of time for all questions about one exchange together.
func TestAHookIsAskedAgainWithinLimits(t *testing.T) {
	ended, cancel := context.WithCancelCause(t.Context())
	late := errors.New("late")
	cancel(late)
	a := asker{exchange(t, request(`{"text":"x"}`, "{}", "{}")), ended}
	_, err := a.ask(a.Hook, a.Now, a.Request)
	require.ErrorIs(t, err, late)
	require.Equal(t, errTooLarge, a.failure())
}

// TestAnExchangeHasADeadline: a hook is not asked for ever, in however many
// questions.
func TestAnExchangeHasADeadline(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	e := exchange(t, request(`{"text":"x"}`, "{}", "{}"))
	e.Controller = toyThat(func(*box) {
		asked.Add(1)
		time.Sleep(askTime*2/5 + 100*time.Millisecond)
	})
	r, log := start(t, t.TempDir())
	r.Record(e)
	require.Eventually(t, func() bool {
		r.mutex.Lock()
		defer r.mutex.Unlock()
		return r.dropped[dropLarge] == 1
	}, 60*time.Second, 10*time.Millisecond)
	require.EqualValues(t, 3, asked.Load(), "the third question ends too late")
	r.Close()
	require.Contains(t, log.String(), "dropped_large=1")
}
