package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

const (
	// pollInterval is the pause between two checks whether a process is ready.
	pollInterval = 100 * time.Millisecond
	// tailLines is how much of a log is shown when something fails.
	tailLines = 60
)

// process is one program that the cluster has started.
type process struct {
	name    string
	path    string
	args    []string
	env     []string
	dir     string
	logPath string

	cmd *exec.Cmd
	// ended is closed when the process is gone; exit is valid from then on.
	ended chan struct{}
	exit  error
}

// startProcess starts what p describes, with its output going to p.logPath.
func startProcess(p process) (*process, error) {
	log, err := os.OpenFile(p.logPath, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create the log of %s: %w", p.name, err)
	}
	// The child has its own descriptor of the log once it is started.
	defer func() { _ = log.Close() }()

	p.cmd = exec.Command(p.path, p.args...)
	p.cmd.Dir = p.dir
	// Nothing is inherited: variables such as ETCD_NAME or HTTPS_PROXY would
	// make the cluster depend on whose machine it is.
	p.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.dir, "TMPDIR=" + p.dir}
	p.cmd.Env = append(p.cmd.Env, p.env...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = processAttributes()
	p.ended = make(chan struct{})

	started := make(chan error)
	go p.superviseUntilEnd(started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", p.name, err)
	}
	return &p, nil
}

// superviseUntilEnd starts the process, reports the outcome, and waits until
// the process ends.
func (p *process) superviseUntilEnd(started chan<- error) {
	// For Linux the parent of a process is the thread that started it, and the
	// process is killed when its parent ends (see processAttributes). So this
	// thread has to stay for as long as the process runs.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	p.exit = p.cmd.Wait()
	close(p.ended)
}

// waitReady calls ready until it succeeds. It fails when the process ends or
// ctx is done before that.
func (p *process) waitReady(ctx context.Context, ready func(context.Context) error) error {
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.ended:
			return fmt.Errorf("it ended before it was ready: %s", p.cmd.ProcessState)
		case <-ctx.Done():
			return fmt.Errorf("it did not get ready: %w; the last check said: %w", context.Cause(ctx), err)
		case <-time.After(pollInterval):
		}
	}
}

// stop asks the process to end, and kills it if it has not after the grace.
func (p *process) stop(grace time.Duration) error {
	select {
	case <-p.ended:
		return fmt.Errorf("%s had ended before it was stopped: %s", p.name, p.cmd.ProcessState)
	default:
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("ask %s to end: %w", p.name, err)
	}
	select {
	case <-p.ended:
		return nil
	case <-time.After(grace):
	}
	if err := p.kill(); err != nil {
		return err
	}
	return fmt.Errorf("%s was killed because it did not end within %s", p.name, grace)
}

// kill ends the process at once.
func (p *process) kill() error {
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill %s: %w", p.name, err)
	}
	<-p.ended
	return nil
}

// logTail returns the last lines of the log.
func (p *process) logTail() string {
	content, err := os.ReadFile(p.logPath)
	if err != nil {
		return fmt.Sprintf("(the log cannot be read: %v)", err)
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	return strings.Join(lines[max(0, len(lines)-tailLines):], "\n")
}
