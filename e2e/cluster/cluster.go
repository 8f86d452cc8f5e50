// Package cluster runs a real Kubernetes control plane, reachable from this
// machine only: etcd and kube-apiserver and, if Pods are to run, the built-in
// controllers, the scheduler and kwok, which simulates the kubelet of one node.
//
// The programs are started as plain processes instead of through envtest of
// controller-runtime. That one starts the first two programs only, switches the ServiceAccount admission off, leaves etcd open to all
// users of the machine, and brings its own versions of the Kubernetes modules.
//
// It is meant for Linux; it compiles for macOS too, but has not been run there.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/operetta-dev/operetta/e2e/tools"
)

const (
	// startTimeout bounds the wait for one component. They need about three
	// seconds, but tests share slow machines with builds.
	startTimeout = 2 * time.Minute
	// stopGrace is how long a component may take to end by itself: the terminationGracePeriodSeconds
	// of the server, whose requests in flight have 20 s of it.
	stopGrace = 30 * time.Second

	// KeepVariable names the environment variable that, when set, keeps the
	// directory of a cluster with all its logs for a look after the test.
	KeepVariable = "OPERETTA_E2E_KEEP"
)

// Options say how a cluster differs from the default one.
type Options struct {
	// AuditPolicy is the text of an audit policy. If it is not empty, the API
	// server writes the events that the policy selects to Cluster.AuditLog.
	AuditPolicy string
	// Nodes adds the built-in controllers, the scheduler and a node on which Pods
	// get ready or succeed as soon as they are scheduled.
	Nodes bool
}

// Cluster is a running control plane.
type Cluster struct {
	// Dir holds all files of the cluster; only the current user may enter it.
	Dir string
	// URL is the address of the API server.
	URL string
	// Kubeconfig is the path of a kubeconfig file with all permissions.
	Kubeconfig string

	options  Options
	binaries map[tools.Tool]string
	mu       sync.Mutex // guards what Run, End, Kill and PID do with running
	running  []*process
	stopOnce sync.Once
	stopErr  error
}

// Program is a program that runs beside the control plane and ends with it.
type Program struct {
	// Name is what its log is named after.
	Name string
	// Path and Args are what is run, in the cluster's directory.
	Path string
	Args []string
	// Env is its environment, beside PATH, HOME and TMPDIR.
	Env []string
	// Ready returns nil once the program is ready.
	Ready func(context.Context) error
}

// Start builds the programs if necessary, starts them one after the other and
// returns once the API server is ready. On failure all programs are stopped, and the
// error has the last lines of the log of the program that failed.
func Start(ctx context.Context, options Options) (*Cluster, error) {
	needed := tools.ControlPlane()
	if options.Nodes {
		needed = append(needed, tools.Nodes()...)
	}
	binaries, err := tools.Build(ctx, needed...)
	if err != nil {
		return nil, fmt.Errorf("get the control plane's binaries: %w", err)
	}
	dir, err := os.MkdirTemp("", "operetta-e2e-")
	if err != nil {
		return nil, fmt.Errorf("create the cluster's directory: %w", err)
	}
	c := &Cluster{Dir: dir, options: options, binaries: binaries}
	if err := c.start(ctx); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context) error {
	address, err := FreeAddress()
	if err != nil {
		return err
	}
	c.URL = "https://" + address
	c.Kubeconfig = c.path("admin.kubeconfig")
	if err := c.writeFiles(); err != nil {
		return err
	}
	// Each component needs those before it.
	if err := c.Run(ctx, c.etcd()); err != nil {
		return err
	}
	if err := c.Run(ctx, c.apiServer(address)); err != nil {
		return err
	}
	if c.options.Nodes {
		return c.startNodes(ctx)
	}
	return nil
}

// program returns a program of the control plane.
func (c *Cluster) program(tool tools.Tool, ready func(context.Context) error, args ...string) Program {
	return Program{Name: tool.Name, Path: c.binaries[tool], Args: args, Ready: ready}
}

// Run starts a program and waits until it is ready. Stop ends it, unless it has ended
// before.
func (c *Cluster) Run(ctx context.Context, program Program) error {
	p, err := startProcess(program, c.Dir, c.path(program.Name+".log"))
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.running = append(c.running, p)
	c.mu.Unlock()

	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := p.waitReady(ctx, program.Ready); err != nil {
		return fmt.Errorf("start %s: %w\nthe end of its log:\n%s", program.Name, err, p.logTail())
	}
	return nil
}

// End sends a program SIGTERM and waits for its end, as when its Pod is deleted.
func (c *Cluster) End(name string) error {
	p, err := c.take(name)
	if err != nil {
		return err
	}
	return p.stop(stopGrace)
}

// Kill sends a program SIGKILL, as when its node fails.
func (c *Cluster) Kill(name string) error {
	p, err := c.take(name)
	if err != nil {
		return err
	}
	return p.kill()
}

// PID returns the process id of a program, or 0 if none of the name runs.
func (c *Cluster) PID(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.running {
		if p.Name == name {
			return p.cmd.Process.Pid
		}
	}
	return 0
}

// take removes a program from the list of running ones.
func (c *Cluster) take(name string) (*process, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.running, func(p *process) bool { return p.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("no %s runs here", name)
	}
	p := c.running[i]
	c.running = slices.Delete(c.running, i, i+1)
	return p, nil
}

// Log returns the end of the log of a program.
func (c *Cluster) Log(name string) string {
	return (&process{logPath: c.path(name + ".log")}).logTail()
}

// Stop ends the components, the last started first, and deletes their files.
// It returns an error if a component had ended before or had to be killed.
// Further calls do nothing and return the same.
func (c *Cluster) Stop() error {
	c.stopOnce.Do(func() {
		for _, p := range slices.Backward(c.running) {
			c.stopErr = errors.Join(c.stopErr, p.stop(stopGrace))
		}
		if os.Getenv(KeepVariable) != "" {
			fmt.Fprintln(os.Stderr, "kept the files of the cluster in", c.Dir)
			return
		}
		if err := os.RemoveAll(c.Dir); err != nil {
			c.stopErr = errors.Join(c.stopErr, fmt.Errorf("delete the cluster's files: %w", err))
		}
	})
	return c.stopErr
}

// PrintLogs writes the last lines of each component's log, which often show why a test
// failed.
func (c *Cluster) PrintLogs(w io.Writer) {
	for _, p := range c.running {
		fmt.Fprintf(w, "--- the end of the log of %s\n%s\n", p.Name, p.logTail())
	}
}

// path returns the path of one of the cluster's files.
func (c *Cluster) path(name string) string {
	return filepath.Join(c.Dir, name)
}

// FreeAddress returns a loopback address on which nothing listens. The API
// server cannot choose a port by itself. That another program takes the port in
// the moment before the API server does is possible, but unlikely: the kernel
// picks ports at random, and Start then reports it.
func FreeAddress() (string, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(loopback, "0"))
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	if err := listener.Close(); err != nil {
		return "", fmt.Errorf("release the free port: %w", err)
	}
	return net.JoinHostPort(loopback, strconv.Itoa(port)), nil
}
