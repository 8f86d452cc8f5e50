//go:build !linux

package server

import "net"

// acceptLittle and limitUnsent are for the kernel of the container image.
func acceptLittle(net.Listener) {}

func limitUnsent(net.Conn) {}
