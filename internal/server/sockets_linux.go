package server

import (
	"net"
	"syscall"
)

// Options that package syscall does not have.
const (
	tcpUserTimeout  = 18
	tcpNotSentLowat = 25
)

// acceptLittle limits the kernel's buffers of connections that are not accepted
// yet. They inherit those of the listener.
func acceptLittle(listener net.Listener) {
	control(listener, func(fd int) {
		_ = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_RCVBUF, receiveBuffer)
	})
}

// limitUnsent limits how much waits in the kernel for a client to read, and for how
// long.
func limitUnsent(conn net.Conn) {
	control(conn, func(fd int) {
		_ = syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, tcpNotSentLowat, mostUnsent)
		_ = syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, tcpUserTimeout, int(mostSilence.Milliseconds()))
	})
}

// control calls a function with the file descriptor of a socket, if it is one.
func control(socket any, do func(fd int)) {
	holder, ok := socket.(syscall.Conn)
	if !ok {
		return
	}
	raw, err := holder.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { do(int(fd)) })
}
