//go:build unix

package docs

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"

	"github.com/operetta-dev/operetta/e2e/cluster"
	"github.com/operetta-dev/operetta/e2e/docs/commands"
	"github.com/operetta-dev/operetta/e2e/tools"
)

// site is where the commands run.
type site struct {
	*testing.T

	operetta *cluster.Operetta
	// dir is a copy of the project, and home what belongs to the user.
	dir, home string
	shell     *commands.Shell
	server    *commands.Server
	// names is a proxy that Metacontroller asks in the place of a name server, and services what it knows:
	// addresses by the names of Services.
	names    string
	services sync.Map
	// running are the Metacontrollers that run.
	running []string
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := newCopy(t, filepath.Join(t.TempDir(), "operetta"))
	var err error
	s.operetta, err = controlPlane.Beside(root)
	require.NoError(t, err)
	require.NoError(t, s.operetta.StartServer(t.Context()))
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
		if address, known := s.services.Load(p.In.URL.Hostname()); known {
			p.Out.URL.Host = address.(string)
		}
	}})
	t.Cleanup(proxy.Close)
	s.names = proxy.URL
	s.nameService("operetta.operetta-system", strings.TrimPrefix(s.operetta.HookURL, "http://"))

	binaries, err := tools.Build(t.Context(), tools.Kubectl)
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(s.bin(), 0o700))
	require.NoError(t, os.Symlink(binaries[tools.Kubectl], filepath.Join(s.bin(), "kubectl")))
	program, err := filepath.Abs(root + "/bin/operetta")
	require.NoError(t, err)
	require.NoError(t, os.Symlink(program, filepath.Join(s.bin(), "operetta")))
	s.server, err = commands.NewServer(s.home)
	require.NoError(t, err)
	s.shell, err = commands.StartShell(s.dir, append(s.env(), "KUBECONFIG="+controlPlane.Kubeconfig))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.shell.Close()) })
	return s
}

// newCopy copies the project to a folder.
func newCopy(t *testing.T, dir string) *site {
	t.Helper()
	s := &site{T: t, dir: dir, home: t.TempDir()}
	s.copyProject()
	return s
}

// bin is a folder of the PATH.
func (s *site) bin() string { return filepath.Join(s.home, "bin") }

// env returns the environment of a user, who has a home without caches.
func (s *site) env() []string {
	s.Helper()
	env := []string{"HOME=" + s.home, "TMPDIR=" + s.home, "PATH=" + s.bin() + ":" + os.Getenv("PATH"), "GOFLAGS=-buildvcs=false -trimpath"}
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPROXY"} { // which a new home would change, too
		value, err := exec.Command("go", "env", name).Output()
		require.NoError(s, err)
		env = append(env, name+"="+strings.TrimSpace(string(value)))
	}
	return env
}

// nameService has a Service of a name, such as operetta.operetta-system, at an address.
func (s *site) nameService(name, address string) {
	s.services.Store(name, address)
}

// copyProject copies the project. Metacontroller's own manifests, which come from the
// network, are stand-ins there.
func (s *site) copyProject() {
	s.Helper()
	require.NoError(s, os.Mkdir(s.dir, 0o700))
	for _, name := range []string{"cmd", "hooks", "internal", "metacontroller", "operator", "operettatest", "release", "serve", "simulation"} {
		require.NoError(s, os.CopyFS(filepath.Join(s.dir, name), os.DirFS(filepath.Join(root, name))))
	}
	for _, pattern := range []string{"*.go", "go.*", "Makefile", "CHANGELOG.md"} {
		names, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(s, err)
		for _, name := range names {
			text, err := os.ReadFile(name)
			require.NoError(s, err)
			s.write(filepath.Base(name), string(text))
		}
	}
	require.NoError(s, cluster.CopyWithoutNetwork(root+"/deploy", filepath.Join(s.dir, "deploy")))
	crds := os.Getenv(cluster.CRDsVariable)
	if crds == "" {
		crds = "../cluster/standin-crds.yaml"
	}
	text, err := os.ReadFile(crds)
	require.NoError(s, err)
	s.write("deploy/metacontroller/base/crds.yaml", string(text))
	s.write("deploy/metacontroller/base/binding.yaml", cluster.MetacontrollerBinding)
	s.write("deploy/metacontroller/base/kustomization.yaml", "resources: [base.yaml, crds.yaml, binding.yaml]\n")
}

// startMetacontrollers ends those that run, and runs those whose StatefulSets are applied.
func (s *site) startMetacontrollers(string) error {
	if err := s.endMetacontrollers(""); err != nil {
		return err
	}
	text, _, err := controlPlane.Kubectl("get", "statefulsets", "--namespace=metacontroller", "--output=json")
	if err != nil {
		return err
	}
	var sets appsv1.StatefulSetList
	if err := json.Unmarshal([]byte(text), &sets); err != nil {
		return err
	}
	if len(sets.Items) == 0 {
		return errors.New("no Metacontroller is installed")
	}
	path, err := exec.LookPath("metacontroller")
	if err != nil {
		return err
	}
	for _, set := range sets.Items {
		// A lease would have the next one wait for the end of the former.
		args := slices.DeleteFunc(slices.Clone(set.Spec.Template.Spec.Containers[0].Args), func(arg string) bool { return arg == "--leader-election" })
		args = append(args, "--discovery-interval=1s") // 20 s by the manifests
		if err := s.operetta.StartMetacontrollerAs(context.Background(), set.Name, path, []string{"HTTP_PROXY=" + s.names}, args...); err != nil {
			return err
		}
		s.running = append(s.running, set.Name)
	}
	return nil
}

// endMetacontrollers ends those that run.
func (s *site) endMetacontrollers(string) error {
	for _, name := range s.running {
		if err := controlPlane.End(name); err != nil {
			return err
		}
	}
	s.running = nil
	return nil
}

func (s *site) read(name string) string {
	s.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, name))
	require.NoError(s, err)
	return string(text)
}

func (s *site) write(name, text string) {
	s.Helper()
	require.NoError(s, os.MkdirAll(filepath.Dir(filepath.Join(s.dir, name)), 0o700))
	require.NoError(s, os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600))
}
