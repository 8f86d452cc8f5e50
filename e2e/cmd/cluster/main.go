// Command cluster runs a cluster in the background to try things on: a real control
// plane, a node simulated by kwok, Operetta and, if it is on the PATH, Metacontroller.
// make cluster and make cluster-down run it in the folder e2e/, and make e2e builds the
// programs of the control plane with it, which would count against the time limit of tests.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/operetta-dev/operetta/e2e/cluster"
	"github.com/operetta-dev/operetta/e2e/tools"
)

// root is the project's folder.
const root = ".."

// Files of the state folder, which is below bin/ and so never committed.
var (
	stateDir = filepath.Join(root, "bin", "cluster")
	// socket is where the cluster listens while it runs: it says how to use it as soon as it is ready, and
	// ends when it is sent a line.
	socket  = filepath.Join(stateDir, "socket")
	logFile = filepath.Join(stateDir, "log")
)

func main() {
	commands := map[string]func() error{"up": up, "down": down, "serve": serve, "build": build}
	if len(os.Args) != 2 || commands[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "write: cluster up, cluster down, or cluster build")
		os.Exit(2)
	}
	if err := commands[os.Args[1]](); err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

// build fills the cache of the programs.
func build() error {
	_, err := tools.Build(context.Background(), slices.Concat(tools.ControlPlane(), tools.Nodes())...)
	return err
}

// up starts the cluster in a new session, so that it outlives this program and gets no Ctrl-C of this
// terminal, and waits until it is ready. If one is running already, it prints how to use it.
func up() error {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		if conn, err = launch(); err != nil {
			return err
		}
	}
	defer func() { _ = conn.Close() }()
	lines := bufio.NewScanner(conn)
	if !lines.Scan() {
		return hasNotCome()
	}
	for ; lines.Text() != ""; lines.Scan() {
		fmt.Fprintln(os.Stdout, lines.Text())
	}
	return nil
}

func hasNotCome() error {
	text, _ := os.ReadFile(logFile)
	return fmt.Errorf("it has not come up:\n%s", text)
}

// launch starts the cluster, and returns a connection to it.
func launch() (net.Conn, error) {
	if err := os.MkdirAll(stateDir, 0o755); err != nil {
		return nil, err
	}
	log, err := os.Create(logFile)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	command := exec.Command(os.Args[0], "serve")
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := command.Start(); err != nil {
		return nil, err
	}
	fmt.Fprintln(os.Stdout, "Starting the cluster. The first time its programs are built, which takes some minutes.")
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	for {
		select {
		case <-ended:
			return nil, hasNotCome()
		case <-time.After(20 * time.Millisecond):
		}
		if conn, err := net.Dial("unix", socket); err == nil {
			return conn, nil
		}
	}
}

// down ends the cluster, and waits until its programs have ended.
func down() error {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		fmt.Fprintln(os.Stdout, "No cluster is running.")
		return nil
	}
	if _, err := fmt.Fprintln(conn, "end"); err != nil {
		return err
	}
	for lines := bufio.NewScanner(conn); lines.Scan(); { // until it closes the connection
	}
	fmt.Fprintln(os.Stdout, "The cluster is gone.")
	return os.RemoveAll(stateDir)
}

// serve runs a cluster with everything on it until it is told to end.
func serve() error {
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer cancel()
	if conn, err := net.Dial("unix", socket); err == nil {
		_ = conn.Close()
		return errors.New("a cluster is running already")
	}
	_ = os.Remove(socket) // of one that was killed
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }()
	c, err := cluster.Start(ctx, cluster.Options{Nodes: true})
	if err != nil {
		return err
	}
	text, err := install(ctx, c)
	if err == nil {
		var conn net.Conn
		if conn, err = answer(ctx, listener, text); conn != nil {
			defer func() { _ = conn.Close() }()
		}
	}
	return errors.Join(err, c.Stop())
}

// answer says how to use the cluster to all who connect, until one of them wants it to end.
func answer(ctx context.Context, listener net.Listener, text string) (net.Conn, error) {
	context.AfterFunc(ctx, func() { _ = listener.Close() })
	for {
		conn, err := listener.Accept()
		if err != nil {
			return nil, ctx.Err()
		}
		_, _ = fmt.Fprintln(conn, text)
		if _, err := bufio.NewReader(conn).ReadString('\n'); err == nil {
			return conn, nil
		}
		_ = conn.Close()
	}
}

// install installs everything, and returns how to use it.
func install(ctx context.Context, c *cluster.Cluster) (string, error) {
	o, err := c.Install(ctx, root)
	if err != nil {
		return "", err
	}
	if err := o.Connect(o.HookURL, "v2"); err != nil {
		return "", err
	}
	who := `There is no metacontroller on the PATH: custom resources are accepted, and nothing
reconciles them. Put the program there, and begin anew: make cluster-down cluster`
	if metacontroller, err := exec.LookPath("metacontroller"); err == nil {
		who = "Metacontroller is " + metacontroller + "."
		if err := o.StartMetacontroller(ctx, metacontroller, "dynamic-apply"); err != nil {
			return "", err
		}
	}
	folder, err := filepath.Abs(stateDir)
	if err != nil {
		return "", err
	}
	for name, to := range map[string]string{"kubectl": c.KubectlPath(), "kubeconfig": c.Kubeconfig} {
		link := filepath.Join(folder, name)
		_ = os.Remove(link)
		if err := os.Symlink(to, link); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf(`A cluster is running, with Operetta and a node on which Pods get ready at once.
%[1]s
  export KUBECONFIG=%[2]s/kubeconfig
  export PATH=%[2]s:$PATH
  kubectl apply -f deploy/samples/modelbox.yaml
  kubectl get operetta
Hooks   %[3]s
Logs    %[4]s/*.log
End it  make cluster-down
`, who, folder, o.HookURL, c.Dir), nil
}
