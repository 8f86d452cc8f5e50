//go:build unix

// Package docs runs the kubectl commands that the documentation shows, as they are written,
// on a real control plane.
package docs

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/e2e/cluster"
	"github.com/operetta-dev/operetta/e2e/docs/commands"
)

// root is the project's folder.
const root = "../.."

// controlPlane is a cluster with a node, on which nothing is installed.
var controlPlane *cluster.Cluster

func TestMain(m *testing.M) {
	if _, err := exec.LookPath("metacontroller"); err != nil {
		fmt.Fprintln(os.Stderr, "TestLive is skipped: metacontroller is not on the PATH")
		os.Exit(0)
	}
	if err := cluster.Build(context.Background(), root); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(cluster.RunTests(m, cluster.Options{Nodes: true}, func(c *cluster.Cluster) error {
		controlPlane = c
		return nil
	}))
}

// TestLive runs all commands that are planned to be run live. The server and Metacontroller
// run on this machine, with the arguments of the Pods that the commands install, because the
// node has no containers.
func TestLive(t *testing.T) {
	t.Parallel()
	all, err := commands.Read(root)
	require.NoError(t, err)
	planned, err := commands.Plan(all, commands.Rules)
	require.NoError(t, err)
	planned = commands.Of(planned, commands.Live)

	s := newSite(t)
	count := 0
	player := &commands.Player{Shell: s.shell, Timeout: 20 * time.Minute, Server: s.server, Log: func(c commands.Planned, printed string, took time.Duration) {
		count++
		t.Logf("%5.1fs  %s: %s", took.Seconds(), c.At(), c.Short())
	}}
	for _, p := range s.pages() {
		isOfPage := func(c commands.Planned) bool {
			return c.File == p.file && (p.headings == nil || slices.Contains(p.headings, c.Heading))
		}
		var page []commands.Planned
		for _, c := range planned {
			if isOfPage(c) {
				page = append(page, c)
			}
		}
		planned = slices.DeleteFunc(planned, isOfPage)
		require.NotEmpty(t, page, "%s %v", p.file, p.headings)
		began := time.Now()
		if p.apart {
			s.sh("cd " + t.TempDir())
		}
		assert.NoError(t, player.Play(page, p.steps))
		s.sh("cd " + s.dir)
		t.Logf("%5.1fs  %s %v", time.Since(began).Seconds(), p.file, p.headings)
	}
	for _, c := range planned {
		t.Errorf("%s: no page has %s", c.At(), c.Short())
	}
	t.Logf("%d commands were run", count)
}

// sh runs what no page shows.
func (s *site) sh(text string) {
	s.Helper()
	printed, exit, err := s.shell.Run(text, 5*time.Minute)
	require.NoError(s, err, text)
	require.Zero(s, exit, "%s\n%s", text, printed)
}

// apply applies a manifest.
func apply(manifest string, args ...string) error {
	_, _, err := controlPlane.KubectlWithInput(manifest, append([]string{"apply", "--filename=-"}, args...)...)
	return err
}

// run runs kubectl commands that no page shows, separated by newlines.
func run(lines string) error {
	for line := range strings.Lines(lines) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		if _, _, err := controlPlane.Kubectl(strings.Fields(line)...); err != nil {
			return err
		}
	}
	return nil
}

// do is a step that runs kubectl commands.
func do(lines string) func(string) error {
	return func(string) error { return run(lines) }
}

// eventually waits until a check returns nil.
func eventually(check func() error) error {
	var err error
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		if err = check(); err == nil {
			return nil
		}
	}
	return err
}

// until waits until a kubectl command prints something.
func until(wanted string, args ...string) error {
	return eventually(func() error {
		printed, _, err := controlPlane.Kubectl(args...)
		if err == nil && !strings.Contains(printed, wanted) {
			err = fmt.Errorf("kubectl %s prints %q, without %q", strings.Join(args, " "), printed, wanted)
		}
		return err
	})
}

// has is a step that looks for a part of what a command has printed.
func has(part string) func(string) error {
	return func(printed string) error {
		if !strings.Contains(strings.Join(strings.Fields(printed), " "), part) {
			return fmt.Errorf("there is no %q in\n%s", part, printed)
		}
		return nil
	}
}
