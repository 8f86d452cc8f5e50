package loadtest

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const largestBody = 64 << 20

// TestFloods sends more at once than the process has memory for. It lives, refuses what it
// cannot take, and answers an honest request meanwhile and afterwards.
func TestFloods(t *testing.T) {
	for name, c := range map[string]struct {
		times   int
		body    func() []byte
		allowed []int
	}{
		"60 of 64 MiB":                       {60, func() []byte { return padded(podSet(5000, 7000, ""), largestBody) }, []int{200, 413, 429, 500}},
		"60 of 9 MB":                         {60, func() []byte { return podSet(1000, 1000, "") }, []int{200, 429}},
		"10 of 50 MB":                        {10, func() []byte { return podSet(5000, 5400, "") }, []int{200, 413, 429, 500}},
		"60 of more than 64 MiB":             {60, func() []byte { return padded(nil, largestBody+1) }, []int{413}},
		"10 of 5,000 Pods of 200 KB to come": {10, func() []byte { return podSet(5000, 0, template(200<<10)) }, []int{200, 413, 429, 500}},
		"3 with a size of two billions":      {3, func() []byte { return podSet(2_000_000_000, 0, "") }, []int{200, 400, 500}},
	} {
		t.Run(name, func(t *testing.T) {
			p, body := start(t), c.body()
			ctx, stop := context.WithCancel(t.Context())
			honest := &tally{}
			var asking sync.WaitGroup
			asking.Go(func() {
				client, small := client(t), podSet(3, 3, "")
				for ctx.Err() == nil {
					got, err := post(t.Context(), client, "http://"+p.hooks+"/podset/sync", small)
					honest.add(got, err)
					time.Sleep(100 * time.Millisecond)
				}
			})
			codes := atOnce(t, p, c.times, body)
			time.Sleep(time.Second)
			stop()
			asking.Wait()
			t.Logf("honest: %s", honest)
			requireCodes(t, codes, c.times, c.allowed...)
			require.Empty(t, honest.bad)
			p.requireAlive(t)
		})
	}
}

// TestHonestRequestsAllEndWell sends 60 requests of 9 MB at once, as
// Metacontroller would: after 429 it comes again when it was told to, at once
// where it was not, and after any other error in a while.
func TestHonestRequestsAllEndWell(t *testing.T) {
	const times = 60
	p, client, body := start(t), client(t), podSet(1000, 1000, "")
	t.Logf("%d bytes each", len(body))
	var group sync.WaitGroup
	var answered, refused, failed atomic.Int32
	started := time.Now()
	for range times {
		group.Go(func() {
			for time.Since(started) < hang {
				got, err := post(t.Context(), client, "http://"+p.hooks+"/podset/sync", body)
				switch {
				case err == nil && got.code == http.StatusOK:
					answered.Add(1)
					return
				case err == nil && got.code == http.StatusTooManyRequests:
					refused.Add(1)
					time.Sleep(got.retryAfter)
				default:
					failed.Add(1)
					t.Logf("%d %s %v", got.code, got.text, err)
					time.Sleep(time.Second)
				}
			}
		})
	}
	group.Wait()
	t.Logf("after %s: %d answered, %d times 429, %d times something else", time.Since(started), answered.Load(), refused.Load(), failed.Load())
	require.EqualValues(t, times, answered.Load())
	p.requireAlive(t)
}
