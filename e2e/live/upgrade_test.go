package live

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/e2e/cluster"
)

// formerDir has what the release before this one installs, and its commit.
const formerDir = "../testdata/v0.1.0"

// change is a difference between what there was before and after a change of the
// version, and why it may be.
type change struct{ what, why string }

// upgradeChanges and rollbackChanges are all differences that the two may make among
// the objects of the samples.
var (
	upgradeChanges = []change{
		{"gone: (ServiceAccount|Role|RoleBinding)/podbuggertool-toolbox", "no Pod waits for its debug container, and nothing is allowed meanwhile"},
	}
	rollbackChanges = []change{
		{"new: (ServiceAccount|Role|RoleBinding)/podbuggertool-toolbox", "v0.1.0 has them for as long as the PodBuggerTool"},
	}
)

// children are the kinds of the objects that must survive: those that hooks ask for, and
// what Kubernetes makes of them.
const children = "pods,jobs,deployments,replicasets,statefulsets,daemonsets,services,configmaps,secrets,serviceaccounts,roles,rolebindings,persistentvolumeclaims"

// TestUpgradeAndRollback installs the former release with its server, goes over to this
// version with the samples in the cluster, back again, and takes all away. The manifests
// come before the server, as kubectl applies them.
func TestUpgradeAndRollback(t *testing.T) {
	if metacontroller == "" {
		skipped.Add(1)
		t.Skip("metacontroller is not on the PATH")
	}
	former := operetta.In(formerCheckout(t))
	now, _, err := operetta.Kubectl("kustomize", root+"/deploy")
	require.NoError(t, err)
	for _, m := range modes[:2] {
		t.Run(m.String(), func(t *testing.T) {
			kubectl(t, "", "delete", "--ignore-not-found", "--kustomize="+root+"/deploy", "--timeout="+patience.String())
			serve := func(version *cluster.Operetta) {
				require.NoError(t, operetta.End(cluster.OperettaServer))
				require.NoError(t, version.StartServer(t.Context()))
			}
			serve(former)
			w := newWorld(t, startWith(t, m, func() { install(t, formerManifests(t)) }))
			// Before the namespace is cleared; the next mode begins with it.
			defer func() {
				require.NoError(t, operetta.End(cluster.OperettaServer))
				require.NoError(t, operetta.StartServer(context.Background()))
			}()

			defer w.runDebugJobs()()
			all := samplesIn(t, former.Root)
			names := slices.Sorted(maps.Keys(all))
			for _, path := range slices.Compact(slices.Sorted(maps.Values(all))) {
				w.kubectl("apply", "--filename="+path)
			}
			w.ready(names...)
			w.touch(names)
			before := w.uids(children)
			require.Greater(t, len(before), 80, "the samples have more objects")

			install(t, now)
			serve(operetta)
			w.touch(names)
			w.ready(names...)
			upgraded := w.uids(children)
			requireChanges(t, "upgrade", upgradeChanges, before, upgraded)
			requireQuiet(w, names)

			install(t, formerManifests(t))
			serve(former)
			w.touch(names)
			w.ready(names...)
			requireChanges(t, "rollback", rollbackChanges, upgraded, w.uids(children))

			w.clear()
			kubectl(t, formerManifests(t), "delete", "--ignore-not-found", "--filename=-", "--timeout="+patience.String())
		})
	}
}

// formerCheckout returns a folder with the files of the former release, and its program
// in bin/, which had all commands. It comes from the history of this repository.
func formerCheckout(t *testing.T) string {
	t.Helper()
	commit := strings.TrimSpace(read(t, formerDir+"/commit"))
	if err := exec.Command("git", "-C", root, "cat-file", "-e", commit+"^{commit}").Run(); err != nil {
		t.Skipf("the history here does not have the former release, commit %s: git fetch --unshallow", commit)
	}
	folder := t.TempDir()
	archive := filepath.Join(folder, "archive.tar")
	for _, command := range [][]string{
		{"git", "-C", root, "archive", "--output=" + archive, commit},
		{"tar", "--extract", "--file=" + archive, "--directory=" + folder},
		{"go", "build", "-C", folder, "-trimpath", "-o", "bin/operetta", "./cmd/operetta"},
	} {
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
		said, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s\n%s", strings.Join(command, " "), said)
	}
	require.NoError(t, os.Symlink("operetta", filepath.Join(folder, cluster.ServerProgram)))
	return folder
}

// formerManifests returns what the former release installs.
func formerManifests(t *testing.T) string {
	t.Helper()
	file, err := os.Open(formerDir + "/install.yaml.gz")
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	unpacked, err := gzip.NewReader(file)
	require.NoError(t, err)
	text, err := io.ReadAll(unpacked)
	require.NoError(t, err)
	return string(text)
}

func kubectl(t *testing.T, stdin string, args ...string) {
	t.Helper()
	_, _, err := operetta.KubectlWithInput(stdin, args...)
	require.NoError(t, err)
}

// install applies manifests, with hooks at the address of the server, which runs beside
// the cluster and not in it.
func install(t *testing.T, manifests string) {
	t.Helper()
	var documents []string
	for _, text := range strings.Split(manifests, "\n---\n") {
		var object map[string]any
		require.NoError(t, yaml.Unmarshal([]byte(text), &object))
		if at(object, "kind") == "CompositeController" {
			for _, hook := range at(object, "spec", "hooks").(map[string]any) {
				webhook := at(hook, "webhook").(map[string]any)
				webhook["url"] = operetta.HookURL + webhook["path"].(string)
				delete(webhook, "path")
				delete(webhook, "service")
			}
			encoded, err := json.Marshal(object)
			require.NoError(t, err)
			text = string(encoded)
		}
		documents = append(documents, text)
	}
	kubectl(t, strings.Join(documents, "\n---\n"), "apply", "--filename=-")
	kubectl(t, "", "wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
}

// requireChanges compares the identities of objects with what a change of the version
// may do to them. A reason that nothing needs does not stay.
func requireChanges(t *testing.T, version string, may []change, before, after map[string]string) {
	t.Helper()
	var differences []string
	for ref, uid := range before {
		switch after[ref] {
		case uid:
		case "":
			differences = append(differences, "gone: "+ref)
		default:
			differences = append(differences, "recreated: "+ref)
		}
	}
	for ref := range after {
		if before[ref] == "" {
			differences = append(differences, "new: "+ref)
		}
	}
	slices.Sort(differences)
	used := map[string]bool{}
	var problems []error
	for _, difference := range differences {
		i := slices.IndexFunc(may, func(c change) bool { return regexp.MustCompile("^(?:" + c.what + ")$").MatchString(difference) })
		if i < 0 {
			problems = append(problems, errors.New(difference))
			continue
		}
		used[may[i].what] = true
	}
	for _, c := range may {
		if !used[c.what] {
			problems = append(problems, fmt.Errorf("nothing is %q any more: take it out of the list", c.what))
		}
	}
	require.NoError(t, errors.Join(problems...), "the %s", version)
}
