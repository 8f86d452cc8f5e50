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

// TestCallIsCanceled wherever it is, and is not taken for an empty world: a
// finalize hook would let all go.
func TestCallIsCanceled(t *testing.T) {
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

// TestTextsAreNoObjects: a script may have as many braces as it likes.
func TestTextsAreNoObjects(t *testing.T) {
	for _, text := range []string{"{", "null", `\"{`, `\\{`} {
		request := strings.Replace(string(ask(false, "", "")), `"text":"hello"`, `"text":"`+strings.Repeat(text, maxNestedObjects+1)+`"`, 1)
		_, err := controllerOf(many(1, 0)).Call(SyncHook, time.Now(), []byte(request))
		require.NoError(t, err, text)
	}
}

// TestLargeIsCalledOnce, before its children are hashed or written, and not at
// all where they are small. Its error ends the call where the hook compares as well
// as where it does not.
func TestLargeIsCalledOnce(t *testing.T) {
	elsewhere := errors.New("elsewhere")
	for _, compares := range []bool{false, true} {
		hook := func(count, size int) Controller {
			return controllerOf(func(g *greeting, seen Observed) (greetingResult, error) {
				result, err := many(count, size)(g, seen)
				if compares && err == nil {
					_, err = seen.Compare(result.Children)
				}
				return result, err
			})
		}
		for _, c := range []struct {
			count, size, told int
		}{{10, 1000, 0}, {1000, 10, 0}, {300, 1000, 1}, {2, 200_000, 1}} {
			told := 0
			_, err := hook(c.count, c.size).CallContext(t.Context(), SyncHook, time.Now(), ask(false, "", ""), Limits{Large: func() error { told++; return nil }})
			require.NoError(t, err)
			require.Equal(t, c.told, told, "%+v", c)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := hook(2000, 100_000).CallContext(t.Context(), SyncHook, time.Now(), ask(false, "", ""), Limits{Large: func() error { return elsewhere }})
		runtime.ReadMemStats(&after)
		require.ErrorIs(t, err, elsewhere)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8<<20), "three of 2000 children of 100 kB have been looked at")
	}
}

// TestCompareIsCanceled at the next child once nobody waits for it.
func TestCompareIsCanceled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	late := errors.New("too late")
	var before, after runtime.MemStats
	_, err := controllerOf(func(g *greeting, seen Observed) (greetingResult, error) {
		result, err := many(2000, 100_000)(g, seen)
		require.NoError(t, err)
		require.NoError(t, seen.Wanted())
		cancel(late)
		require.ErrorIs(t, seen.Wanted(), late)
		runtime.ReadMemStats(&before)
		_, err = seen.Compare(result.Children)
		runtime.ReadMemStats(&after)
		require.ErrorIs(t, err, late)
		return greetingResult{}, nil // a hook that takes an end for something else
	}).CallContext(ctx, SyncHook, time.Now(), ask(false, "", ""), Limits{})
	require.ErrorIs(t, err, late)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
}

// TestWantedCostsLittle, so that a hook can ask in its innermost loop.
func TestWantedCostsLittle(t *testing.T) {
	_, err := controllerOf(func(_ *greeting, seen Observed) (greetingResult, error) {
		require.Zero(t, testing.AllocsPerRun(1000, func() { _ = seen.Wanted() }))
		return many(1, 0)(nil, seen)
	}).Call(SyncHook, time.Now(), ask(false, "", ""))
	require.NoError(t, err)
	require.NoError(t, Observed{}.Wanted(), "one that was made without a call")
}
