//go:build !linux

package metacontroller

import (
	"testing"
	"time"
)

// processorTime stands in for that of Linux.
func processorTime(_ *testing.T, call func()) time.Duration {
	began := time.Now()
	call()
	return time.Since(began)
}
