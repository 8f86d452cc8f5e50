//go:build unix

package commands

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/cli"
	"github.com/operetta-dev/operetta/internal/lab/why"
)

// TestMain lets the plugin call this test's program as operetta.
func TestMain(m *testing.M) {
	if os.Getenv("OPERETTA_TEST_IS_OPERETTA") != "" {
		os.Exit(Run(context.Background(), "operetta", ours(), os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
	}
	os.Exit(m.Run())
}

// kubectl is a stand-in that has the objects of a folder, one file for a kind, and may not read nodes.
const kubectl = `#!/bin/sh
[ "$1" = get ] || exit 9
echo "$@" >>"$KUBECTL_FOLDER/calls"
code=0
for kind in $(echo "$2" | tr , ' '); do
  if [ "$kind" = namespace ] && [ "$3" = nowhere ]; then
    echo 'Error from server (NotFound): namespaces "nowhere" not found' >&2
    exit 1
  fi
  if [ "$kind" = nodes ]; then
    echo 'Error from server (Forbidden): nodes is forbidden: User "jane" cannot list resource "nodes"' >&2
    code=1
    continue
  fi
  if [ -f "$KUBECTL_FOLDER/$kind.json" ]; then cat "$KUBECTL_FOLDER/$kind.json"; else echo '{"kind":"List","apiVersion":"v1","items":[]}'; fi
done
exit $code
`

// pluginCommand returns the call of kubectl-operetta with a stand-in for kubectl, which has the objects of a dump.
func pluginCommand(t *testing.T, folder, dump string, args ...string) *exec.Cmd {
	t.Helper()
	replace(t, filepath.Join(folder, "kubectl"), []byte(kubectl))
	text, err := os.ReadFile(dump)
	require.NoError(t, err)
	var list struct{ Items []map[string]any }
	require.NoError(t, json.Unmarshal(text, &list))
	kinds := map[string][]any{}
	for _, object := range list.Items {
		version, kind := object["apiVersion"].(string), strings.ToLower(object["kind"].(string))
		group, _, hasGroup := strings.Cut(version, "/")
		resource := kind + "s"
		if kind == "modelbox" {
			resource = "modelboxes"
		}
		if hasGroup {
			resource += "." + group
		}
		kinds[resource] = append(kinds[resource], object)
	}
	for resource, items := range kinds {
		text, err := json.Marshal(map[string]any{"kind": "List", "apiVersion": "v1", "items": items})
		require.NoError(t, err)
		replace(t, filepath.Join(folder, resource+".json"), text)
	}
	self, err := os.Executable()
	require.NoError(t, err)
	command := exec.CommandContext(t.Context(), "../../../deploy/kubectl-operetta", args...)
	command.Env = append(os.Environ(), "OPERETTA="+self, "OPERETTA_TEST_IS_OPERETTA=yes", "KUBECTL_FOLDER="+folder, "OPERETTA_INTERVAL=0.1", "PATH="+folder+":"+os.Getenv("PATH"))
	return command
}

// replace writes a file of which no reader sees a part.
func replace(t *testing.T, path string, text []byte) {
	t.Helper()
	require.NoError(t, os.WriteFile(path+".new", text, 0o700))
	require.NoError(t, os.Rename(path+".new", path))
}

// plugin calls it.
func plugin(t *testing.T, dump string, args ...string) (calls, stdout, stderr string, err error) {
	t.Helper()
	folder := t.TempDir()
	command := pluginCommand(t, folder, dump, args...)
	var out, errOut bytes.Buffer
	command.Stdout, command.Stderr = &out, &errOut
	err = command.Run()
	called, _ := os.ReadFile(filepath.Join(folder, "calls"))
	return string(called), out.String(), errOut.String(), err
}

// TestPlugin: the plugin says what a dump says, and of a kind that may not be read that it was not seen.
func TestPlugin(t *testing.T) {
	broken := dumpOf(t, sample, "--fail=Deployment/sentiment")
	calls, text, stderr, err := plugin(t, broken, "why", "modelbox/sentiment", "-n", "default")
	require.NoError(t, err, stderr)
	require.Equal(t, `kubectl operetta: nodes is not seen: Error from server (Forbidden): nodes is forbidden: User "jane" cannot list resource "nodes"`+"\n", stderr)
	require.Contains(t, calls, "--namespace=default --show-managed-fields --output=json")
	require.NotContains(t, calls, "secrets")
	code, dumped, _ := operetta(t, "", "why", "modelbox/sentiment", "-f", broken, "--seen=all")
	require.Equal(t, 0, code)
	line := func(text, label string) string {
		for line := range strings.Lines(text) {
			if strings.HasPrefix(strings.TrimSpace(line), label) {
				return line
			}
		}
		return fmt.Sprintf("there is no %s in %s", label, text)
	}
	for _, label := range []string{"because", "also", "holds", "look"} { // the ages are those of today
		require.Equal(t, line(dumped, label), line(text, label))
	}
	require.NotContains(t, text, "not seen")

	calls, text, _, err = plugin(t, broken, "why", "--all", "-A")
	require.NoError(t, err)
	require.Contains(t, calls, "--all-namespaces")
	require.Contains(t, text, "1 of 1 custom resource is not Ready: 1 stuck")

	calls, text, stderr, err = plugin(t, broken, "diff", "-o", "summary")
	require.Contains(t, calls, "--show-managed-fields")
	require.NoError(t, err, text+stderr)
	edited, err := os.ReadFile(sample)
	require.NoError(t, err)
	with := write(t, "edited.yaml", strings.Replace(string(edited), "replicas: 3", "replicas: 5", 1))
	_, text, stderr, err = plugin(t, broken, "diff", "-o", "summary", "--with", with)
	exit, _ := errors.AsType[*exec.ExitError](err)
	require.NotNil(t, exit, text+stderr)
	require.Equal(t, 3, exit.ExitCode(), text+stderr)

	_, _, stderr, err = plugin(t, broken, "describe")
	require.Error(t, err)
	require.Contains(t, stderr, "usage: kubectl operetta why KIND/NAME")
}

// TestPluginWatches: with --watch it answers again when the cluster has changed.
func TestPluginWatches(t *testing.T) {
	folder := t.TempDir()
	command := pluginCommand(t, folder, dumpOf(t, sample, "--fail=Deployment/sentiment"), "why", "--all", "--watch")
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	lines, isChanged := bufio.NewScanner(out), false
	for lines.Scan() {
		if strings.Contains(lines.Text(), "1 of 1 custom resource is not Ready: 1 stuck") && !isChanged {
			isChanged = true
			_ = pluginCommand(t, folder, dumpOf(t, sample)) // writes the objects of a Ready one
		}
		if lines.Text() == "1 custom resource: it is Ready" {
			break
		}
	}
	require.Equal(t, "1 custom resource: it is Ready", lines.Text())
	require.NoError(t, command.Process.Signal(syscall.SIGTERM))
	exit, _ := errors.AsType[*exec.ExitError](command.Wait())
	require.NotNil(t, exit)
}

// TestPluginSaysWhatIsMissing: a namespace, or a custom resource in it.
func TestPluginSaysWhatIsMissing(t *testing.T) {
	broken := dumpOf(t, sample)
	_, _, stderr, err := plugin(t, broken, "why", "--all", "-n", "nowhere")
	require.Error(t, err)
	require.Contains(t, stderr, "kubectl operetta: there is no namespace nowhere")
	_, _, stderr, err = plugin(t, broken, "why", "mb/other", "-n", "default")
	require.Error(t, err)
	require.Contains(t, stderr, "operetta: there is no ModelBox/other in the namespace default: of kind ModelBox there is default/sentiment")
	require.NotContains(t, stderr, "standard input")
	empty := write(t, "empty.json", `{"items":[]}`)
	_, text, _, err := plugin(t, empty, "why", "--all", "-n", "default")
	require.NoError(t, err)
	require.Equal(t, "there is no custom resource of a kind that operetta knows in the namespace default\n", text)
}

// TestPluginIsNamedAfterItsProgram: a copy of it knows the kinds of the program of its name.
func TestPluginIsNamedAfterItsProgram(t *testing.T) {
	folder := t.TempDir()
	command := pluginCommand(t, folder, dumpOf(t, sample), "why", "--all", "-A")
	copied := filepath.Join(folder, "kubectl-shop")
	require.NoError(t, os.Symlink(strings.TrimPrefix(command.Env[len(command.Env)-5], "OPERETTA="), filepath.Join(folder, "shop")))
	text, err := os.ReadFile(command.Path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(copied, text, 0o700))
	command.Path = copied
	command.Env[len(command.Env)-5] = "OPERETTA="
	var out, errOut bytes.Buffer
	command.Stdout, command.Stderr = &out, &errOut
	require.NoError(t, command.Run(), errOut.String())
	require.Contains(t, errOut.String(), "kubectl shop: nodes is not seen: ")
	require.Equal(t, "1 custom resource: it is Ready\n", out.String())
}

// TestWatchPrintsWhatHasChanged, and no ages.
func TestWatchPrintsWhatHasChanged(t *testing.T) {
	ref := func(name string) why.Ref { return why.Ref{Kind: "ModelBox", Namespace: "default", Name: name} }
	held := func(name string) why.Answer { return why.Answer{Ref: ref(name), Because: []why.Cause{{}}} }
	var before told
	for _, step := range []struct {
		text, want string
		answers    []why.Answer
	}{
		{"2 not Ready\nstuck  a, for 5s\nstuck  b, for 1s\n", "2 not Ready\nstuck  a, for 5s\nstuck  b, for 1s\n", []why.Answer{held("a"), held("b")}},
		{"2 not Ready\nstuck  a, for 8m2s\nstuck  b, for 10d\n", "", []why.Answer{held("a"), held("b")}},
		{"2 not Ready\nstuck  a, for 9m\nstuck  b: another, for 1s\n", "stuck  b: another, for 1s\n", []why.Answer{held("a"), held("b")}},
		{"1 not Ready\nstuck  b: another, for 2s\n", "1 not Ready\nready        ModelBox/a in default\n", []why.Answer{{Ref: ref("a")}, held("b")}},
		{"1 Ready\n", "1 Ready\ngone         ModelBox/b in default\n", []why.Answer{{Ref: ref("a")}}},
	} {
		var out bytes.Buffer
		require.NoError(t, before.print(&out, step.text, step.answers, true))
		require.Equal(t, step.want, out.String())
	}
}
