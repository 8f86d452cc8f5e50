package cluster

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
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
	// tailLines is the number of log lines that are shown after a failure.
	tailLines = 60
)

// process is one program that the cluster has started.
type process struct {
	Program

	cmd     *exec.Cmd
	logPath string
	// ended is closed when the process is gone; exit is valid from then on.
	ended chan struct{}
	exit  error
}

// startProcess starts a program in a directory, with its output going to a log.
func startProcess(program Program, dir, logPath string) (*process, error) {
	p := &process{Program: program, logPath: logPath, ended: make(chan struct{}), cmd: exec.Command(program.Path, program.Args...)}
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create the log of %s: %w", p.Name, err)
	}
	defer func() { _ = log.Close() }() // the child has its own descriptor
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = dir, log, log
	// No other variables are inherited: ETCD_NAME or HTTPS_PROXY would change the cluster.
	p.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir}, p.Env...)
	p.cmd.SysProcAttr = processAttributes()
	started := make(chan error)
	go func() {
		// On Linux the signal of processAttributes is sent when the thread that started
		// the process ends. So this thread must live as long as the process.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.exit = p.cmd.Wait()
			close(p.ended)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", p.Name, err)
	}
	return p, nil
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

// stop sends the process SIGTERM, and SIGKILL after the grace period.
func (p *process) stop(grace time.Duration) error {
	select {
	case <-p.ended:
		return fmt.Errorf("%s had ended before it was stopped: %s", p.Name, p.cmd.ProcessState)
	default:
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
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
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
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

// Healthy returns a check of a health endpoint. The certificate is not verified: each
// program creates its own, and the request contains no secret.
func Healthy(url string) func(context.Context) error {
	client := &http.Client{
		Timeout: 5 * time.Second,
		Transport: &http.Transport{
			TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true,
		},
	}
	return func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return fmt.Errorf("make a request for %s: %w", url, err)
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		defer func() { _ = response.Body.Close() }()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("%s answered %s", url, response.Status)
		}
		return nil
	}
}
