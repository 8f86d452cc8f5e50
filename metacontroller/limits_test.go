package metacontroller

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// many returns a hook that asks for so many config maps of a size.
func many(count, size int) func(*greeting, Observed) (greetingResult, error) {
	text := strings.Repeat("x", size)
	return func(*greeting, Observed) (greetingResult, error) {
		var result greetingResult
		for i := range count {
			child := configMap(fmt.Sprintf("c-%d", i))
			child.Data = map[string]string{"text": text}
			result.Children = append(result.Children, child)
		}
		return result, nil
	}
}

// TestAnswerThatIsTooLargeIsRefusedBeforeItIsBuilt names the fields that make
// it so.
func TestAnswerThatIsTooLargeIsRefusedBeforeItIsBuilt(t *testing.T) {
	request := []byte(strings.Replace(string(ask(false, "", "")), `"replicas":9007199254740993`, `"replicas":2000,"list":["`+strings.Repeat("y", 100)+`"]`, 1))
	controller := controllerOf(many(2000, 100_000))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	answer, err := controller.CallContext(t.Context(), SyncHook, time.Now(), request, Limits{MaxAnswerBytes: 4 << 20})
	runtime.ReadMemStats(&after)
	require.EqualError(t, err, "the answer with its 2000 children would be larger than 4194304 bytes: "+
		"make spec.replicas (now 2000) or spec.list (now 104 bytes) smaller")
	require.Nil(t, answer.Body)
	require.Empty(t, answer.Children)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20), "not the 200 MB of the whole answer")
}

func TestMoreChildrenThanAnAnswerHoldsAreNotLookedAt(t *testing.T) {
	_, err := controllerOf(many(100_000, 0)).CallContext(t.Context(), SyncHook, time.Now(), ask(false, "", ""), Limits{MaxAnswerBytes: 1 << 20})
	require.ErrorContains(t, err, "the answer with its 100000 children would be larger than 1048576 bytes")
}

// TestLargeAnswerIsTheSame: however its buffer grows.
func TestLargeAnswerIsTheSame(t *testing.T) {
	var reserved int64
	controller := controllerOf(many(300, 50_000))
	answer, err := controller.CallContext(t.Context(), SyncHook, time.Now(), ask(false, "", ""), Limits{
		Reserve: func(n int64) error { reserved += n; return nil },
	})
	require.NoError(t, err)
	require.Len(t, answer.Children, 300)
	require.Equal(t, 300, strings.Count(string(answer.Body), strings.Repeat("x", 50_000)))
	require.GreaterOrEqual(t, reserved, int64(cap(answer.Body)), "its memory was asked for")
	require.Less(t, reserved, 2*int64(len(answer.Body)))
}

// TestCallIsGivenUp wherever it is, and is not taken for an empty world: a
// finalize hook would let all go.
func TestCallIsGivenUp(t *testing.T) {
	var pods []string
	for i := range 300 {
		pods = append(pods, observed("Pod", fmt.Sprintf("p-%d", i), ""))
	}
	late := errors.New("too late")
	for _, finalizing := range []bool{false, true} {
		hook := map[bool]HookName{false: SyncHook, true: FinalizeHook}[finalizing]
		request := ask(finalizing, "", strings.Join(pods, ","))
		for stopAt := range 12 {
			ctx, cancel := context.WithCancelCause(t.Context())
			looks := 0
			controller := controllerOf(func(_ *greeting, seen Observed) (greetingResult, error) {
				_, err := List[struct{}](seen.Children, "v1", "Pod")
				return greetingResult{}, err
			})
			answer, err := controller.CallContext(ctx, hook, time.Now(), request, Limits{Reserve: func(int64) error {
				if looks++; looks > stopAt {
					cancel(late)
				}
				return nil
			}})
			if looks <= stopAt {
				require.NoError(t, err)
				continue
			}
			require.ErrorIs(t, err, late, "%s, stopped at %d", hook, stopAt)
			require.False(t, IsRequestError(err))
			require.Nil(t, answer.Body)
		}
	}
}

func TestReserveEndsTheCall(t *testing.T) {
	full := errors.New("full")
	_, err := controllerOf(many(1, 0)).CallContext(t.Context(), SyncHook, time.Now(), ask(false, "", observed("Pod", "p", "")),
		Limits{Reserve: func(int64) error { return full }})
	require.ErrorIs(t, err, full)
}

// TestParentThatDecodesToTooMuch: four bytes of text may be a kilobyte of Go.
func TestParentThatDecodesToTooMuch(t *testing.T) {
	for _, element := range []string{"{}", "null"} {
		list := strings.Repeat(element+",", 30_000) + element
		with := func(finalizing bool) []byte {
			return []byte(strings.Replace(string(ask(finalizing, "", "")), `"text":"hello"`, `"text":"hello","list":[`+list+`]`, 1))
		}
		controller := controllerOf(many(1, 0))
		_, err := controller.Call(SyncHook, time.Now(), with(false))
		require.True(t, IsRequestError(err))
		require.ErrorContains(t, err, "spec has more than 20000 objects in it: make it smaller")

		controller.Finalize = Finalize(func(g *greeting, seen Observed) (greetingResult, error) {
			require.True(t, seen.SpecDamaged)
			require.Empty(t, g.Spec.Text, "nothing of it is decoded")
			require.Equal(t, "hi", g.Name)
			return greetingResult{Status: map[string]any{}, Finalized: true}, nil
		})
		answer, err := controller.Call(FinalizeHook, time.Now(), with(true))
		require.NoError(t, err, "it can be deleted all the same")
		require.Contains(t, string(answer.Body), `"finalized":true`)
	}
}
