package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// children returns the children that the hook returns for a custom resource or a
// request, as a YAML stream.
func children(t *testing.T, path string) string {
	t.Helper()
	return operetta(t, "", "render", path, "--children-only")
}

// documents returns the objects of a YAML stream.
func documents(t *testing.T, stream string) []map[string]any {
	t.Helper()
	var all []map[string]any
	for _, text := range strings.Split(stream, "---\n") {
		if text != "" {
			all = append(all, parse(t, text))
		}
	}
	return all
}

// parse decodes an object from YAML.
func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	var parsed map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(text), &parsed))
	return parsed
}

// versions returns the resource version of each object of a stream.
func versions(t *testing.T, stream, in string) string {
	t.Helper()
	stdout, _, err := controlPlane.KubectlWithInput(stream, "get", in, "--filename=-",
		"--no-headers", "--output=custom-columns=KIND:.kind,NAME:.metadata.name,VERSION:.metadata.resourceVersion")
	require.NoError(t, err)
	return stdout
}

func TestSamplesAreAccepted(t *testing.T) {
	for _, path := range samples(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Cleanup(func() { kubectl(t, "delete", "--ignore-not-found", "--filename="+path) })
			require.Regexp(t, ` created\n$`, kubectl(t, "apply", "--filename="+path))
			// kubectl calls it configured where the API server adds defaults
			// inside of lists, but it must not become a new generation.
			generations := func() []string {
				return strings.Fields(kubectl(t, "get", "--filename="+path, "--output=jsonpath={..metadata.generation}"))
			}
			first := generations()
			require.NotEmpty(t, first)
			require.Subset(t, []string{"1"}, first)
			kubectl(t, "apply", "--filename="+path)
			require.Equal(t, first, generations())
		})
	}
}

// Metacontroller applies the children at every sync: the second time must change
// nothing.
func TestChildrenOfSamplesSettle(t *testing.T) {
	for _, path := range samples(t) {
		name := strings.TrimSuffix(filepath.Base(path), ".yaml")
		if filepath.Base(filepath.Dir(path)) == "seed" {
			name += "-of-seed"
		}
		stream := children(t, path)
		if stream == "" { // a PodBuggerTool has no children before a Pod matches
			stream = children(t, withoutNamespace(t, "../testdata/"+name+"/sync/access-comes-before-the-job.in.yaml"))
		}
		t.Run(name+" client-side", func(t *testing.T) {
			requireSettles(t, stream, "settle-client-"+name)
		})
		t.Run(name+" server-side", func(t *testing.T) {
			requireSettles(t, stream, "settle-server-"+name, "--server-side", "--field-manager=metacontroller")
		})
	}
}

// withoutNamespace returns the path of a copy of a case whose objects have no
// metadata.namespace, so that they can be applied in any.
func withoutNamespace(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var lines []string
	for line := range strings.Lines(string(text)) {
		if strings.TrimSpace(line) != "namespace: default" {
			lines = append(lines, line)
		}
	}
	copied := filepath.Join(t.TempDir(), filepath.Base(path))
	require.NoError(t, os.WriteFile(copied, []byte(strings.Join(lines, "")), 0o600))
	return copied
}

// requireSettles applies a stream twice, and deletes the objects after the test:
// node ports belong to the whole cluster, not to a namespace.
func requireSettles(t *testing.T, stream, ns string, flags ...string) {
	t.Helper()
	in := "--namespace=" + namespace(t, ns)
	flags = append(flags, in)
	apply(t, stream, flags...)
	t.Cleanup(func() {
		_, _, err := controlPlane.KubectlWithInput(stream, "delete", in, "--filename=-")
		require.NoError(t, err)
	})
	before := versions(t, stream, in)
	require.NotEmpty(t, before)

	again := apply(t, stream, flags...)
	require.Equal(t, before, versions(t, stream, in), again)
	if len(flags) > 1 {
		return // kubectl prints serverside-applied for every object
	}
	for line := range strings.Lines(again) {
		require.Contains(t, line, " unchanged")
	}
}

// The API server must store every field as the hook wrote it, and may only add
// fields: otherwise Metacontroller would find a difference at every sync.
func TestServerKeepsChildrenAsTheyAreWritten(t *testing.T) {
	cases, err := filepath.Glob("../testdata/*/sync/*.in.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, cases)
	for _, path := range append(samples(t), cases...) {
		if !hasChildren(t, path) {
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			for _, wanted := range documents(t, children(t, path)) {
				raw, err := yaml.Marshal(wanted)
				require.NoError(t, err)
				stored := parse(t, apply(t, string(raw), "--dry-run=server", "--output=yaml"))
				if wanted["kind"] == "Pod" {
					continue // it is never updated, and is given tokens and tolerations
				}
				requireKept(t, wanted, stored, fmt.Sprint(wanted["kind"]))
			}
		})
	}
}

// hasChildren reports whether a file leads to children: true for a custom resource,
// and for a case whose answer has some.
func hasChildren(t *testing.T, path string) bool {
	t.Helper()
	input, isCase := strings.CutSuffix(path, ".in.yaml")
	if !isCase {
		return true
	}
	answer := parse(t, read(t, input+".out.yaml"))
	wanted, _ := answer["children"].([]any)
	return len(wanted) > 0
}

// mergeKeys are the members by which Metacontroller tells the entries of a list
// apart. Any other list it compares as a whole.
var mergeKeys = []string{"containerPort", "port", "mountPath", "name", "uid", "ip", "path"}

// requireKept fails unless stored has every field of wanted with the same value.
func requireKept(t *testing.T, wanted, stored any, path string) {
	t.Helper()
	switch wanted := wanted.(type) {
	case map[string]any:
		members, ok := stored.(map[string]any)
		require.True(t, ok, "%s is stored as %v", path, stored)
		for name, value := range wanted {
			requireKept(t, value, members[name], path+"."+name)
		}
	case []any:
		entries, ok := stored.([]any)
		require.True(t, ok, "%s is stored as %v", path, stored)
		if !isMerged(wanted) {
			require.Equal(t, wanted, entries, path)
			return
		}
		require.Len(t, entries, len(wanted), path)
		for i := range wanted {
			requireKept(t, wanted[i], entries[i], path+"[]")
		}
	default:
		require.True(t, reflect.DeepEqual(wanted, stored), "%s: %v is stored as %v", path, wanted, stored)
	}
}

// isMerged reports whether all entries of a list have one of the merge keys.
func isMerged(list []any) bool {
	for _, key := range mergeKeys {
		all := len(list) > 0
		for _, entry := range list {
			members, _ := entry.(map[string]any)
			all = all && members[key] != nil
		}
		if all {
			return true
		}
	}
	return false
}
