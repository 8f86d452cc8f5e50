package operetta_test

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// newProject is a folder in which commands run.
type newProject struct {
	*testing.T

	dir string
}

// run runs a command that must succeed, and returns its output.
func (p newProject) run(name string, args ...string) string {
	p.Helper()
	command := exec.Command(name, args...)
	command.Dir = p.dir
	output, err := command.CombinedOutput()
	require.NoError(p, err, "%s %v: %s", name, args, output)
	return string(output)
}

// build builds the project's program again, with what is generated.
func (p newProject) build(pkg string) {
	p.Helper()
	p.run("go", "build", "-mod=mod", "-trimpath", "-ldflags=-s -w", "-o", "bin/program", pkg)
}

// tidy runs go mod tidy, which knows the sums of what this module requires, and finds nothing newer.
func (p newProject) tidy(t *testing.T) {
	sums, err := os.ReadFile("go.sum")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, "go.sum"), sums, 0o600))
	p.run("go", "mod", "tidy")
	ours := (newProject{t, "."}).run("go", "list", "-m", "all")
	for module := range strings.Lines(p.run("go", "list", "-m", "all")) {
		if strings.HasPrefix(module, "k8s.io/") {
			require.Contains(t, ours, "\n"+module)
		}
	}
}

// saysWhatToDoWithoutLogic runs make generate where the logic does not fit the types yet.
func (p newProject) saysWhatToDoWithoutLogic(t *testing.T) {
	logic := filepath.Join(p.dir, "hooks/webapp/children.go")
	text, err := os.ReadFile(logic)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(logic, append(bytes.Clone(text), "\nvar _ = (&Spec{}).Missing\n"...), 0o600))
	command := exec.Command("make", "generate")
	command.Dir = p.dir
	output, err := command.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(output), "until the logic is written, let sync return an error")
	require.NoError(t, os.WriteFile(logic, text, 0o600))
}

// TestNewModule starts a module, adds a second kind to it, and does with it what the last lines
// of both commands say.
func TestNewModule(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a program twice: make cover")
	}
	p := newProject{t, filepath.Join(t.TempDir(), "acme")}
	(newProject{t, "."}).run("go", "build", "-trimpath", "-ldflags=-s -w", "-o", p.dir+"-operetta", "./cmd/operetta")
	(newProject{t, "."}).run(p.dir+"-operetta", "new", "--module", "example.com/acme/operators", p.dir)
	for kind, children := range kinds {
		p.run(p.dir+"-operetta", "new", kind, "--children", children)
	}
	p.tidy(t)
	require.Empty(t, p.run("gofmt", "-l", "."))

	p.build(".")
	installation := strings.Fields(`--prefix acme-operators- --namespace acme-operators-system --service acme-operators --managed-by acme-operators`)
	p.run("bin/program", append([]string{"generate"}, installation...)...)
	p.build(".") // with the CRDs
	require.Empty(t, p.run("bin/program", append([]string{"generate", "--check"}, installation...)...))
	text, err := os.ReadFile(filepath.Join(p.dir, "deploy/controllers/rediscache.yaml"))
	require.NoError(t, err)
	require.Contains(t, string(text), "  name: acme-operators-rediscache\n")
	require.Contains(t, string(text), "namespace: acme-operators-system\n")
	p.saysWhatToDoWithoutLogic(t)

	p.run("go", "test", "-mod=mod", "-trimpath", "-short", "-vet=all", "./hooks", "-run", "^TestOperators$", "-update")
	p.run("go", "test", "-mod=mod", "-trimpath", "-short", "./hooks", "-count=1") // against what was written
	for kind := range kinds {
		goldens, err := filepath.Glob(filepath.Join(p.dir, "testdata", strings.ToLower(kind), "sync/*-ready.out.yaml"))
		require.NoError(t, err)
		require.Len(t, goldens, 1)
		golden, err := os.ReadFile(goldens[0])
		require.NoError(t, err)
		require.Regexp(t, `status: "True"\n +type: Ready\n`, string(golden), "as the case says")
		if kind != "Shell" && kind != "Task" { // whose children stay as they are
			require.Contains(t, string(golden), "app.kubernetes.io/managed-by: acme-operators\n")
		}
		sample := "deploy/samples/" + strings.ToLower(kind) + ".yaml"
		require.Contains(t, p.run("bin/program", "simulate", sample), "= "+kind+" default/hello: Ready and quiet")
		require.Equal(t, 2, strings.Count(p.run("bin/program", "explore", sample, "--schedules", "10"), "schedules: 10, found: 0"))
	}
	p.makesOptionalChild(t)
	p.refusesStalePermissions(t)

	// A CRD in which something is wrong is not written, and that in the program does not keep
	// generate from writing another.
	types := filepath.Join(p.dir, "hooks/webapp/types.go")
	text, err = os.ReadFile(types)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(types, bytes.Replace(text, []byte("scope=Namespaced"), []byte("scope=Cluster"), 1), 0o600))
	command := exec.Command("bin/program", append([]string{"generate"}, installation...)...)
	command.Dir = p.dir
	output, err := command.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(output), "WebApp: child Deployment lives in a namespace and the parent does not")
	require.NoError(t, os.WriteFile(types, text, 0o600))
	p.run("bin/program", append([]string{"generate", "--check"}, installation...)...)
}

