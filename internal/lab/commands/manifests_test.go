package commands

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/internal/cli"
)

// runManifests runs the subcommand and returns its exit code and streams.
func runManifests(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return operetta(t, "", append([]string{"manifests"}, args...)...)
}

func TestManifestsPrintsOneCompositeControllerForEachOperator(t *testing.T) {
	code, stdout, stderr := runManifests(t)
	require.Equal(t, cli.ExitDone, code, stderr)
	require.Equal(t, len(hooks.All()), strings.Count(stdout, "kind: CompositeController\n"))
	require.Equal(t, len(hooks.All())-1, strings.Count(stdout, "\n---\n"))
	require.Contains(t, stdout, "namespace: operetta-system")
	require.NotContains(t, stdout, "url:")
}

func TestManifestsPointsToAnotherServer(t *testing.T) {
	code, stdout, stderr := runManifests(t, "--hook-url", "https://10.0.0.7:8443/")
	require.Equal(t, cli.ExitDone, code, stderr)
	for _, controller := range hooks.All() {
		require.Contains(t, stdout, "url: https://10.0.0.7:8443/"+controller.Name()+"/sync\n")
	}
	require.NotContains(t, stdout, "service:")
}

func TestManifestsOfAnotherInstallation(t *testing.T) {
	code, stdout, stderr := runManifests(t, "--prefix", "acme-", "--namespace", "acme", "--service", "operators")
	require.Equal(t, cli.ExitDone, code, stderr)
	require.NotContains(t, strings.ReplaceAll(stdout, "operetta.dev/hook-", ""), "operetta")
	for _, controller := range hooks.All() {
		require.Contains(t, stdout, "name: acme-"+controller.Name()+"\n")
	}
	require.Contains(t, stdout, "name: operators\n          namespace: acme\n          port: 80\n")

	code, stdout, stderr = runManifests(t, "--rbac", "--prefix", "acme-", "--metacontroller-namespace", "watcher")
	require.Equal(t, cli.ExitDone, code, stderr)
	require.NotContains(t, strings.ReplaceAll(stdout, "operetta.dev/hook-", ""), "operetta")
	require.Contains(t, stdout, "  name: watcher\n  namespace: watcher\n")
	require.Contains(t, stdout, "name: acme-metacontroller-podset\n")
}

func TestManifestsOfShards(t *testing.T) {
	code, stdout, stderr := runManifests(t, "--shards", "3", "--kinds", "podset")
	require.Equal(t, cli.ExitDone, code, stderr)
	require.Equal(t, 3, strings.Count(stdout, "kind: CompositeController\n"))
	for _, name := range []string{"operetta-podset", "operetta-podset-shard-1", "operetta-podset-shard-2"} {
		require.Contains(t, stdout, "  name: "+name+"\n")
	}
	_, whole, _ := runManifests(t)
	_, one, _ := runManifests(t, "--shards", "1")
	require.Equal(t, whole, one)
}

func TestManifestsTellsWrongUsage(t *testing.T) {
	for args, want := range map[string]string{
		"--hook-url=10.0.0.7:8080":         "write http://host:port",
		"--prefix=../x":                    `--prefix "../x" cannot be in the name of an object: use lower-case letters`,
		"--rbac --namespace=a_b":           `--namespace "a_b" cannot be in the name of an object`,
		"--rbac --hook-url=http://host:80": "leave one out",
		"modelbox":                         "takes no arguments",
		"--shards=33":                      "write one from 1 to 32",
		"--rbac --shards=2":                "leave one out",
	} {
		code, stdout, stderr := runManifests(t, strings.Fields(args)...)
		require.Equal(t, cli.ExitUsage, code, args)
		require.Empty(t, stdout, args)
		require.Contains(t, stderr, want, args)
		require.Equal(t, 1, strings.Count(stderr, "\n"), "one line: %s", stderr)
	}
}

func TestManifestsOfTheChosenKinds(t *testing.T) {
	code, chosen, stderr := runManifests(t, "--kinds=podset,build", "--hook-url=http://127.0.0.1:8080")
	require.Equal(t, cli.ExitDone, code, stderr)
	require.Equal(t, 2, strings.Count(chosen, "kind: CompositeController\n"))
	require.Less(t, strings.Index(chosen, "name: operetta-build\n"), strings.Index(chosen, "name: operetta-podset\n"), "in the order of the declaration")

	code, chosen, stderr = runManifests(t, "--kinds=myjob", "--rbac")
	require.Equal(t, cli.ExitDone, code, stderr)
	require.Equal(t, 1, strings.Count(chosen, "\nkind: ClusterRole\n"))
	require.Contains(t, chosen, "name: operetta-metacontroller-myjob\n")
}
