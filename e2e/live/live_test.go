// Package live tests Operetta on a cluster in which Pods run, with the real
// Metacontroller where it is on the PATH.
package live

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/e2e/cluster"
)

// operetta is the cluster that the tests share, and objects reads what is in it.
var (
	operetta *cluster.Operetta
	objects  *cluster.Reader
)

// auditPolicy logs the metadata of all requests except those for leases.
const auditPolicy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: None, resources: [{group: coordination.k8s.io, resources: [leases]}]}
- {level: Metadata}
`

// metacontrollerUser is the user of Metacontroller.
const metacontrollerUser = "system:serviceaccount:metacontroller:metacontroller"

// metacontroller is the path of the program, or empty if it is not on the PATH.
var metacontroller, _ = exec.LookPath("metacontroller")

// skipped counts the tests that were skipped because it is missing.
var skipped atomic.Int32

func TestMain(m *testing.M) {
	if err := cluster.Build(context.Background(), root); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	// The tests mostly wait. -parallel comes later and takes precedence.
	if err := flag.Set("test.parallel", "12"); err != nil {
		panic(err)
	}
	options := cluster.Options{AuditPolicy: auditPolicy, Nodes: true}
	code := cluster.RunTests(m, options, func(c *cluster.Cluster) error {
		var err error
		if operetta, err = c.Install(context.Background(), root); err != nil {
			return err
		}
		objects, err = c.NewReader()
		return err
	})
	if metacontroller == "" {
		fmt.Fprintf(os.Stderr, "%d tests were skipped: metacontroller is not on the PATH\n", skipped.Load())
	} else {
		fmt.Fprintln(os.Stderr, "the tests ran with", metacontroller)
	}
	os.Exit(code)
}

// root is the project's folder.
const root = "../.."

// world is the namespace of a test, while Metacontroller runs in a mode.
type world struct {
	*testing.T

	*run

	ns string
	// begin is the end of the audit log when the test began.
	begin int64
}

var worlds atomic.Int32

// worldPrefix is the prefix of the namespaces' names.
const worldPrefix = "world-"

// newWorld makes a namespace for the time of a test.
func newWorld(t *testing.T, r *run) *world {
	t.Helper()
	w := &world{T: t, run: r, ns: fmt.Sprint(worldPrefix, worlds.Add(1)), begin: auditEnd(t)}
	w.kubectl("create", "namespace", w.ns)
	w.kubectl("wait", "--for=create", "serviceaccount/default", "--timeout="+patience.String())
	// What is left would be reconciled again by the next Metacontroller.
	t.Cleanup(func() {
		w.explainFailure()
		// TestUninstall deletes the CRDs, and nothing is left to delete.
		if crds, _, err := operetta.Kubectl("get", "crd/modelboxes.model.github.com", "--ignore-not-found", "--output=name"); err == nil && crds != "" {
			w.clear()
		}
		_, _, err := operetta.Kubectl("delete", "namespace", w.ns, "--wait=false", "--ignore-not-found")
		require.NoError(t, err)
	})
	return w
}

// kinds are the names of the CRDs in deploy/, <plural>.<group>, separated by commas.
var kinds = func() string {
	paths, err := filepath.Glob(filepath.Join(root, "deploy/crds/*.yaml"))
	if err != nil {
		panic(err)
	}
	var names []string
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			panic(err)
		}
		var crd struct{ Metadata struct{ Name string } }
		if err := yaml.Unmarshal(text, &crd); err != nil {
			panic(err)
		}
		if crd.Metadata.Name != "" { // and no kustomization
			names = append(names, crd.Metadata.Name)
		}
	}
	return strings.Join(names, ",")
}()

// explainFailure prints what helps to understand a failed test, before its objects are deleted.
func (w *world) explainFailure() {
	if !w.Failed() {
		return
	}
	w.Logf("Metacontroller runs with %s, and the namespace is %s", w.mode, w.ns)
	for _, shown := range []string{kinds + " --output=yaml", "all", "events --sort-by=.metadata.creationTimestamp"} {
		stdout, stderr, err := operetta.Kubectl(append([]string{"get", "--namespace=" + w.ns}, strings.Fields(shown)...)...)
		w.Log(stdout, stderr, err)
	}
	list, _ := w.requests(w.begin)
	for _, r := range list {
		if r.isWrite() || r.ResponseStatus.Code >= 400 {
			w.Log(r, r.ResponseStatus.Message)
		}
	}
	for _, program := range []string{cluster.Metacontroller, cluster.OperettaServer} {
		w.Logf("the end of the log of %s:\n%s", program, operetta.Log(program))
	}
}

// clear deletes the custom resources and waits until their children are deleted.
func (w *world) clear() {
	w.Helper()
	w.kubectl("delete", kinds, "--all", "--timeout="+patience.String())
	w.eventually("all children are deleted", func() error {
		left := refs(w.list("pods,jobs,deployments,statefulsets,daemonsets,services,roles,rolebindings", "controller-uid"))
		if len(left) > 0 {
			return fmt.Errorf("these still exist: %s", strings.Join(left, ", "))
		}
		return nil
	})
}

// kubectl runs a command in the test's namespace, and fails the test if it fails.
func (w *world) kubectl(args ...string) string {
	w.Helper()
	return w.kubectlWithInput("", args...)
}

func (w *world) kubectlWithInput(stdin string, args ...string) string {
	w.Helper()
	stdout, _, err := operetta.KubectlWithInput(stdin, append(args, "--namespace="+w.ns)...)
	require.NoError(w, err)
	return stdout
}

// apply applies a manifest, YAML or JSON.
func (w *world) apply(manifest string) {
	w.Helper()
	w.kubectlWithInput(manifest, "apply", "--filename=-")
}

// patience is how long a test waits for a condition before it fails.
const patience = 4 * time.Minute

// eventually waits until a check returns nil.
func (w *world) eventually(what string, check func() error) {
	w.Helper()
	var err error
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		if err = check(); err == nil {
			return
		}
	}
	require.NoError(w, err, "waited %s until %s", patience, what)
}

// ready waits until the condition Ready of some objects is True.
func (w *world) ready(objects ...string) {
	w.Helper()
	_, _, err := operetta.Kubectl(append(append([]string{"wait", "--for=condition=Ready"}, objects...), "--timeout="+patience.String(), "--namespace="+w.ns)...)
	if err == nil {
		return
	}
	var conditions []string
	for _, object := range objects {
		kind, name, _ := strings.Cut(object, "/")
		conditions = append(conditions, object+" is "+w.condition(kind, name, "Ready"))
	}
	require.NoError(w, err, "waited %s until these are Ready:\n%s", patience, strings.Join(conditions, "\n"))
}

// get returns an object, or nil if it does not exist.
func (w *world) get(kind, name string) map[string]any {
	w.Helper()
	object, err := objects.Get(context.Background(), kind, w.ns, name)
	require.NoError(w, err)
	return object
}

// list returns the objects of some kinds.
func (w *world) list(kinds, selector string) []map[string]any {
	w.Helper()
	list, err := objects.List(context.Background(), kinds, w.ns, selector)
	require.NoError(w, err)
	return list
}

// refs returns the kinds and names of objects, as in Pod/a.
func refs(list []map[string]any) []string {
	var names []string
	for _, object := range list {
		names = append(names, fmt.Sprint(at(object, "kind"), "/", at(object, "metadata", "name")))
	}
	return names
}

// at returns a member of nested objects and lists, or nil.
func at(value any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			object, _ := value.(map[string]any)
			value = object[step]
		case int:
			list, _ := value.([]any)
			if step >= len(list) {
				return nil
			}
			value = list[step]
		}
	}
	return value
}

// condition returns a condition of a custom resource, as "False Reason: message".
func (w *world) condition(kind, name, conditionType string) string {
	w.Helper()
	conditions, _ := at(w.get(kind, name), "status", "conditions").([]any)
	for _, c := range conditions {
		if at(c, "type") == conditionType {
			return fmt.Sprintf("%s %s: %s", at(c, "status"), at(c, "reason"), at(c, "message"))
		}
	}
	return ""
}

// samples returns the paths of the samples by kind and name of their custom resource,
// such as modelbox/sentiment.
func samples(t *testing.T) map[string]string {
	t.Helper()
	return samplesIn(t, root)
}

// samplesIn returns those of another checkout.
func samplesIn(t *testing.T, root string) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, "deploy/samples/*.yaml"))
	require.NoError(t, err)
	seeds, err := filepath.Glob(filepath.Join(root, "deploy/samples/seed/*.yaml"))
	require.NoError(t, err)
	named := map[string]string{}
	for _, path := range append(paths, seeds...) {
		for _, text := range strings.Split(read(t, path), "\n---\n") {
			var object struct {
				Kind     string
				Metadata struct{ Name string }
			}
			require.NoError(t, yaml.Unmarshal([]byte(text), &object))
			kind := strings.ToLower(object.Kind)
			if _, err := os.Stat(filepath.Join(root, "deploy/crds", kind+".yaml")); err == nil {
				named[kind+"/"+object.Metadata.Name] = path
			}
		}
	}
	require.GreaterOrEqual(t, len(named), 8)
	return named
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}
