package server

import (
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestConnectionsAreBounded: where all have a request, one that is too many is
// closed at once, and counts no more when it is gone.
func TestConnectionsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // its clock stands still: a busy machine makes no connection slow
		c := connections{most: maxConnections}
		open := func() (ours, theirs net.Conn) {
			ours, theirs = net.Pipe()
			c.note(ours, http.StateNew)
			return ours, theirs
		}
		busy := func() net.Conn {
			ours, _ := open()
			c.note(ours, http.StateActive)
			return ours
		}
		first := busy()
		pipe := addressOf(first)
		for range maxConnections - 1 {
			busy()
		}
		excess, theirs := open()
		_, err := theirs.Read(make([]byte, 1))
		require.Error(t, err, "it is closed")
		c.note(excess, http.StateClosed)

		c.note(first, http.StateClosed)
		require.Len(t, c.states, maxConnections-1)
		again, theirAgain := open()
		go func() { _, _ = again.Write([]byte("x")) }()
		_, err = theirAgain.Read(make([]byte, 1))
		require.NoError(t, err, "it is open")
		require.Len(t, c.states, maxConnections)

		// One of the same address makes room that has sent nothing for a while, or has had
		// no answer for long; and the one that has waited longest.
		older := c.in(http.StateActive)[1]
		for silent, is := range map[net.Conn]doing{again: {http.StateNew, time.Now().Add(-silence), pipe}, older: {http.StateActive, time.Now().Add(-slowness), pipe}} {
			c.put(silent, is)
		}
		require.True(t, again == c.dispensable(excess))
		require.True(t, older == c.dispensable(excess))
		isKnown := func(conn net.Conn) bool {
			_, known := c.states[conn]
			return known
		}
		c.note(again, http.StateActive)
		require.False(t, isKnown(again), "it has been dropped")
		for range 2 {
			kept, _ := open()
			require.True(t, isKnown(kept))
		}
		tooMany, _ := open()
		require.False(t, isKnown(tooMany), "all others are quick")
		require.Len(t, c.states, maxConnections)
	})
}

// from is a connection from an address.
type from struct {
	net.Conn

	address string
	closed  bool
}

func (f *from) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(f.address), Port: 1} }

func (f *from) Close() error {
	f.closed = true
	return nil
}

// TestNobodyTakesAllConnections: who holds them all loses one to another client,
// and gets none more. First go those without a request.
func TestNobodyTakesAllConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // its clock stands still: a busy machine makes no connection slow
		c := connections{most: maxConnections}
		open := func(address string, state http.ConnState) *from {
			conn := &from{address: address}
			c.note(conn, http.StateNew)
			if !conn.closed && state != http.StateNew {
				c.note(conn, state)
			}
			return conn
		}
		honest := open("10.0.0.1", http.StateIdle)
		var greedy []*from
		for i := range maxConnections - 1 {
			greedy = append(greedy, open("10.0.0.2", map[bool]http.ConnState{true: http.StateIdle, false: http.StateActive}[i%2 == 0]))
		}
		closed := func(of http.ConnState) (n int) {
			for i, conn := range greedy {
				if conn.closed && (i%2 == 0) == (of == http.StateIdle) {
					n++
				}
			}
			return n
		}
		excess := open("10.0.0.2", http.StateActive)
		require.True(t, excess.closed, "its own address has the most")
		c.note(excess, http.StateClosed)
		for range 10 {
			require.False(t, open("10.0.0.1", http.StateActive).closed)
		}
		require.Equal(t, 10, closed(http.StateIdle))
		require.Zero(t, closed(http.StateActive), "they have a request")
		require.False(t, honest.closed)
		require.Len(t, c.states, maxConnections)
		for conn, is := range c.states {
			if conn.(*from).address == "10.0.0.2" {
				is.state = http.StateActive
				c.states[conn] = is
			}
		}
		require.False(t, open("10.0.0.3", http.StateActive).closed)
		require.Len(t, c.states, maxConnections, "where all have one, one of them goes")
	})
}

// TestManyAddressesTakeNoConnections: where each of very many addresses has one
// connection, those that say nothing, take long or are idle make room.
func TestManyAddressesTakeNoConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connections{most: maxHealthConnections}
		var all []*from
		fill := func(state http.ConnState) {
			for i := range maxHealthConnections {
				conn := &from{address: net.IPv4(10, 0, 1, byte(i)).String()}
				c.note(conn, http.StateNew)
				if state != http.StateNew {
					c.note(conn, state)
				}
				all = append(all, conn)
			}
		}
		probe := func() bool {
			conn := &from{address: "10.0.0.1"}
			c.note(conn, http.StateNew)
			if !conn.closed {
				c.note(conn, http.StateActive)
				c.note(conn, http.StateClosed)
			}
			return !conn.closed
		}
		fill(http.StateNew)
		require.False(t, probe(), "they may still send something")
		time.Sleep(silence)
		require.True(t, probe())
		closed := 0
		for _, conn := range all {
			if conn.closed {
				closed++
			}
		}
		require.Equal(t, 1, closed)

		c.states = nil
		fill(http.StateActive)
		require.False(t, probe())
		time.Sleep(slowness)
		require.True(t, probe())

		c.states = nil
		fill(http.StateIdle)
		require.False(t, probe(), "they may have more to ask")
		time.Sleep(idleness)
		require.True(t, probe())
	})
}

// BenchmarkConnectionTooMany is a new connection where there are as many as may be, of as
// many addresses, all of which say nothing.
func BenchmarkConnectionTooMany(b *testing.B) {
	c := connections{most: maxConnections}
	for i := range maxConnections {
		c.note(&from{address: net.IPv4(10, 0, byte(i>>8), byte(i)).String()}, http.StateNew)
	}
	time.Sleep(silence)
	newest := &from{address: "10.1.0.1"}
	b.ReportAllocs()
	for b.Loop() {
		c.note(newest, http.StateNew)
		c.note(newest, http.StateClosed)
		c.note(&from{address: "10.0.0.0"}, http.StateNew) // there are as many again
	}
}
