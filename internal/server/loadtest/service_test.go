package loadtest

import (
	"io"
	"net"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// service forwards each connection to one of its endpoints in turn, as kube-proxy does. The
// connection stays there, also when the endpoint has been removed.
type service struct {
	net.Listener

	mu        sync.Mutex
	endpoints []string
	next      int
	begun     map[string]int // connections, by endpoint
}

// newService returns a service on the loopback interface that ends with the test.
func newService(t testing.TB, endpoints ...string) *service {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &service{Listener: listener, begun: map[string]int{}}
	s.set(endpoints...)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go s.forward(conn.(*net.TCPConn))
		}
	}()
	t.Cleanup(func() { _ = listener.Close() })
	return s
}

// set replaces the endpoints.
func (s *service) set(endpoints ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endpoints = slices.Clone(endpoints)
}

// connections returns how many connections have been opened to an endpoint.
func (s *service) connections(endpoint string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begun[endpoint]
}

func (s *service) forward(client *net.TCPConn) {
	s.mu.Lock()
	s.next++
	endpoint := s.endpoints[s.next%len(s.endpoints)]
	s.begun[endpoint]++
	s.mu.Unlock()
	conn, err := net.Dial("tcp", endpoint)
	if err != nil { // a client sees that as a reset: here it is one that has been accepted
		_ = client.SetLinger(0)
		_ = client.Close()
		return
	}
	server := conn.(*net.TCPConn)
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
	_, _ = client.Close(), server.Close()
}
