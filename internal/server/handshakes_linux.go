package server

import (
	"net"
	"syscall"
)

const (
	// bindToIfIndex is SO_BINDTOIFINDEX, which package syscall does not have.
	bindToIfIndex = 62
	// noInterface is the index of an interface that does not exist.
	noInterface = 0x7ffffffe
)

// refuseHandshakes makes the kernel refuse new connections, while those in the
// accept queue or in a handshake are still accepted; closing the listener would
// reset them. It binds the listener to an interface that does not exist, which
// any process may do. If that fails, only connections in the queue are lost.
func refuseHandshakes(listener net.Listener) {
	control(listener, func(fd int) {
		_ = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, bindToIfIndex, noInterface)
	})
}
