package cluster

import "syscall"

// processAttributes keeps a started process away from the terminal's Ctrl-C,
// because Stop ends the processes in order, and lets the kernel kill it when the
// test binary ends without calling Stop, as at the time limit of `go test`.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
