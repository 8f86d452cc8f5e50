package cluster

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/e2e/tools"
)

// CRDsVariable names the environment variable with a file of Metacontroller's
// own CRDs. Without it, stand-ins with an open schema are installed.
const CRDsVariable = "METACONTROLLER_CRDS"

//go:embed standin-crds.yaml
var standInCRDs string

// Operetta is an installation on a cluster: the manifests of deploy/, a server that runs
// outside of the cluster, and Metacontroller with the permissions in deploy/.
type Operetta struct {
	*Cluster

	// Root is the project's folder, with bin/ and deploy/.
	Root string
	// HookURL is the URL of the hooks.
	HookURL string

	listen, health string
}

// Names of the programs.
const (
	OperettaServer = "operetta"
	Metacontroller = "metacontroller"
)

// ServerProgram is the program that the image has, in the project's folder.
const ServerProgram = "bin/operetta-server"

// metacontrollerAccount is the ServiceAccount of Metacontroller, and its namespace.
const metacontrollerAccount = `
apiVersion: v1
kind: Namespace
metadata: {name: metacontroller}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: metacontroller, namespace: metacontroller}
`

// MetacontrollerBinding gives Metacontroller's ServiceAccount its permissions, which all come
// from deploy/.
const MetacontrollerBinding = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: metacontroller}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: metacontroller}
subjects:
- {kind: ServiceAccount, name: metacontroller, namespace: metacontroller}
`

// Build builds bin/operetta and bin/operetta-server in the project's folder, so that tests
// never run an old one. The tests of two packages run at the same time: the second finds it built.
func Build(ctx context.Context, root string) error {
	if err := os.MkdirAll(filepath.Join(root, "bin"), 0o755); err != nil {
		return fmt.Errorf("create the folder of operetta: %w", err)
	}
	release, err := tools.Lock(filepath.Join(root, "bin/operetta.lock"))
	if err != nil {
		return err
	}
	defer release()
	build := exec.CommandContext(ctx, "go", "build", "-o", "bin/", "./cmd/...")
	build.Dir = root
	if output, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build operetta: %w\n%s", err, output)
	}
	return nil
}

// Beside returns the installation of a project's folder before anything of it is installed
// and its server runs.
func (c *Cluster) Beside(root string) (*Operetta, error) {
	listen, err := FreeAddress()
	if err != nil {
		return nil, err
	}
	health, err := FreeAddress()
	if err != nil {
		return nil, err
	}
	root, err = filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("find the project: %w", err)
	}
	return &Operetta{c, root, "http://" + listen, listen, health}, nil
}

// Install installs Operetta from the project's folder, except the CompositeControllers,
// and starts its server.
func (c *Cluster) Install(ctx context.Context, root string) (*Operetta, error) {
	o, err := c.Beside(root)
	if err != nil {
		return nil, err
	}
	if err := o.applyWith(root); err != nil {
		return nil, err
	}
	return o, o.StartServer(ctx)
}

// InstallModule installs the operators of another module from its folder, as its program serves
// them. The arguments are further ones of its command manifests, such as --prefix.
func (c *Cluster) InstallModule(ctx context.Context, root, program string, args ...string) (*Operetta, error) {
	o, err := c.Beside(root)
	if err != nil {
		return nil, err
	}
	clone, err := tools.Clone(ctx)
	if err != nil {
		return nil, err
	}
	if err := o.applyWith(clone); err != nil {
		return nil, err
	}
	if err := o.Run(ctx, Program{
		Name: filepath.Base(program), Path: o.file(program),
		Args:  []string{"serve", "--listen=" + o.listen, "--metrics-listen=" + o.health, "--drain-delay=0s"},
		Ready: Healthy("http://" + o.health + "/readyz"),
	}); err != nil {
		return nil, err
	}
	return o, o.connect(program, "v2", append([]string{"--hook-url=" + o.HookURL}, args...)...)
}

// applyWith applies the CRDs and the permissions of the project, and of Metacontroller those in a clone
// of Operetta.
func (o *Operetta) applyWith(clone string) error {
	account := filepath.Join(clone, "deploy/metacontroller")
	for _, apply := range [][]string{
		{metacontrollerAccount + "---" + MetacontrollerBinding, "--filename=-"},
		{"", "--filename=" + filepath.Join(account, "clusterrole.yaml"), "--filename=" + filepath.Join(account, "leader-election.yaml")},
		{"", "--kustomize=" + o.file("deploy/crds")},
		{"", "--kustomize=" + o.file("deploy/rbac")},
	} {
		if _, _, err := o.KubectlWithInput(apply[0], append([]string{"apply"}, apply[1:]...)...); err != nil {
			return err
		}
	}
	return o.installMetacontrollerCRDs()
}

// In returns the same installation with the program and the files of another
// checkout.
func (o *Operetta) In(root string) *Operetta {
	other := *o
	other.Root = root
	return &other
}

func (o *Operetta) file(path string) string { return filepath.Join(o.Root, path) }

func (o *Operetta) installMetacontrollerCRDs() error {
	var err error
	if path := os.Getenv(CRDsVariable); path != "" {
		_, _, err = o.Kubectl("apply", "--server-side", "--filename="+path)
	} else {
		_, _, err = o.KubectlWithInput(standInCRDs, "apply", "--filename=-")
	}
	if err != nil {
		return fmt.Errorf("install Metacontroller's CRDs: %w", err)
	}
	// All of them: before a CRD is established, kubectl does not find the kind.
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(pollInterval) {
		_, _, err := o.Kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
		if err == nil || time.Now().After(deadline) {
			return err
		}
	}
}

// StartServer starts bin/operetta-server with the arguments and environment of deploy/, and
// further arguments.
func (o *Operetta) StartServer(ctx context.Context, further ...string) error {
	args, env, err := o.shippedServer()
	if err != nil {
		return err
	}
	// At level debug the log also has a line for each request that changes nothing.
	args = append(args, "--listen="+o.listen, "--metrics-listen="+o.health, "--drain-delay=0s", "--log-level=debug")
	args = append(args, further...)
	return o.Run(ctx, Program{
		Name: OperettaServer, Path: o.file(ServerProgram), Args: args, Env: env,
		Ready: Healthy("http://" + o.health + "/readyz"),
	})
}

// shippedServer returns the arguments and the environment of the server's container in
// deploy/.
func (o *Operetta) shippedServer() (args, env []string, err error) {
	manifest, err := os.ReadFile(o.file("deploy/server/deployment.yaml"))
	if err != nil {
		return nil, nil, fmt.Errorf("read how the server is started: %w", err)
	}
	var deployment appsv1.Deployment
	if err := yaml.Unmarshal(manifest, &deployment); err != nil {
		return nil, nil, fmt.Errorf("read how the server is started: %w", err)
	}
	containers := deployment.Spec.Template.Spec.Containers
	if len(containers) != 1 {
		return nil, nil, fmt.Errorf("the server's Deployment has %d containers", len(containers))
	}
	for _, variable := range containers[0].Env {
		if variable.ValueFrom == nil {
			env = append(env, variable.Name+"="+variable.Value)
		}
	}
	return containers[0].Args, env, nil
}

// Connect applies the CompositeControllers with the URL of the hooks and the hook version,
// v1 or v2, as operetta manifests prints them with more arguments.
func (o *Operetta) Connect(url, hookVersion string, args ...string) error {
	return o.connect("bin/operetta", hookVersion, append([]string{"--hook-url=" + url}, args...)...)
}

// connect applies what a program's command manifests prints.
func (o *Operetta) connect(program, hookVersion string, args ...string) error {
	printed, err := exec.Command(o.file(program), append([]string{"manifests"}, args...)...).Output()
	if err != nil {
		return fmt.Errorf("%s manifests: %w", program, err)
	}
	manifests := strings.ReplaceAll(string(printed), "version: v2\n", "version: "+hookVersion+"\n")
	_, _, err = o.KubectlWithInput(manifests, "apply", "--filename=-")
	return err
}

// StartMetacontroller starts Metacontroller with an apply strategy, as its
// ServiceAccount.
func (o *Operetta) StartMetacontroller(ctx context.Context, path, strategy string) error {
	return o.StartMetacontrollerAs(ctx, Metacontroller, path, nil, "--apply-strategy="+strategy,
		"--discovery-interval=20s", "--client-go-qps=200", "--client-go-burst=400", "--workers=10", "--zap-log-level=info")
}

// StartMetacontrollerAs starts one of several Metacontrollers, as the ServiceAccount that
// they have in common, with environment variables and arguments.
func (c *Cluster) StartMetacontrollerAs(ctx context.Context, name, path string, env []string, args ...string) error {
	kubeconfig := c.path("metacontroller.kubeconfig")
	if err := c.writeKubeconfig(kubeconfig, "metacontroller", "metacontroller"); err != nil {
		return err
	}
	metrics, err := FreeAddress()
	if err != nil {
		return err
	}
	health, err := FreeAddress()
	if err != nil {
		return err
	}
	return c.Run(ctx, Program{
		Name: name, Path: path, Env: env,
		Args: append([]string{
			"--kubeconfig=" + kubeconfig, "--metrics-address=" + metrics, "--health-probe-bind-address=" + health,
			// Tests read events. The default of 25 for each parent is used up by a
			// few failures on a slow machine.
			"--events-burst=1000",
		}, args...),
		Ready: Healthy("http://" + health + "/healthz"),
	})
}

// writeKubeconfig writes a kubeconfig for a ServiceAccount to a file.
func (c *Cluster) writeKubeconfig(path, namespace, account string) error {
	token, _, err := c.Kubectl("create", "token", account, "--namespace="+namespace, "--duration=24h")
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(c.kubeconfig(account, strings.TrimSpace(token))), 0o600)
}
