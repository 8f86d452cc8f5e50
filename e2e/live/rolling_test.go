package live

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/operetta-dev/operetta/e2e/forwardtest"
)

// How a Pod ends: the kubelet sends SIGTERM when the Pod begins to be taken out of its
// Service, which the last node does later.
const (
	drainDelay   = 5 * time.Second // that of deploy/: less is soon over on a busy machine
	endpointsLag = time.Second
)

// testServersAreReplacedUnderLoad ends two replicas of the server one after the other, as a
// rolling restart and the drain of a node do, while Metacontroller has the custom resources
// synced that somebody edits. It hears of no failure, and no edit is lost.
func testServersAreReplacedUnderLoad(w *world) {
	const boxes = 40
	names, addresses := []string{"operetta-a", "operetta-b"}, make([]string, 2)
	for i, name := range names {
		var err error
		addresses[i], err = operetta.StartReplica(w.Context(), name, drainDelay)
		require.NoError(w, err)
	}
	defer func() {
		for _, name := range names {
			require.NoError(w, operetta.End(name))
		}
	}()
	service := forwardtest.New(w, addresses...)
	require.NoError(w, operetta.Connect("http://"+service.Addr().String(), w.mode.hookVersion))
	defer func() { require.NoError(w, operetta.Connect(operetta.HookURL, w.mode.hookVersion)) }()

	edit := func(edits int64) {
		var all strings.Builder
		for i := range boxes {
			fmt.Fprintf(&all, "---\n{apiVersion: model.github.com/v1, kind: ModelBox, metadata: {name: box-%d}, spec: {image: nginx, replicas: 0, envs: [{name: EDITS, value: \"%d\"}]}}\n", i, edits)
		}
		w.apply(all.String())
	}
	edits := new(atomic.Int64)
	edit(0)
	w.eventually("both are asked", func() error {
		for _, address := range addresses {
			if service.Connections(address) == 0 {
				return fmt.Errorf("%s is not", address)
			}
		}
		edit(edits.Add(1))
		return nil
	})
	done := make(chan struct{})
	var editor errgroup.Group
	editor.Go(func() error {
		for {
			select {
			case <-done:
				return nil
			default:
				edit(edits.Add(1))
			}
		}
	})
	for i, old := range names {
		var ending errgroup.Group
		ending.Go(func() error { return operetta.End(old) })
		time.Sleep(endpointsLag)
		service.Set(addresses[1-i])
		names[i] += "-2"
		var err error
		addresses[i], err = operetta.StartReplica(w.Context(), names[i], drainDelay)
		require.NoError(w, err)
		service.Set(addresses...)
		require.NoError(w, ending.Wait())
		w.eventually("its successor is asked", func() error {
			if service.Connections(addresses[i]) == 0 {
				return fmt.Errorf("%s is not", addresses[i])
			}
			return nil
		})
	}
	close(done)
	require.NoError(w, editor.Wait())
	w.Logf("%d custom resources were edited %d times", boxes, edits.Load())
	want := fmt.Sprint(edits.Load())
	w.eventually("the last edits are in force", func() error {
		for i := range boxes {
			name := fmt.Sprintf("box-%d", i)
			if value := at(w.get("deployment", name), "spec", "template", "spec", "containers", 0, "env", 0, "value"); value != want {
				return fmt.Errorf("%s has %v instead of %s", name, value, want)
			}
		}
		return nil
	})
	events := w.kubectl("get", "events", "--field-selector=involvedObject.kind=ModelBox,type=Warning", "--output=jsonpath={.items[*].message}")
	require.Empty(w, events)
}
