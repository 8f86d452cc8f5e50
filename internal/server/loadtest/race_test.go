//go:build race

package loadtest

import "testing"

func TestLoad(t *testing.T) {
	t.Skip("the load tests measure the memory and the time of the binary: make load runs them without the race detector")
}
