package cluster

import (
	"context"
	_ "embed"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/operetta-dev/operetta/e2e/tools"
)

// node is the only node, and PersistentVolumes for the claims of tests, because no
// provisioner runs here.
//
//go:embed node.yaml
var node string

// completeStage makes Pods without restartPolicy Always succeed. kwok's own stage does
// that for the Pods of Jobs only.
//
//go:embed pod-complete.yaml
var completeStage string

// failStage lets containers fail whose image says so.
//
//go:embed pod-fails.yaml
var failStage string

// fails are the images that fail, each with the event of the kubelet.
var fails = []struct{ cause, event, message string }{
	{"pull", "Failed", "Error: ImagePullBackOff"},
	{"crash", "BackOff", "Back-off restarting failed container"},
	{"oom", "BackOff", "Back-off restarting failed container"},
	{"probe", "Unhealthy", "Readiness probe failed: dial tcp 10.0.0.1:80: connect: connection refused"},
}

// failStages returns the stages of all images that fail.
func failStages() (stages []string) {
	for _, fail := range fails {
		for _, when := range [][]string{{"begins", "DoesNotExist", "0"}, {"again", "Exists", "60000"}} {
			stages = append(stages, strings.NewReplacer(
				"CAUSE", fail.cause, "NAME", when[0], "WHEN", when[1], "DELAY", when[2], "EVENT", fail.event, "MESSAGE", strconv.Quote(fail.message),
			).Replace(failStage))
		}
	}
	return stages
}

// fastStages are the stages of kwok that are used, below its source folder.
var fastStages = []string{
	"kustomize/stage/node/fast/node-initialize.yaml",
	"kustomize/stage/pod/fast/pod-ready.yaml",
	"kustomize/stage/pod/fast/pod-delete.yaml",
}

// startNodes starts the controllers, the scheduler and kwok, and waits for the node.
func (c *Cluster) startNodes(ctx context.Context) error {
	source, err := tools.Kwok.SourceDir(ctx)
	if err != nil {
		return fmt.Errorf("find the stages of kwok: %w", err)
	}
	stages := append(failStages(), completeStage)
	for _, stage := range fastStages {
		text, err := os.ReadFile(filepath.Join(source, stage))
		if err != nil {
			return fmt.Errorf("read a stage of kwok: %w", err)
		}
		stages = append(stages, string(text))
	}
	if err := os.WriteFile(c.path("stages.yaml"), []byte(strings.Join(stages, "\n---\n")), 0o600); err != nil {
		return fmt.Errorf("write the stages of kwok: %w", err)
	}
	for _, describe := range []func() (Program, error){c.controllerManager, c.scheduler, c.kwok} {
		program, err := describe()
		if err != nil {
			return err
		}
		if err := c.Run(ctx, program); err != nil {
			return err
		}
	}
	if _, _, err := c.KubectlWithInput(node, "apply", "--filename=-"); err != nil {
		return fmt.Errorf("create the node: %w", err)
	}
	if _, _, err := c.Kubectl("wait", "--for=condition=Ready", "node/node-1", "--timeout=60s"); err != nil {
		return fmt.Errorf("wait for the node: %w", err)
	}
	// Without it no Pod is admitted.
	_, _, err = c.Kubectl("wait", "--for=create", "serviceaccount/default", "--namespace=default", "--timeout=60s")
	return err
}

func (c *Cluster) controllerManager() (Program, error) {
	address, err := FreeAddress()
	args := append(c.clientArgs(address),
		"--use-service-account-credentials",
		"--service-account-private-key-file="+c.serviceAccountKey(),
		"--root-ca-file="+c.certificateAuthority(),
	)
	return c.program(tools.KubeControllerManager, Healthy("https://"+address+"/healthz"), args...), err
}

func (c *Cluster) scheduler() (Program, error) {
	address, err := FreeAddress()
	return c.program(tools.KubeScheduler, Healthy("https://"+address+"/healthz"), c.clientArgs(address)...), err
}

// clientArgs are those that the two programs share.
func (c *Cluster) clientArgs(address string) []string {
	_, port, _ := net.SplitHostPort(address)
	return []string{
		"--kubeconfig=" + c.Kubeconfig,
		"--authentication-kubeconfig=" + c.Kubeconfig,
		"--authorization-kubeconfig=" + c.Kubeconfig,
		"--bind-address=" + loopback,
		"--secure-port=" + port,
		"--leader-elect=false",
		"--kube-api-qps=200",
		"--kube-api-burst=400",
	}
}

func (c *Cluster) kwok() (Program, error) {
	address, err := FreeAddress()
	return c.program(tools.Kwok, Healthy("http://"+address+"/healthz"),
		"--kubeconfig="+c.Kubeconfig,
		"--manage-all-nodes",
		"--node-lease-duration-seconds=40",
		"--server-address="+address,
		"--config="+c.path("stages.yaml"),
	), err
}
