//go:build unix

package commands

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Shell is a bash in which commands run one after the other, as at a terminal: variables,
// functions and the working directory stay.
type Shell struct {
	bash   *exec.Cmd
	input  io.WriteCloser
	status *os.File
	lines  *bufio.Reader
	folder string // of the outputs
	count  int
}

// StartShell starts one in a folder.
func StartShell(folder string, env []string) (*Shell, error) {
	outputs, err := os.MkdirTemp("", "commands-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the outputs: %w", err)
	}
	status, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	bash := exec.Command("bash", "--noprofile", "--norc")
	bash.Dir, bash.Env, bash.ExtraFiles = folder, env, []*os.File{write}
	bash.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // to end what it has started
	input, err := bash.StdinPipe()
	if err == nil {
		err = bash.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start bash: %w", err)
	}
	s := &Shell{bash: bash, input: input, status: status, lines: bufio.NewReader(status), folder: outputs}
	if err := write.Close(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	// A command of which the first half fails has failed.
	_, _, err = s.Run("set -o pipefail", time.Minute)
	return s, err
}

// Run runs a command, and returns what it has printed and its exit code. One that takes
// longer than it may ends with the whole shell.
func (s *Shell) Run(command string, timeout time.Duration) (printed string, exit int, err error) {
	s.count++
	path := filepath.Join(s.folder, strconv.Itoa(s.count))
	if _, err := fmt.Fprintf(s.input, "{\n%s\n} </dev/null >'%s' 2>&1\necho $? >&3\n", command, path); err != nil {
		return "", 0, fmt.Errorf("hand bash a command: %w", err)
	}
	if err := s.status.SetReadDeadline(time.Now().Add(timeout)); err != nil {
		return "", 0, fmt.Errorf("bound a command: %w", err)
	}
	line, err := s.lines.ReadString('\n')
	text, readErr := os.ReadFile(path)
	if err != nil {
		return string(text), 0, errors.Join(fmt.Errorf("it has not ended within %s: %w", timeout, err), s.Close())
	}
	if readErr != nil {
		return "", 0, fmt.Errorf("read what it has printed: %w", readErr)
	}
	exit, err = strconv.Atoi(strings.TrimSpace(line))
	return string(text), exit, err
}

// Close ends the shell and everything that it has started.
func (s *Shell) Close() error {
	err := syscall.Kill(-s.bash.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		err = nil // it had ended
	}
	_ = s.bash.Wait() // killed, which is no news
	return errors.Join(err, s.status.Close(), os.RemoveAll(s.folder))
}
