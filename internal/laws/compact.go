package laws

import (
	"bytes"
	"io"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/compact"
	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/internal/testenv"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Compact requires that no hook reads what the server leaves out of a request:
// in the request itself, and with values of other types all over it.
func Compact(t *testing.T, c corpus.Case) {
	random := rand.New(rand.NewPCG(1, uint64(len(c.Request)))) // the same places in every run
	values := []string{`null`, `0`, `1e99`, `"x"`, `""`, `[]`, `[null]`, `{}`, `{"a":null}`, `true`}
	requireAlike(t, c)
	places := CountValues(Parsed(t, c.Request))
	for i := range 20 {
		if !testenv.Sampled(c.Name+strconv.Itoa(i), 5) {
			continue
		}
		damaged := c
		damaged.Request = Replaced(c.Request, uint16(1+random.IntN(places)), []byte(values[random.IntN(len(values))]))
		requireAlike(t, damaged)
	}
}

// requireAlike compares the answer to a request with that to what the server reads
// of it.
func requireAlike(t *testing.T, c corpus.Case) {
	t.Helper()
	short, err := io.ReadAll(compact.NewReader(bytes.NewReader(c.Request), c.Controller))
	require.NoError(t, err)
	want, wantErr := c.Call()
	got, gotErr := c.Controller.Call(c.Hook, c.Now, short)
	if wantErr != nil {
		// A damaged value that no hook reads may be left out.
		if gotErr != nil {
			require.Equal(t, metacontroller.IsRequestError(wantErr), metacontroller.IsRequestError(gotErr))
			require.Equal(t, wantErr.Error(), gotErr.Error())
		}
		return
	}
	require.NoError(t, gotErr)
	require.Equal(t, string(want.Body), string(got.Body))
}
