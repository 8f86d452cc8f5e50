package e2e

import (
	"path/filepath"
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
			stream = children(t, "../testdata/"+name+"/sync/access-comes-before-the-job.in.yaml")
		}
		t.Run(name+" client-side", func(t *testing.T) {
			requireSettles(t, stream, "settle-client-"+name)
		})
		t.Run(name+" server-side", func(t *testing.T) {
			requireSettles(t, stream, "settle-server-"+name, "--server-side", "--field-manager=metacontroller")
		})
	}
}

// requireSettles applies a stream twice, and deletes the objects after the test:
// node ports belong to the whole cluster, not to a namespace.
func requireSettles(t *testing.T, stream, ns string, flags ...string) {
	t.Helper()
	ns = namespace(t, ns)
	stream = strings.ReplaceAll(stream, "\n  namespace: default\n", "\n  namespace: "+ns+"\n") // which render fills in
	in := "--namespace=" + ns
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
