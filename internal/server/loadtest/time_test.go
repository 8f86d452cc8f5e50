package loadtest

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// slowly is how somebody sends who wants to hold what others need.
type slowly struct {
	declared, sent int
	from           string // address
}

// send opens connection after connection, each of which declares a body, sends
// some of it at once and from then on a byte a second, until ctx ends.
func (s slowly) send(ctx context.Context, address string) {
	dialer := net.Dialer{Timeout: 5 * time.Second, LocalAddr: &net.TCPAddr{IP: net.ParseIP(s.from)}}
	head := fmt.Sprintf("POST /podset/sync HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n{%s", s.declared, strings.Repeat(" ", s.sent-1))
	for ctx.Err() == nil {
		conn, err := dialer.DialContext(ctx, "tcp", address)
		if err != nil {
			continue
		}
		stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
		_, err = io.WriteString(conn, head)
		ended := make(chan struct{})
		go func() { defer close(ended); _, _ = io.Copy(io.Discard, conn) }()
		for tick := time.NewTicker(time.Second); err == nil; {
			select {
			case <-ended:
				err = io.EOF
			case <-tick.C:
				_, err = conn.Write([]byte(" "))
			}
		}
		stop()
		_ = conn.Close()
		<-ended
	}
}

// TestSlowSendersHoldNobodyUp: very many of them, while honest requests come and
// the kubelet asks how it goes. They send nearly nothing, or as much as makes the
// server take the next larger buffer, or all that is read before a large body has
// to wait for its memory. From the address of the honest ones there are fewer: one
// that has all connections is refused the next.
func TestSlowSendersHoldNobodyUp(t *testing.T) {
	for _, c := range []struct {
		connections, sent int
		addresses         []string
	}{
		{500, 1, []string{"127.0.0.1"}},
		{900, 1025, []string{"127.0.0.1"}},
		{900, 33_000, []string{"127.0.0.1"}},
		{2000, 33_000, []string{"127.0.1.1", "127.0.1.2", "127.0.1.3", "127.0.1.4"}},
		{1000, 64 << 10, []string{"127.0.0.1", "127.0.1.1"}},
	} {
		t.Run(fmt.Sprintf("%d that send %d bytes from %d addresses", c.connections, c.sent, len(c.addresses)), func(t *testing.T) {
			p := start(t)
			ctx, stop := context.WithCancel(t.Context())
			var group sync.WaitGroup
			for i := range c.connections {
				how := slowly{[]int{70_000, 9_000_000, largestBody}[i%3], c.sent, c.addresses[i%len(c.addresses)]}
				group.Go(func() { how.send(ctx, p.hooks) })
			}
			defer group.Wait()
			defer stop()
			time.Sleep(1500 * time.Millisecond) // all have begun
			honest, health := &tally{most: 2 * time.Second}, &tally{most: time.Second}
			askHonestly(ctx, t, p, honest, health)
			t.Logf("honest: %s; health: %s", honest, health)
			require.Less(t, float64(len(honest.bad)), 0.01*float64(honest.all), "%v", honest.bad)
			require.Empty(t, health.bad)
			p.requireAlive(t)
		})
	}
}

// askHonestly asks 40 times a second, as Metacontroller and the kubelet would.
func askHonestly(ctx context.Context, t *testing.T, p *process, honest, health *tally) {
	const seconds = 6
	var asked sync.WaitGroup
	client, body := client(t), podSet(3, 3, "")
	for range 40 * seconds {
		asked.Go(func() {
			got, err := post(ctx, client, "http://"+p.hooks+"/podset/sync", body)
			honest.add(got, err)
		})
		asked.Go(func() {
			got, err := get(ctx, client, "http://"+p.health+"/healthz")
			health.add(got, err)
		})
		time.Sleep(time.Second / 40)
	}
	asked.Wait()
}

// tally counts what was not answered with 200 in time.
type tally struct {
	mu      sync.Mutex
	most    time.Duration
	all     int
	slowest time.Duration
	bad     []string
}

func (c *tally) add(got answer, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all++
	c.slowest = max(c.slowest, got.took)
	if err != nil || got.code != http.StatusOK || got.took > c.most {
		c.bad = append(c.bad, fmt.Sprint(got, err))
	}
}

// String sums up.
func (c *tally) String() string {
	return fmt.Sprintf("%d asked, %d not answered in %s, the slowest took %s", c.all, len(c.bad), c.most, c.slowest)
}

func get(ctx context.Context, client *http.Client, url string) (answer, error) {
	started := time.Now()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return answer{}, err
	}
	response, err := client.Do(request)
	if err != nil {
		return answer{}, err
	}
	return answer{code: response.StatusCode, took: time.Since(started)}, response.Body.Close()
}

// TestWorkStopsWhenClientsHangUp: a second later the processors are idle. What
// is measured is their time and not that of the clock, so that a busy machine
// makes no difference.
func TestWorkStopsWhenClientsHangUp(t *testing.T) {
	// 27,000 small Pods: they come in no time, wait, and take half a second each.
	p, body := start(t), tinyPods(2<<20)
	ctx, hangUp := context.WithCancel(t.Context())
	var group sync.WaitGroup
	var answered atomic.Int32
	for range 40 {
		client := client(t)
		group.Go(func() {
			for ctx.Err() == nil {
				if got, err := post(ctx, client, "http://"+p.hooks+"/podset/sync", body); err == nil && got.code != 0 {
					answered.Add(1)
				}
			}
		})
	}
	for range 20 {
		group.Go(func() { slowly{9_000_000, 1, "127.0.0.1"}.send(ctx, p.hooks) })
	}
	require.Eventually(t, func() bool { return answered.Load() >= 3 }, 30*time.Second, time.Millisecond, "it is at work")
	before := p.processorTime(t)
	hangUp()
	group.Wait()
	after := before
	for began := time.Now(); ; {
		time.Sleep(500 * time.Millisecond)
		last := after
		after = p.processorTime(t)
		if after-last < 20*time.Millisecond {
			break
		}
		require.Less(t, time.Since(began), 30*time.Second, "the processors do not become idle")
	}
	t.Logf("from the moment at which all hung up until it was idle it took %s of a processor", after-before)
	require.Less(t, after-before, time.Second)
	p.requireAlive(t)
}
