//go:build !linux

package cluster

import "syscall"

// processAttributes keeps a started process away from the terminal's Ctrl-C,
// because Stop ends the processes in order.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
