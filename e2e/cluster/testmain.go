package cluster

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"
)

// RunTests is the body of a TestMain whose tests share one cluster: it starts
// the cluster, hands it over to use, which prepares it, runs the tests, stops the cluster, and
// returns the exit code. If a test failed it prints the ends of the logs.
func RunTests(m *testing.M, options Options, use func(*Cluster) error) int {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()

	c, err := Start(ctx, options)
	if err != nil {
		fmt.Fprintln(os.Stderr, "start the cluster:", err)
		return 1
	}
	// Tests cannot be interrupted, so a signal while they run ends the program.
	ignoreSignals := context.AfterFunc(ctx, func() {
		_ = c.Stop()
		os.Exit(1)
	})
	code := 1
	if err := use(c); err != nil {
		fmt.Fprintln(os.Stderr, "prepare the cluster:", err)
	} else {
		code = m.Run()
	}
	ignoreSignals()

	if code != 0 {
		c.PrintLogs(os.Stderr)
	}
	if err := c.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "stop the cluster:", err)
		return 1
	}
	return code
}
