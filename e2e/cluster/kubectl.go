package cluster

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/operetta-dev/operetta/e2e/tools"
)

// kubectlTimeout ends a kubectl that hangs, such as a `wait` without a timeout. It is
// longer than any --timeout of a test, whose error says what was waited for.
const kubectlTimeout = 5 * time.Minute

// KubectlPath returns the path of kubectl, for scripts.
func (c *Cluster) KubectlPath() string { return c.binaries[tools.Kubectl] }

// Kubectl runs kubectl as the cluster's administrator, in the directory of the
// test, and returns what it wrote. The error of a failed command includes
// what kubectl wrote to its standard error.
func (c *Cluster) Kubectl(args ...string) (stdout, stderr string, err error) {
	return c.KubectlWithInput("", args...)
}

// KubectlWithInput is Kubectl with a standard input, as for `apply -f -`.
func (c *Cluster) KubectlWithInput(stdin string, args ...string) (stdout, stderr string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), kubectlTimeout)
	defer cancel()

	cmd := exec.CommandContext(ctx, c.binaries[tools.Kubectl], args...)
	// The user's own configuration, caches and proxies are of no concern here.
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + c.Dir,
		"TMPDIR=" + c.Dir,
		"KUBECONFIG=" + c.Kubeconfig,
		"KUBECACHEDIR=" + c.path("kubectl-cache"),
	}
	var out, errOut bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errOut
	if err := cmd.Run(); err != nil {
		return out.String(), errOut.String(), fmt.Errorf("kubectl %s: %w\n%s", strings.Join(args, " "), err, errOut.String())
	}
	return out.String(), errOut.String(), nil
}
