package loadtest

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// How a Pod ends: the kubelet sends SIGTERM at the time at which the Pod begins to be
// taken out of its Service, which the last node does later.
const (
	drainDelay   = 1500 * time.Millisecond
	endpointsLag = time.Second
)

// TestRollingRestartLosesNoRequest ends the two replicas one after the other, each
// replaced by another, while requests flow to both over kept connections, as those of
// Metacontroller's client.
func TestRollingRestartLosesNoRequest(t *testing.T) {
	flag := fmt.Sprint("--drain-delay=", drainDelay)
	replicas := []*process{start(t, flag), start(t, flag)}
	in := newService(t, replicas[0].hooks, replicas[1].hooks)
	url := "http://" + in.Addr().String() + "/podset/sync"

	var stopped atomic.Bool
	var group sync.WaitGroup
	var answers [1000]atomic.Int32
	var failures sync.Map
	for worker := range 24 {
		client, body := client(t), podSet(3, worker%4, "")
		group.Go(func() {
			for i := 0; !stopped.Load(); i++ {
				got, err := post(t.Context(), client, url, body)
				answers[got.code].Add(1)
				if err != nil || got.code != http.StatusOK {
					failures.Store(time.Now(), fmt.Sprintf("%d %s %v", got.code, got.text, err))
				}
				pause := 2 * time.Millisecond // the servers that start want processor time
				if worker%3 == 0 {            // so that connections are idle, too
					pause = time.Duration(5+i%40) * time.Millisecond
				}
				time.Sleep(pause)
				if worker%4 == 0 && i%10 == 9 { // as one that nobody has used for a while
					client.CloseIdleConnections()
				}
			}
		})
	}
	time.Sleep(500 * time.Millisecond)
	for i, old := range replicas {
		other, before := replicas[1-i].hooks, in.connections(old.hooks)
		require.NoError(t, old.Process.Signal(syscall.SIGTERM))
		time.Sleep(endpointsLag)
		require.Greater(t, in.connections(old.hooks), before, "connections come after SIGTERM")
		in.set(other)
		replicas[i] = start(t, flag)
		in.set(other, replicas[i].hooks)
		select {
		case err := <-old.ended:
			old.ended <- err
			require.NoError(t, err)
		case <-time.After(hang):
			require.Fail(t, "the drain does not end")
		}
		require.Eventually(t, func() bool { return in.connections(replicas[i].hooks) > 0 }, hang, 10*time.Millisecond, "its successor is asked")
	}
	stopped.Store(true)
	group.Wait()
	lost := map[any]any{}
	failures.Range(func(at, failure any) bool { lost[at] = failure; return true })
	t.Logf("answers: %d x 200", answers[http.StatusOK].Load())
	require.Empty(t, slices.Collect(maps.Values(lost)))
	require.NotZero(t, answers[http.StatusOK].Load())
}
