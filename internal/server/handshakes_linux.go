package server

import (
	"net"
	"syscall"
	"unsafe"
)

// refuseHandshakes makes the kernel pass over who wants a new connection: he
// comes again after a second, and finds the port closed. Who has begun a
// handshake still finishes it and is accepted. To close the listener at once
// would reset those who are in its queue. It does what it can: without it, only
// these are lost.
func refuseHandshakes(listener net.Listener) {
	socket, ok := listener.(syscall.Conn)
	if !ok {
		return
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return
	}
	// Of the TCP header: is SYN among the flags? Then keep nothing of the segment.
	filter := []syscall.SockFilter{
		{Code: syscall.BPF_LD | syscall.BPF_B | syscall.BPF_ABS, K: 13},
		{Code: syscall.BPF_JMP | syscall.BPF_JSET | syscall.BPF_K, K: 0x02, Jt: 0, Jf: 1},
		{Code: syscall.BPF_RET | syscall.BPF_K, K: 0},
		{Code: syscall.BPF_RET | syscall.BPF_K, K: 0x7fffffff},
	}
	program := syscall.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_ = raw.Control(func(fd uintptr) {
		_, _, _ = syscall.Syscall6(syscall.SYS_SETSOCKOPT, fd, syscall.SOL_SOCKET, syscall.SO_ATTACH_FILTER,
			uintptr(unsafe.Pointer(&program)), unsafe.Sizeof(program), 0)
	})
}
