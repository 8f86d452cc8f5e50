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
	// maxConnections limits the cost of connections alone: some 25 kB each, twice as much
	// with TLS, 130 kB while 4 KB of short headers arrive, and 25 kB in the kernel.
	// Metacontroller has one for each of its workers.
	maxConnections = 1024
	// maxHealthConnections is the limit of the other port. The kubelet opens
	// one for each probe.
	maxHealthConnections = 128
)

const (
	// silence is how long a new connection may stay silent before it can be
	// replaced: normal clients send at once.
	silence = 100 * time.Millisecond
	// slowness is how long a request may take before its connection can be
	// replaced.
	slowness = 2 * time.Second
	// idleness is how long a connection may be idle before it can be replaced where nothing
	// else can be: otherwise very many addresses with one each would shut all others out.
	idleness = 2 * time.Second
)

// connections are the connections of a port, with their states.
type connections struct {
	most   int // above this, new ones replace others
	mu     sync.Mutex
	states map[net.Conn]doing
	counts map[string]int // of each address, so that a new one need not count them
}

// doing is the state of a connection.
type doing struct {
	state   http.ConnState
	since   time.Time
	address string // of the client, without its port
}

// put notes the state of a connection.
func (c *connections) put(conn net.Conn, is doing) {
	if c.states == nil {
		c.states, c.counts = map[net.Conn]doing{}, map[string]int{}
	}
	if _, known := c.states[conn]; !known {
		c.counts[is.address]++
	}
	c.states[conn] = is
}

// remove forgets a connection, if it is known.
func (c *connections) remove(conn net.Conn) {
	is, known := c.states[conn]
	if !known {
		return
	}
	delete(c.states, conn)
	if c.counts[is.address]--; c.counts[is.address] == 0 {
		delete(c.counts, is.address)
	}
}

// note is called whenever a connection changes its state.
func (c *connections) note(conn net.Conn, state http.ConnState) {
	if state == http.StateNew {
		holdLittle(conn)
	}
	is := doing{state: state, since: time.Now()}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateClosed, http.StateHijacked:
		c.remove(conn)
	case http.StateNew:
		is.address = addressOf(conn)
		if c.put(conn, is); len(c.states) > c.most {
			drop(c.dispensable(conn)) // net/http calls note when it is closed
		}
	default: // a request has begun, or ended
		if before, known := c.states[conn]; known { // otherwise it was dropped before
			is.address = before.address
			c.put(conn, is)
		}
	}
}

// dispensable returns the connection to close in favor of a new one: one of the
// address with the most, so that one address cannot take all. If that is the
// address of the new connection, several clients may share it, as behind NAT, or
// many addresses may have as many, one each: then it is a silent, slow or idle
// connection of those, or else the new one itself.
func (c *connections) dispensable(newest net.Conn) net.Conn {
	most := 0
	for _, count := range c.counts {
		most = max(most, count)
	}
	now, isShared := time.Now(), c.counts[c.states[newest].address] == most
	chosen, best, since := newest, 0, now // if no other qualifies
	for conn, is := range c.states {
		if c.counts[is.address] != most {
			continue
		}
		rank := is.rank(now, isShared)
		if rank > best || rank == best && rank > 0 && is.since.Before(since) {
			chosen, best, since = conn, rank, is.since
		}
	}
	c.remove(chosen) // so that it is not chosen twice
	return chosen
}

// rank says how dispensable a connection is; zero means not at all. If the new
// connection has as many of its address, those that may be of other clients are spared.
func (d doing) rank(now time.Time, isShared bool) int {
	age := now.Sub(d.since)
	switch {
	case d.state == http.StateNew && age >= silence:
		return 5
	case d.state == http.StateActive && age >= slowness:
		return 4
	case d.state != http.StateActive && !isShared:
		return 3
	case !isShared:
		return 2
	case d.state == http.StateIdle && age >= idleness:
		return 1 // its client makes another one
	}
	return 0
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

// in returns the connections in one of the states.
func (c *connections) in(states ...http.ConnState) []net.Conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	var conns []net.Conn
	for conn, is := range c.states {
		for _, state := range states {
			if is.state == state {
				conns = append(conns, conn)
			}
		}
	}
	return conns
}

const (
	// settleTime is for handshakes and first requests that are under way when
	// no more connections are accepted.
	settleTime = 100 * time.Millisecond
	// partTime is the longest that a client may take to close its end.
	partTime = time.Second
	pollTime = 5 * time.Millisecond
)

// part closes the connections without a reset. Closing a connection at once
// would lose a request that the client is just sending, and closing the
// listener would lose the connections in its queue. So the listener first
// refuses new handshakes and works off its queue. An idle connection is then
// sent a 408 and the end of the stream, and is read until its client closes it:
// a request that crosses the 408 has its answer, and a later one finds the
// connection closed.
func (s *Server) part(ctx context.Context, listener net.Listener) {
	refuseHandshakes(listener)
	settled, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	<-settled.Done()
	patience, cancel := context.WithTimeout(ctx, partTime)
	defer cancel()
	waitUntil(patience, func() bool { return len(s.conns.in(http.StateNew)) == 0 })
	for _, conn := range s.conns.in(http.StateNew, http.StateIdle) {
		go func() { // over TLS it waits for the end of a handshake
			_ = conn.SetWriteDeadline(time.Now().Add(settleTime))
			_, _ = conn.Write([]byte(farewell()))
			if half, ok := conn.(interface{ CloseWrite() error }); ok {
				_ = half.CloseWrite()
			}
		}()
	}
	lingering, cancel := context.WithTimeout(ctx, partTime)
	defer cancel()
	waitUntil(lingering, func() bool { return len(s.conns.in(http.StateNew, http.StateActive, http.StateIdle)) == 0 })
}

// farewell is the response that ends an idle connection. HTTP clients ignore
// it, or retry the request that crossed it.
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
