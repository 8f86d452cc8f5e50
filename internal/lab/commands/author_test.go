package commands

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks/podset"
	"github.com/operetta-dev/operetta/internal/cli"
	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/metacontroller"
)

// TestPanicOfAHookPrintsItsStack, which names the line: its author reads it.
func TestPanicOfAHookPrintsItsStack(t *testing.T) {
	panics := metacontroller.Controller{
		Parent: metacontroller.Resource{APIVersion: "example.com/v1", Kind: "Greeting", Plural: "greetings"},
		Sync: metacontroller.Sync(func(*greeting, metacontroller.Observed) (metacontroller.Result[map[string]any], error) {
			panic("no replicas")
		}),
	}
	for _, args := range [][]string{{"simulate", "-"}, {"render", "-"}} {
		var out, err bytes.Buffer
		code := Run(t.Context(), "greeter", Operators{Controllers: []metacontroller.Controller{panics}}, args,
			cli.Streams{In: strings.NewReader("apiVersion: example.com/v1\nkind: Greeting\nmetadata: {name: hi}\n"), Out: &out, Err: &err})
		require.Equal(t, cli.ExitFailed, code, args)
		require.Contains(t, err.String(), "greeting/sync: panic: no replicas\n\ngoroutine ", args)
		require.Contains(t, err.String(), "author_test.go:23", args)
	}
}

// TestGenerateReadsNoFormerCRD: it writes the one that the other commands ask for.
func TestGenerateReadsNoFormerCRD(t *testing.T) {
	stale := podset.Controller()
	stale.CRD = metacontroller.NewCRD(bytes.Replace(stale.CRD.Text(), []byte("scope: Namespaced"), []byte("scope: Cluster"), 1))
	run := func(args ...string) string {
		var out, err bytes.Buffer
		require.Equal(t, cli.ExitFailed, Run(t.Context(), "operetta", Operators{Controllers: []metacontroller.Controller{stale}}, args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &err}))
		return err.String()
	}
	const mistake = "PodSet: child Pod lives in a namespace and the parent does not"
	require.Contains(t, run("render", "-"), mistake)
	require.NotContains(t, run("generate", "--check", "--root", t.TempDir()), mistake)
}

// TestSimulationIsRecordedAsCases that have the same answers when they are read.
func TestSimulationIsRecordedAsCases(t *testing.T) {
	dir := t.TempDir()
	run := func() (int, string) {
		var out, err bytes.Buffer
		code := Run(t.Context(), "operetta", Operators{Controllers: []metacontroller.Controller{podset.Controller()}}, []string{"simulate", "--record", dir, "-"},
			cli.Streams{In: strings.NewReader("apiVersion: apps.jicki.cn/v1alpha1\nkind: PodSet\nmetadata: {name: web}\nspec: {size: 2}\n"), Out: &out, Err: &err})
		return code, err.String()
	}
	code, stderr := run()
	require.Zero(t, code, stderr)
	cases, err := corpus.Read(dir, []metacontroller.Controller{podset.Controller()})
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(cases), 3)
	for _, c := range cases {
		want, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(c.Name)+".out.yaml"))
		require.NoError(t, err)
		got, err := c.Print()
		require.NoError(t, err)
		require.Equal(t, string(want), string(got), c.Name)
	}
	code, stderr = run()
	require.Equal(t, cli.ExitFailed, code)
	require.Contains(t, stderr, "step-001.in.yaml has been recorded before", "what is there is not written over")
}
