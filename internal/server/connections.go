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

const (
	// silence is after what time a connection that nothing has come on may make room
	// for others: who is honest sends at once.
	silence = 100 * time.Millisecond
	// slowness is after what time a request may: who is honest has an answer by then.
	slowness = 2 * time.Second
)

// connections are those of a port, each with what it is doing.
type connections struct {
	most   int // further ones take the place of others
	mu     sync.Mutex
	states map[net.Conn]doing
}

// doing is what a connection does.
type doing struct {
	state http.ConnState
	since time.Time
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
		if len(c.states) < c.most {
			break
		}
		chosen := c.dispensable(conn)
		drop(chosen) // net/http tells that it is closed
		if chosen == conn {
			return
		}
	default: // a request has begun, or ended
		if _, known := c.states[conn]; !known {
			return // it has been dropped
		}
	}
	if c.states == nil {
		c.states = map[net.Conn]doing{}
	}
	c.states[conn] = doing{state, time.Now()}
}

// dispensable returns the connection that makes room for a new one: one of the
// address that has the most, so that an address that takes all connections shuts
// nobody else out. Where that is the address of the new one, others may share it, as
// behind a node that translates addresses: then one goes that is silent or slow, for
// those of honest clients are neither, or the new one itself.
func (c *connections) dispensable(newest net.Conn) net.Conn {
	own := addressOf(newest)
	most, counts := own, map[string]int{own: 1}
	for conn := range c.states {
		address := addressOf(conn)
		if counts[address]++; counts[address] > counts[most] {
			most = address
		}
	}
	now := time.Now()
	chosen, best, since := newest, 0, now // where nothing is better
	for conn, is := range c.states {
		if addressOf(conn) != most {
			continue
		}
		rank := is.rank(now, most == own)
		if rank > best || rank == best && rank > 0 && is.since.Before(since) {
			chosen, best, since = conn, rank, is.since
		}
	}
	delete(c.states, chosen) // it is not chosen twice
	return chosen
}

// rank says how dispensable a connection is; zero is not at all. Others of its
// address may be honest where that is the address of the new connection, too.
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

// in returns the connections that are in one of the states.
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