// kinds have each choice of children that a kind can begin with.
var kinds = map[string]string{
	"RedisCache": "StatefulSet,Service", "Front": "Deployment", "Shell": "Pod", "Task": "Job", "Texts": "ConfigMap",
}

// refusesStalePermissions runs make test where a child was declared and nothing generated.
func (p newProject) refusesStalePermissions(t *testing.T) {
	path := filepath.Join(p.dir, "deploy/rbac/webapp.yaml")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, bytes.Replace(text, []byte("  - services\n"), nil, 1), 0o600))
	command := exec.Command("make", "test")
	command.Dir = p.dir
	output, err := command.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(output), "deploy/rbac/webapp.yaml")
	require.NoError(t, os.WriteFile(path, text, 0o600))
}

// makesOptionalChild adds a child that some specs want, and has it go and come.
func (p newProject) makesOptionalChild(t *testing.T) {
	change := func(path, old, with string) (undo func()) {
		path = filepath.Join(p.dir, path)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Contains(t, string(text), old)
		require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(text), old, with, 1)), 0o600))
		return func() { require.NoError(t, os.WriteFile(path, text, 0o600)) }
	}
	declared := change("hooks/webapp/webapp.go", "{Resource: metacontroller.Deployment,", "{Resource: metacontroller.ConfigMap, Update: metacontroller.InPlace}, {Resource: metacontroller.Deployment,")
	asked := change("hooks/webapp/children.go", "	return []metacontroller.Object{deployment(parent), service(parent)}", `	all := []metacontroller.Object{deployment(parent), service(parent)}
	if wantedReplicas(parent) > 1 {
		all = append(all, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: parent.Name}})
	}
	return all`)
	p.build(".")
	text, err := os.ReadFile(filepath.Join(p.dir, "deploy/samples/webapp.yaml"))
	require.NoError(t, err)
	fewer := filepath.Join(t.TempDir(), "fewer.yaml")
	require.NoError(t, os.WriteFile(fewer, bytes.Replace(text, []byte("replicas: 2"), []byte("replicas: 1"), 1), 0o600))
	require.Contains(t, p.run("bin/program", "simulate", "deploy/samples/webapp.yaml", fewer), "- ConfigMap/hello")
	schedule := filepath.Join(t.TempDir(), "schedule.txt")
	require.NoError(t, os.WriteFile(schedule, []byte("calm 60\nedit WebApp/hello {\"spec\":{\"replicas\":1}}\ncalm 60\n"), 0o600))
	p.run("bin/program", "explore", "deploy/samples/webapp.yaml", "--schedule", schedule)
	declared()
	asked()
	p.build(".")
}

// TestNewKindHere adds a kind to a copy of this repository, where every kind owes more
// than elsewhere.
func TestNewKindHere(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles the whole repository in another folder: make cover")
	}
	p := newProject{t, t.TempDir()}
	require.NoError(t, copyRepository(p.dir))
	p.build("./cmd/operetta")
	p.run("bin/program", "new", "Gadget", "--group", "gadget.operetta.dev")
	p.build("./cmd/operetta")
	p.run("bin/program", "generate", "--packages", "./hooks/...")
	p.boundInQuota(t, "gadgets.gadget.operetta.dev")
	t.Setenv("OPERETTA_TEST_KIND", "gadget")
	p.run("go", "test", "-trimpath", "-short", "./hooks", "-run", "^TestOperators$", "-update")
	p.run("go", "test", "-trimpath", "-short", "-count=1", "./hooks/gadget", "./hooks", "./deploy")
}

// boundInQuota writes what a person has to decide: how many of a kind a namespace may have.
func (p newProject) boundInQuota(t *testing.T, plural string) {
	path := filepath.Join(p.dir, "docs/security.md")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	const first = "    count/builds.ci.zt.vapi.cc:"
	require.Contains(t, string(text), first)
	text = []byte(strings.Replace(string(text), first, "    count/"+plural+": \"20\"\n"+first, 1))
	require.NoError(t, os.WriteFile(path, text, 0o600))
}

// copyRepository copies what is needed to build and test the operators.
func copyRepository(to string) error {
	for _, name := range []string{"cmd", "deploy", "docs", "e2e", "examples", "hooks", "internal", "metacontroller", "operator", "operettatest", "serve", "simulation", "testdata"} {
		if err := os.CopyFS(filepath.Join(to, name), os.DirFS(name)); err != nil {
			return err
		}
	}
	for _, pattern := range []string{"*.go", "go.*", "*.md", "Makefile", "Dockerfile", ".dockerignore"} {
		names, err := fs.Glob(os.DirFS("."), pattern)
		if err != nil {
			return err
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err == nil {
				err = os.WriteFile(filepath.Join(to, name), text, 0o600)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}
