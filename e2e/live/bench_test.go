package live

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/e2e/cluster"
)

// benchVariable names the environment variable with the file that TestBench and TestCalls append
// to, and countVariable that with the largest number of custom resources.
const (
	benchVariable = "OPERETTA_TEST_BENCH"
	countVariable = "OPERETTA_TEST_COUNT"
)

// native is the name of the operator in ../native, and adminUser who it is for the API server.
const (
	native    = "native"
	adminUser = "e2e-admin"
)

// The policies watchPods.
const (
	always        = "Always"
	whileNotReady = "WhileNotReady"
	never         = "Never"
)

// smaller is the part of the largest number that is measured, too, to see what grows.
const smaller = 5

// TestBench measures the whole way of many ModelBoxes, with Metacontroller and Operetta and with an
// operator of controller-runtime, in turns; and what events cost that are no custom resource's.
func TestBench(t *testing.T) {
	benchFile(t)
	most, err := strconv.Atoi(os.Getenv(countVariable))
	require.NoError(t, err)
	t.Run("way", func(t *testing.T) { measureWay(t, most) })
	t.Run("foreign", func(t *testing.T) { measureForeign(t, most) })
	t.Run("builds", func(t *testing.T) { measureBuilds(t, most) })
}

// benchFile returns the file to append to. Without one the test is skipped.
func benchFile(t *testing.T) string {
	t.Helper()
	out := os.Getenv(benchVariable)
	if out == "" {
		t.Skip("it wants the machine for itself, for some minutes: make bench-cluster or bench-calls runs it")
	}
	if metacontroller == "" {
		t.Skip("metacontroller is not on the PATH")
	}
	return out
}

// printed appends text to the file.
func printed(t *testing.T, text string) {
	t.Helper()
	file, err := os.OpenFile(benchFile(t), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	_, err = file.WriteString(text)
	require.NoError(t, err)
}

// contestants are those that have turns: Operetta by its policy, and the other.
var contestants = []string{native, never, always}

// measureWay has each contestant bring ModelBoxes up, update and delete them.
func measureWay(t *testing.T, most int) {
	program := filepath.Join(t.TempDir(), native)
	build := exec.CommandContext(t.Context(), "go", "build", "-C", "../native", "-o", program, ".")
	output, err := build.CombinedOutput()
	require.NoError(t, err, "%s", output)

	few := max(1, most/smaller)
	passes := map[int]map[string][]pass{few: {}, most: {}}
	for _, count := range []int{few, few, most} { // the small number varies more, and is measured soon
		for _, name := range contestants {
			t.Run(fmt.Sprint(name, count), func(t *testing.T) {
				w := newWorld(t, startContestant(t, name, program))
				passes[count][name] = append(passes[count][name], w.pass(count, programsOf(name)))
			})
		}
	}
	require.False(t, t.Failed())
	printed(t, wayTables(few, most, passes))
}

// programsOf returns the programs that a contestant consists of.
func programsOf(contestant string) []string {
	if contestant == native {
		return []string{native}
	}
	return []string{cluster.OperettaServer, cluster.Metacontroller}
}

// startContestant starts one for the time of a test.
func startContestant(t *testing.T, name, program string) *run {
	t.Helper()
	if name != native {
		serveWith(t, name)
		return startWith(t, modes[0], func() { require.NoError(t, operetta.Connect(operetta.HookURL, "v2")) })
	}
	health, err := cluster.FreeAddress()
	require.NoError(t, err)
	require.NoError(t, operetta.Run(t.Context(), cluster.Program{
		Name: native, Path: program, Args: []string{health}, Env: []string{"KUBECONFIG=" + operetta.Kubeconfig},
		Ready: cluster.Healthy("http://" + health + "/readyz"),
	}))
	t.Cleanup(func() { require.NoError(t, operetta.End(native)) })
	return &run{}
}

// serveWith starts Operetta's server again with a policy, for the time of a test.
func serveWith(t *testing.T, watchPods string) {
	t.Helper()
	restartServer(t, watchPods)
	t.Cleanup(func() {
		require.NoError(t, operetta.End(cluster.OperettaServer))
		require.NoError(t, operetta.StartServer(context.Background()))
	})
}

func restartServer(t *testing.T, watchPods string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config.yaml")
	text := fmt.Sprintf("policy:\n  build: &pods {watchPods: %s}\n  dataservice: *pods\n  modelbox: *pods\n", watchPods)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	require.NoError(t, operetta.End(cluster.OperettaServer))
	require.NoError(t, operetta.StartServer(t.Context(), "--config="+file))
}
