//go:build unix

package commands

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/operetta-dev/operetta/e2e/cluster"
)

// Server is what the commands of a page start as a server. It listens at addresses of its
// own, for many tests run on a machine.
type Server struct {
	// Folder is where its process id is written.
	Folder string
	// Hooks and Health are its addresses.
	Hooks, Health string
}

// NewServer returns one with addresses at which nothing listens.
func NewServer(folder string) (*Server, error) {
	hooks, err := cluster.FreeAddress()
	if err != nil {
		return nil, err
	}
	health, err := cluster.FreeAddress()
	return &Server{Folder: folder, Hooks: hooks, Health: health}, err
}

// wrapper stands for a program: it serves at the server's addresses, and explores for a
// moment. Everything else is as it is written.
const wrapper = `#!/bin/sh
case "$*" in
serve*) echo $$ > '%[2]s/pid'; exec '%[1]s' "$@" --listen=%[3]s --metrics-listen=%[4]s --drain-delay=0s;;
explore*\ --replay\ *|explore*\ --schedule\ *) ;;
explore*\ --time\ *) exec '%[1]s' "$@" --time=2s;;
explore*) exec '%[1]s' "$@" --schedules=5;;
esac
exec '%[1]s' "$@"
`

// Wrap has a program that has been built serve at the server's addresses, also where it is
// called by other paths.
func (s *Server) Wrap(program string, others ...string) error {
	// It says its name in what it prints.
	folder, err := os.MkdirTemp(s.Folder, "built-")
	if err != nil {
		return fmt.Errorf("wrap a program: %w", err)
	}
	built := filepath.Join(folder, filepath.Base(program))
	if err := os.Rename(program, built); err != nil {
		return fmt.Errorf("wrap a program: %w", err)
	}
	script := fmt.Sprintf(wrapper, built, s.Folder, s.Hooks, s.Health)
	for _, path := range append(others, program) {
		if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
			return fmt.Errorf("wrap a program: %w", err)
		}
	}
	return nil
}

// Ready waits until the server answers.
func (s *Server) Ready() error {
	isReady := cluster.Healthy("http://" + s.Health + "/readyz")
	return within(time.Minute, func() error { return isReady(context.Background()) })
}

// within waits until a check returns nil, for some time.
func within(timeout time.Duration, check func() error) (err error) {
	for deadline := time.Now().Add(timeout); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if err = check(); err == nil {
			return nil
		}
	}
	return fmt.Errorf("after %s: %w", timeout, err)
}

// End ends the server, if there is one and it runs, by its process id, and waits for its end.
func (s *Server) End() error {
	if s == nil {
		return nil
	}
	path := filepath.Join(s.Folder, "pid")
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var pid int
	if _, scanErr := fmt.Sscan(string(text), &pid); err != nil || scanErr != nil {
		return fmt.Errorf("read the server's process id: %w", errors.Join(err, scanErr))
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		return fmt.Errorf("end the server: %w", err)
	}
	return within(time.Minute, func() error {
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) { // the shell, whose child it is, takes note of its end
			return errors.New("the server does not end")
		}
		return os.Remove(path)
	})
}
