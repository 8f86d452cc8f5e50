package server

import (
	"net"
	"syscall"
)

const (
	// bindToIfIndex is SO_BINDTOIFINDEX, which package syscall does not have.
	bindToIfIndex = 62
	// noInterface is an interface that no machine has.
	noInterface = 0x7ffffffe
)

// refuseHandshakes makes the kernel refuse who wants a new connection, while
// those who have one in the queue, or have begun a handshake, are still
// accepted. To close the listener at once would reset them. It binds the
// listener to an interface that does not exist, which any process may do. Where
// that fails only those in the queue are lost.
func refuseHandshakes(listener net.Listener) {
	control(listener, func(fd int) {
		_ = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, bindToIfIndex, noInterface)
	})
}
