package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// pollInterval is the pause between two checks whether a process is ready.
	pollInterval = 100 * time.Millisecond
	// tailLines is the number of log lines that are shown after a failure.
	tailLines = 60
)

// restartPause is how long a program of [Program.Restarts] stays away.
const restartPause = 500 * time.Millisecond

// process is one program that the cluster has started.
type process struct {
	Program

	dir     string
	logPath string
	// ended is closed when the process is gone for good; exit is valid from then on.
	ended chan struct{}
	exit  error

	mu         sync.Mutex
	cmd        *exec.Cmd // the one that runs, or has run last
	isStopping bool
}

// startProcess starts a program in a directory, with its output going to a log.
func startProcess(program Program, dir, logPath string) (*process, error) {
	p := &process{Program: program, dir: dir, logPath: logPath, ended: make(chan struct{})}
	started := make(chan error)
	go p.superviseUntilEnd(started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", p.Name, err)
	}
	return p, nil
}

// begin starts the program, unless it is to stop.
func (p *process) begin() (*exec.Cmd, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isStopping {
		return nil, errors.New("it is to stop")
	}
	log, err := os.OpenFile(p.logPath, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create its log: %w", err)
	}
	// The child has its own descriptor of the log once it is started.
	defer func() { _ = log.Close() }()

	cmd := exec.Command(p.Path, p.Args...)
	cmd.Dir = p.dir
	// No other variables are inherited: ETCD_NAME or HTTPS_PROXY would change the
	// cluster.
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.dir, "TMPDIR=" + p.dir}, p.Env...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = processAttributes()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p.cmd = cmd
	return cmd, nil
}

// superviseUntilEnd starts the process, reports the outcome, and waits until
// the process ends. One that is to be restarted is.
func (p *process) superviseUntilEnd(started chan<- error) {
	// On Linux the signal of processAttributes is sent when the thread that started
	// the process ends. So this thread must live as long as the process.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	cmd, err := p.begin()
	started <- err
	if err != nil {
		return
	}
	for {
		p.exit = cmd.Wait()
		if !p.Restarts {
			break
		}
		time.Sleep(restartPause)
		if cmd, err = p.begin(); err != nil {
			break
		}
	}
	close(p.ended)
}

// last returns the process that runs, or has run last.
func (p *process) last() *exec.Cmd {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cmd
}

// leave has the process not start again, and returns it.
func (p *process) leave() *exec.Cmd {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isStopping = true
	return p.cmd
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
			return fmt.Errorf("it ended before it was ready: %s", p.last().ProcessState)
		case <-ctx.Done():
			return fmt.Errorf("it did not get ready: %w; the last check said: %w", context.Cause(ctx), err)
		case <-time.After(pollInterval):
		}
	}
}

// stop sends the process SIGTERM, and SIGKILL after the grace period.
func (p *process) stop(grace time.Duration) error {
	select {
	case <-p.ended:
		return fmt.Errorf("%s had ended before it was stopped: %s", p.Name, p.last().ProcessState)
	default:
	}
	if err := p.leave().Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("ask %s to end: %w", p.Name, err)
	}
	select {
	case <-p.ended:
		return nil
	case <-time.After(grace):
	}
	if err := p.kill(); err != nil {
		return err
	}
	return fmt.Errorf("%s was killed because it did not end within %s", p.Name, grace)
}

// kill sends the process SIGKILL.
func (p *process) kill() error {
	if err := p.leave().Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill %s: %w", p.Name, err)
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
