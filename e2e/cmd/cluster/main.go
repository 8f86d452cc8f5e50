// Command cluster runs a cluster to try things on: a real control plane, a node simulated by kwok,
// Operetta and, if it is on the PATH, Metacontroller. cluster.sh runs it in the background, in the
// folder e2e/. With the argument build it only fills the cache of programs, which tests have no time for.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/operetta-dev/operetta/e2e/cluster"
	"github.com/operetta-dev/operetta/e2e/tools"
)

// root is the project's folder.
const root = ".."

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer cancel()
	do := serve
	if slices.Equal(os.Args[1:], []string{"build"}) {
		do = build
	}
	if err := do(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

func build(ctx context.Context) error {
	_, err := tools.Build(ctx, slices.Concat(tools.ControlPlane(), tools.Nodes())...)
	return err
}

// serve runs a cluster with everything on it until it is told to end.
func serve(ctx context.Context) error {
	c, err := cluster.Start(ctx, cluster.Options{Nodes: true})
	if err != nil {
		return err
	}
	if err = install(ctx, c); err == nil {
		<-ctx.Done()
	}
	return errors.Join(err, c.Stop())
}

// install installs everything, and writes how to use it to a file.
func install(ctx context.Context, c *cluster.Cluster) error {
	o, err := c.Install(ctx, root)
	if err != nil {
		return err
	}
	if err := o.Connect(o.HookURL, "v2"); err != nil {
		return err
	}
	who := `There is no metacontroller on the PATH: custom resources are accepted, and nothing
reconciles them. Put the program there, and begin anew: make cluster-down cluster`
	if metacontroller, err := exec.LookPath("metacontroller"); err == nil {
		who = "Metacontroller is " + metacontroller + "."
		if err := o.StartMetacontroller(ctx, metacontroller, "dynamic-apply"); err != nil {
			return err
		}
	}
	folder, err := filepath.Abs(filepath.Join(root, "bin/cluster"))
	if err != nil {
		return err
	}
	for name, to := range map[string]string{"kubectl": c.KubectlPath(), "kubeconfig": c.Kubeconfig} {
		link := filepath.Join(folder, name)
		_ = os.Remove(link)
		if err := os.Symlink(to, link); err != nil {
			return err
		}
	}
	text := fmt.Sprintf(`A cluster is running, with Operetta and a node on which Pods get ready at once.
%[1]s

  export KUBECONFIG=%[2]s/kubeconfig
  export PATH=%[2]s:$PATH
  kubectl apply -f deploy/samples/modelbox.yaml
  kubectl get operetta

A container with the image fail/pull:1, fail/crash:1, fail/oom:1 or fail/probe:1 fails so.

Hooks   %[3]s
Logs    %[4]s/*.log
End it  make cluster-down
`, who, folder, o.HookURL, c.Dir)
	unfinished := filepath.Join(folder, "unfinished")
	if err := os.WriteFile(unfinished, []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(unfinished, filepath.Join(folder, "ready"))
}
