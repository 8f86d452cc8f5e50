package hooks_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/compact"
	"github.com/operetta-dev/operetta/metacontroller"
)

// TestCompactRequestsAreAnsweredAlike holds that what the server leaves out of a
// request is nothing that a hook reads: in every case, and with values of other
// types in places all over it.
func TestCompactRequestsAreAnsweredAlike(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same places in every run
	values := []string{`null`, `0`, `1e99`, `"x"`, `""`, `[]`, `[null]`, `{}`, `{"a":null}`, `true`}
	smaller := 0
	for _, e := range cases(t) {
		smaller += len(e.request) - len(requireAlike(t, e))
		for i := range 20 {
			if !sampled(e.name+strconv.Itoa(i), 5) {
				continue
			}
			damaged := e
			damaged.request = replaced(e.request, uint16(1+random.IntN(countValues(parsed(t, e.request)))), []byte(values[random.IntN(len(values))]))
			requireAlike(t, damaged)
		}
	}
	require.Positive(t, smaller)
}

func requireAlike(t *testing.T, e exchange) []byte {
	t.Helper()
	short, err := io.ReadAll(compact.NewReader(bytes.NewReader(e.request), e.controller))
	require.NoError(t, err)
	want, wantErr := e.call()
	got, gotErr := e.controller.Call(e.hook, e.now, short)
	if wantErr != nil {
		// A damaged value that no hook reads may be left out.
		if gotErr != nil {
			require.Equal(t, metacontroller.IsRequestError(wantErr), metacontroller.IsRequestError(gotErr), e.name)
			require.Equal(t, wantErr.Error(), gotErr.Error(), e.name)
		}
		return short
	}
	require.NoError(t, gotErr, e.name)
	require.Equal(t, string(want.Body), string(got.Body), e.name)
	return short
}
