// Command cluster runs a cluster in the background to try things on: a real control
// plane, a node simulated by kwok, Operetta and, if it is on the PATH, Metacontroller.
// make cluster and make cluster-down run it in the folder e2e/.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/operetta-dev/operetta/e2e/cluster"
	"github.com/operetta-dev/operetta/e2e/lockfile"
	"github.com/operetta-dev/operetta/e2e/tools"
)

// root is the project's folder.
const root = ".."

// Files of the state folder, which is below bin/ and so never committed.
var (
	stateDir  = filepath.Join(root, "bin", "cluster")
	pidFile   = filepath.Join(stateDir, "pid")   // locked while the cluster runs
	logFile   = filepath.Join(stateDir, "log")   // of the supervisor
	readyFile = filepath.Join(stateDir, "ready") // how to use it
)

// startTimeout bounds the wait for a cluster, the first build included.
const startTimeout = 20 * time.Minute

// lockTimeout is how long a supervisor tries to get the lock: a program that looks for
// a supervisor holds a shared lock for a moment.
const lockTimeout = 2 * time.Second

func main() {
	commands := map[string]func() error{
		"up": up, "down": down, "supervise": func() error { return supervise(run) },
	}
	command := commands[strings.Join(os.Args[1:], " ")]
	if command == nil {
		command = func() error { return errors.New("write: cluster up, or cluster down") }
	}
	if err := command(); err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

// up starts a supervisor that outlives this program, and waits until the
// cluster is ready. If one is running already, it prints how to use it.
func up() error {
	if err := os.MkdirAll(stateDir, 0o755); err != nil {
		return err
	}
	if supervisor() == 0 {
		if err := launch(); err != nil {
			return err
		}
	}
	for deadline := time.Now().Add(startTimeout); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		if text, err := os.ReadFile(readyFile); err == nil {
			_, _ = os.Stdout.Write(text)
			return nil
		}
		if supervisor() == 0 {
			log, _ := os.ReadFile(logFile)
			return fmt.Errorf("it has not come up:\n%s", log)
		}
	}
	return fmt.Errorf("it is not ready after %s: see %s", startTimeout, logFile)
}

// launch starts the supervisor in a new session, so that it gets no Ctrl-C of this
// terminal.
func launch() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	_ = os.Remove(readyFile)
	log, err := os.Create(logFile)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	command := exec.Command(self, "supervise")
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := command.Start(); err != nil {
		return err
	}
	fmt.Fprintln(os.Stdout, "Starting the cluster. The first time its programs are built, which takes some minutes.")
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if supervisor() != 0 {
			return command.Process.Release()
		}
	}
	return fmt.Errorf("it has not started: see %s", logFile)
}

// down stops the supervisor and the programs that it has started.
func down() error {
	pid := supervisor()
	if pid == 0 {
		fmt.Fprintln(os.Stdout, "No cluster is running.")
		return nil
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		return fmt.Errorf("end the cluster: %w", err)
	}
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if supervisor() == 0 {
			fmt.Fprintln(os.Stdout, "The cluster is gone.")
			return os.RemoveAll(stateDir)
		}
	}
	return fmt.Errorf("process %d does not end: see %s", pid, logFile)
}

// supervisor returns the id of the process that holds the lock of the state folder, or
// 0. The lock is checked because the id may belong to another process by now.
func supervisor() int {
	if held, err := lockfile.IsHeld(pidFile); err != nil || !held {
		return 0
	}
	text, err := os.ReadFile(pidFile)
	if err != nil {
		return 0
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return pid
}

// supervise holds the lock of the state folder while it runs the cluster.
func supervise(run func() error) error {
	ctx, cancel := context.WithTimeout(context.Background(), lockTimeout)
	defer cancel()
	release, err := lockfile.Acquire(ctx, pidFile)
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.New("a cluster is running already")
	}
	if err != nil {
		return err
	}
	defer release()
	if err := os.WriteFile(pidFile, []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
		return err
	}
	return run()
}

// run runs a cluster with everything on it until it is told to end.
func run() error {
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer cancel()
	c, err := cluster.Start(ctx, cluster.Options{Nodes: true})
	if err != nil {
		return err
	}
	return errors.Join(serve(ctx, c), c.Stop())
}

// serve installs everything, prints how to use it, and waits until it is stopped.
func serve(ctx context.Context, c *cluster.Cluster) error {
	o, err := c.Install(ctx, root)
	if err != nil {
		return err
	}
	if err := o.Connect(o.HookURL, "v2"); err != nil {
		return err
	}
	metacontroller, err := exec.LookPath("metacontroller")
	if err == nil {
		if err := o.StartMetacontroller(ctx, metacontroller, "dynamic-apply"); err != nil {
			return err
		}
	}
	if err := ready(ctx, o, metacontroller); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// ready writes the file that says how to use the cluster.
func ready(ctx context.Context, o *cluster.Operetta, metacontroller string) error {
	binaries, err := tools.Build(ctx, tools.Kubectl)
	if err != nil {
		return err
	}
	folder, err := filepath.Abs(stateDir)
	if err != nil {
		return err
	}
	for name, to := range map[string]string{"kubectl": binaries[tools.Kubectl], "kubeconfig": o.Kubeconfig} {
		link := filepath.Join(folder, name)
		_ = os.Remove(link)
		if err := os.Symlink(to, link); err != nil {
			return err
		}
	}
	who := "Metacontroller is " + metacontroller + "."
	if metacontroller == "" {
		who = `There is no metacontroller on the PATH: custom resources are accepted, and nothing
reconciles them. Put the program there, and begin anew: make cluster-down cluster`
	}
	text := fmt.Sprintf(`A cluster is running, with Operetta and a node on which Pods get ready at once.
%[1]s

  export KUBECONFIG=%[2]s/kubeconfig
  export PATH=%[2]s:$PATH
  kubectl apply -f deploy/samples/modelbox.yaml
  kubectl get operetta

Hooks   %[3]s
Logs    %[4]s/*.log
End it  make cluster-down
`, who, folder, o.HookURL, o.Dir)
	unfinished := readyFile + ".unfinished"
	if err := os.WriteFile(unfinished, []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(unfinished, readyFile)
}
