package live

import (
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// service forwards each connection to one of its endpoints in turn, as kube-proxy does. The
// connection stays there, also when the endpoint has been removed.
type service struct {
	listener net.Listener

	mu        sync.Mutex
	endpoints []string
	begun     []string // the endpoint of each connection
}

func newService(w *world, endpoints ...string) *service {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(w, err)
	w.Cleanup(func() { _ = listener.Close() })
	s := &service{listener: listener, endpoints: endpoints}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go s.forward(conn.(*net.TCPConn))
		}
	}()
	return s
}

func (s *service) set(endpoints ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endpoints = slices.Clone(endpoints)
}

// connections returns how many connections have been opened to an endpoint.
func (s *service) connections(endpoint string) (count int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, at := range s.begun {
		if at == endpoint {
			count++
		}
	}
	return count
}

func (s *service) forward(client *net.TCPConn) {
	defer func() { _ = client.Close() }()
	s.mu.Lock()
	endpoint := s.endpoints[len(s.begun)%len(s.endpoints)]
	s.begun = append(s.begun, endpoint)
	s.mu.Unlock()
	conn, err := net.Dial("tcp", endpoint)
	if err != nil {
		_ = client.SetLinger(0) // a client sees a reset
		return
	}
	server := conn.(*net.TCPConn)
	defer func() { _ = server.Close() }()
	var both sync.WaitGroup
	for _, way := range []struct{ to, from *net.TCPConn }{{server, client}, {client, server}} {
		both.Go(func() {
			if _, err := io.Copy(way.to, way.from); err != nil {
				_ = way.to.SetLinger(0) // a reset stays one
				_ = way.to.Close()
				return
			}
			_ = way.to.CloseWrite()
		})
	}
	both.Wait()
}

// How a Pod ends: the kubelet sends SIGTERM when the Pod begins to be taken out of its
// Service, which the last node does later.
const (
	drainDelay   = 2 * time.Second
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
	service := newService(w, addresses...)
	require.NoError(w, operetta.Connect("http://"+service.listener.Addr().String(), w.mode.hookVersion))
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
			if service.connections(address) == 0 {
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
		service.set(addresses[1-i])
		names[i] += "-2"
		var err error
		addresses[i], err = operetta.StartReplica(w.Context(), names[i], drainDelay)
		require.NoError(w, err)
		service.set(addresses...)
		require.NoError(w, ending.Wait())
		w.eventually("its successor is asked", func() error {
			if service.connections(addresses[i]) == 0 {
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
