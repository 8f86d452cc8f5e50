package server

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	// maxConnections bounds what connections alone cost: some 25 kB each, and as
	// much in the kernel. Metacontroller has one for each of its workers.
	maxConnections = 2048
	// maxHealthConnections is that of the other port. The kubelet opens one for
	// each probe.
	maxHealthConnections = 128
)

// connections are those of a port, each with what it is doing.
type connections struct {
	most   int // further ones take the place of others
	mu     sync.Mutex
	states map[net.Conn]http.ConnState
}

// note is told whenever a connection changes.
func (c *connections) note(conn net.Conn, state http.ConnState) {
	if state == http.StateNew {
		holdLittle(conn)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateClosed, http.StateHijacked:
		delete(c.states, conn)
		return
	case http.StateNew:
		if len(c.states) >= c.most {
			drop(c.dispensable(conn)) // net/http tells that it is closed
		}
	default: // a request has begun, or ended
	}
	if c.states == nil {
		c.states = map[net.Conn]http.ConnState{}
	}
	c.states[conn] = state
}

// dispensable returns the connection that makes room for a new one: one of the
// address that has the most, and rather one without a request. So an address that
// takes all connections shuts nobody else out; and where others share it, as behind
// a node that translates addresses, connections alone shut nobody out either.
func (c *connections) dispensable(newest net.Conn) net.Conn {
	own := addressOf(newest)
	most, counts := own, map[string]int{own: 1}
	for conn := range c.states {
		address := addressOf(conn)
		if counts[address]++; counts[address] > counts[most] {
			most = address
		}
	}
	chosen := newest // where its own address has the most, and requests came on all of them
	for conn, state := range c.states {
		if addressOf(conn) != most {
			continue
		}
		if state == http.StateNew || most != own && state != http.StateActive {
			chosen = conn
			break
		}
		if most != own {
			chosen = conn
		}
	}
	delete(c.states, chosen) // it is not chosen twice
	return chosen
}

// addressOf returns the client's address without its port.
func addressOf(conn net.Conn) string {
	if address := conn.RemoteAddr(); address != nil {
		return hostOf(address.String())
	}
	return ""
}

// hostOf returns an address without its port.
func hostOf(address string) string {
	host, _, _ := net.SplitHostPort(address)
	return host
}

// in returns the connections that are in one of the states.
func (c *connections) in(states ...http.ConnState) []net.Conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	var conns []net.Conn
	for conn, is := range c.states {
		for _, state := range states {
			if is == state {
				conns = append(conns, conn)
			}
		}
	}
	return conns
}

const (
	// settleTime is for what is on its way when no more connections are
	// accepted: handshakes, and the first request of a new connection.
	settleTime = 100 * time.Millisecond
	// partTime is the longest that a client may take to close its end.
	partTime = time.Second
	pollTime = 5 * time.Millisecond
)

// part ends the connections without a reset. A connection that is just closed
// loses the request that a client sends at that moment, and a listener that is
// just closed loses those who are in its queue. So the listener first stops to
// take new ones and works off its queue. A connection without a request is then
// sent the refusal in advance, with the end of the stream behind it, and read
// on until its client closes it: a request that crosses the refusal has its
// answer, and one that comes later finds the connection closed.
func (s *Server) part(ctx context.Context, listener net.Listener) {
	refuseHandshakes(listener)
	settled, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	<-settled.Done()
	patience, cancel := context.WithTimeout(ctx, partTime)
	defer cancel()
	waitUntil(patience, func() bool { return len(s.conns.in(http.StateNew)) == 0 })
	for _, conn := range s.conns.in(http.StateNew, http.StateIdle) {
		_ = conn.SetWriteDeadline(time.Now().Add(settleTime))
		_, _ = conn.Write([]byte(farewell()))
		if half, ok := conn.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite()
		}
	}
	lingering, cancel := context.WithTimeout(ctx, partTime)
	defer cancel()
	waitUntil(lingering, func() bool { return len(s.conns.in(http.StateNew, http.StateActive, http.StateIdle)) == 0 })
}

// farewell is the answer that says in HTTP that the server gives up on a
// connection without a request. Clients know it and say nothing of it, or send
// the request that has crossed it again.
func farewell() string {
	return fmt.Sprintf("HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\n"+
		"Content-Length: %d\r\n\r\n%s\n", len(drainingText)+1, drainingText)
}

func waitUntil(ctx context.Context, done func() bool) {
	for !done() {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pollTime):
		}
	}
}
