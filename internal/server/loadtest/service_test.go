// Package forwardtest forwards connections in tests as kube-proxy does for a Service.
//
// The module in e2e/ does not depend on this one. It has this file as a link.
package forwardtest

import (
	"io"
	"net"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Service forwards each connection to one of its endpoints in turn. The connection stays
// there, also when the endpoint has been removed.
type Service struct {
	net.Listener

	mu        sync.Mutex
	endpoints []string
	next      int
	begun     map[string]int // connections, by endpoint
}

// New returns a Service on the loopback interface that ends with the test.
func New(t testing.TB, endpoints ...string) *Service {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &Service{Listener: listener, begun: map[string]int{}}
	s.Set(endpoints...)
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

// Set replaces the endpoints.
func (s *Service) Set(endpoints ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endpoints = slices.Clone(endpoints)
}

// Connections returns how many connections have been opened to an endpoint.
func (s *Service) Connections(endpoint string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begun[endpoint]
}

func (s *Service) forward(client *net.TCPConn) {
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
