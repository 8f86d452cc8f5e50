package hooks_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/internal/laws"
	"github.com/operetta-dev/operetta/internal/testenv"
	"github.com/operetta-dev/operetta/metacontroller"
)

const (
	// allocatedForReserved is how many bytes a call may allocate for each byte that it
	// reserves or that its request has. A growing list allocates four times what it holds
	// at the end, and a call holds only some of what it allocates.
	allocatedForReserved = 4.6
	// allocatedForText is the same where one text is long: nothing grows then.
	allocatedForText = 3.2
)

// TestWhatIsAllocatedIsReserved writes a very large value into each place of the requests,
// and compares what the call allocates with what it has reserved: if a hook copied a text
// of megabytes that it has not reserved, a few such requests would end the process.
func TestWhatIsAllocatedIsReserved(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures, and takes long: make cover")
	}
	var pairs []string
	for i := range 40_000 {
		pairs = append(pairs, fmt.Sprintf(`"k%d":"v"`, i))
	}
	large := map[string]string{
		"text":    `"` + strings.Repeat("x", 1<<20) + `"`,
		"map":     `{` + strings.Join(pairs, ",") + `}`,
		"objects": `[{}` + strings.Repeat(`,{}`, 100_000) + `]`,
	}
	tried := map[string]bool{}
	for _, c := range cases(t) {
		_, err := c.Call() // compiles the schema
		_ = err
		for place, path := range placesOf(t, c.Request) {
			for name, value := range large {
				key := strings.Join([]string{c.Controller.Name(), string(c.Hook), path, name}, " ")
				if tried[key] || !testenv.Sampled(key, 64) {
					continue
				}
				tried[key] = true
				body := laws.Replaced(c.Request, place, []byte(value))
				allocated, reserved := costOf(t, c, body)
				most := allocatedForReserved
				if name == "text" {
					most = allocatedForText
				}
				if ratio := float64(allocated) / float64(reserved+int64(len(body))); ratio > most {
					t.Errorf("%s: %d bytes allocated, %d reserved, and the request has %d: %.1f times", key, allocated, reserved, len(body), ratio)
				}
			}
		}
	}
	require.Greater(t, len(tried), 20)
}

// costOf answers a request, and returns the bytes that were allocated and reserved.
func costOf(t *testing.T, c corpus.Case, body []byte) (allocated, reserved int64) {
	limits := metacontroller.Limits{Reserve: func(n int64) error {
		reserved += n
		return nil
	}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _ = c.Controller.CallContext(t.Context(), c.Hook, c.Now, body, limits) // refused or not
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc), reserved //nolint:gosec // no process allocates so much
}

// placesOf returns the places of a request as [laws.Replaced] counts them, each with its
// path, in which the names of objects, labels and the like and the indexes are "*".
func placesOf(t *testing.T, body []byte) map[uint16]string {
	var request any
	require.NoError(t, json.Unmarshal(body, &request))
	named := []string{"labels", "annotations", "data", "managedFields"}
	places := map[uint16]string{}
	var last uint16
	var walk func(at any, path ...string)
	walk = func(at any, path ...string) {
		last++
		places[last] = strings.Join(path, ".")
		switch at := at.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(at)) {
				name := key
				if len(path) == 2 && path[0] != "parent" || len(path) > 2 && slices.Contains(named, path[len(path)-1]) {
					name = "*"
				}
				walk(at[key], append(slices.Clone(path), name)...)
			}
		case []any:
			for _, item := range at {
				walk(item, append(slices.Clone(path), "*")...)
			}
		}
	}
	walk(request)
	return places
}
