package loadtest

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// slowly is how somebody sends who wants to hold what others need.
type slowly struct {
	declared, sent int
}

// send opens connection after connection, each of which declares a body, sends
// some of it at once and from then on a byte a second, until ctx ends.
func (s slowly) send(ctx context.Context, address string) {
	dialer := net.Dialer{Timeout: 5 * time.Second}
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

// TestSlowSendersHoldNobodyUp: 500 of them, while honest requests come and the kubelet asks
// how it goes. They send nearly nothing, most of what is read before a body counts in the
// memory budget, or more than that.
func TestSlowSendersHoldNobodyUp(t *testing.T) {
	const senders = 500
	for _, sent := range []int{1, 60_000, 70_000} {
		t.Run(fmt.Sprintf("that send %d bytes", sent), func(t *testing.T) {
			p := start(t)
			ctx, stop := context.WithCancel(t.Context())
			var group sync.WaitGroup
			for i := range senders {
				how := slowly{[]int{100_000, 1_000_000, 9_000_000, largestBody}[i%4], sent}
				group.Go(func() { how.send(ctx, p.hooks) })
			}
			defer group.Wait()
			defer stop()
			time.Sleep(1500 * time.Millisecond) // all have begun
			honest, health := &tally{}, &tally{}
			askHonestly(ctx, t, p, honest, health)
			t.Logf("honest: %s; health: %s", honest, health)
			require.LessOrEqual(t, float64(len(honest.bad)), 0.01*float64(honest.all), "%v", honest.bad)
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

// tally counts what was not answered with 200.
type tally struct {
	mu      sync.Mutex
	all     int
	slowest time.Duration
	bad     []string
}

func (c *tally) add(got answer, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all++
	c.slowest = max(c.slowest, got.took)
	if err != nil || got.code != http.StatusOK {
		c.bad = append(c.bad, fmt.Sprint(got, err))
	}
}

// String sums up.
func (c *tally) String() string {
	return fmt.Sprintf("%d asked, %d not answered, the slowest took %s", c.all, len(c.bad), c.slowest)
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
