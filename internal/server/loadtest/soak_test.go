package loadtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/internal/corpus"
)

const (
	// soakSamples is how often a soak looks at the server.
	soakSamples = 60
	// soakWorkers send one request after the other, each on a connection of its own or a
	// kept one.
	soakWorkers = 8
)

// soaked is what must not grow, and by what it may be higher in the second half of a soak
// than in the first, as a factor and an amount.
var soaked = map[string]struct{ factor, amount float64 }{
	"process_resident_memory_bytes": {1.1, 16 << 20},
	"go_goroutines":                 {1.1, 4},
	"process_open_fds":              {1.1, 4},
}

// TestSoak sends the requests of all cases, large ones, broken ones and such as are given
// up for OPERETTA_TEST_SOAK, which is a time as in 30m, and looks whether memory,
// goroutines and file descriptors stay as they are.
func TestSoak(t *testing.T) {
	length, err := time.ParseDuration(os.Getenv("OPERETTA_TEST_SOAK"))
	if err != nil {
		t.Skip("it takes half an hour: make soak")
	}
	p, requests := start(t), soakRequests(t)
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	var group sync.WaitGroup
	var codes [600]atomic.Int64 // 0 is of those that were given up
	for i := range soakWorkers {
		group.Go(func() { soak(ctx, t, p, i, requests, &codes) })
	}
	samples := map[string][]float64{}
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-time.After(length / soakSamples):
			for name := range soaked {
				samples[name] = append(samples[name], p.gauge(t, name))
			}
		}
	}
	group.Wait()
	for code := range codes {
		if count := codes[code].Load(); count > 0 {
			t.Logf("%d answers with code %d", count, code)
		}
	}
	p.requireAlive(t)
	requireHonest(t, p)
	require.Positive(t, codes[http.StatusOK].Load())
	for name, may := range soaked {
		if detectsRaces() && name == "process_resident_memory_bytes" {
			continue
		}
		// The first part is the start, in which memory that is kept for reuse grows.
		list := samples[name]
		require.GreaterOrEqual(t, len(list), soakSamples/2, name)
		first, second := most(list[len(list)/6:len(list)/2]), most(list[len(list)/2:])
		t.Logf("%s: at most %.0f in the first half, %.0f in the second, %.0f at the end", name, first, second, list[len(list)-1])
		require.LessOrEqual(t, second, first*may.factor+may.amount, name)
	}
}

func most(list []float64) float64 {
	highest := list[0]
	for _, value := range list {
		highest = max(highest, value)
	}
	return highest
}

// soakRequest is a request and the path that it is sent to.
type soakRequest struct {
	path string
	body []byte
}

// soakRequests returns the requests of the cases and some others.
func soakRequests(t *testing.T) []soakRequest {
	t.Helper()
	cases, err := corpus.Read("../../../testdata", hooks.All())
	require.NoError(t, err)
	var list []soakRequest
	for _, c := range cases {
		list = append(list, soakRequest{"/" + c.Controller.Name() + "/" + string(c.Hook), c.Request})
	}
	require.Greater(t, len(list), 100)
	return append(list,
		soakRequest{"/podset/sync", podSet(1000, 1000, "")}, // 9 MB
		soakRequest{"/podset/sync", podSet(5000, 0, template(20<<10))},
		soakRequest{"/podset/sync", []byte("{")}, soakRequest{"/none/sync", []byte("{}")},
	)
}

// soak sends requests until ctx ends. One in a hundred is given up, and one in ten is sent
// over a new connection.
func soak(ctx context.Context, t *testing.T, p *process, seed int, requests []soakRequest, codes *[600]atomic.Int64) {
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	for own := client(t); ctx.Err() == nil; {
		request, patience := requests[random.IntN(len(requests))], hang
		if random.IntN(100) == 0 {
			patience = time.Duration(random.IntN(20)) * time.Millisecond
		}
		limited, cancel := context.WithTimeout(ctx, patience)
		got, err := post(limited, own, "http://"+p.hooks+request.path, request.body)
		cancel()
		if err != nil {
			got.code = 0
		}
		codes[got.code].Add(1)
		if random.IntN(10) == 0 {
			own.CloseIdleConnections()
		}
		time.Sleep(time.Duration(random.IntN(10)) * time.Millisecond)
	}
}

// gauge returns a metric of the process.
func (p *process) gauge(t *testing.T, name string) float64 {
	t.Helper()
	response, err := http.Get("http://" + p.health + "/metrics")
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(response.Body)
	require.NoError(t, err)
	require.NotNil(t, families[name], fmt.Sprintf("there is no metric %s", name))
	return families[name].GetMetric()[0].GetGauge().GetValue()
}
