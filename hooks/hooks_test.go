package hooks_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/metacontroller"
)

// TestOperatorsAreDistinct refuses two operators of one name: one would take the
// routes, the files and the CompositeController of the other.
func TestOperatorsAreDistinct(t *testing.T) {
	var last string
	for _, controller := range hooks.All() {
		require.Less(t, last, controller.Name(), "the list is sorted, and no name stands twice")
		last = controller.Name()
	}
}

// TestCallsShareNothing answers every case twice at once, as the server does.
// It is what the race detector is for, and the only test here that needs it:
// `make unit` runs it so.
func TestCallsShareNothing(t *testing.T) {
	for _, e := range cases(t) {
		t.Run(e.name, func(t *testing.T) {
			var answers [2]metacontroller.Answer
			var errs [2]error
			var calls sync.WaitGroup
			for i := range answers {
				calls.Go(func() { answers[i], errs[i] = e.call() })
			}
			calls.Wait()
			require.Equal(t, errs[0], errs[1])
			require.Equal(t, string(answers[0].Body), string(answers[1].Body))
		})
	}
}
