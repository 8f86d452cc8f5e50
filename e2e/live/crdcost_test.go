package live

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/e2e/cluster"
	"github.com/operetta-dev/operetta/e2e/tools"
)

// crdCosts are the lines about what an API server of its own spends on the CRDs, with their rules and
// without.
func crdCosts(t *testing.T) []string {
	t.Helper()
	with, rules := crds(t, true)
	without, _ := crds(t, false)
	var cost, memory [2]float64
	for range benchRounds {
		for i, manifest := range []string{with, without} {
			took, grown := crdCost(t, manifest)
			cost[i] += took.Seconds() / benchRounds
			memory[i] += grown / benchRounds
		}
	}
	return []string{
		fmt.Sprintf("the API server's processor time for the CRDs, %d rules\t%.1f s\twithout rules %.1f s\t%.2f\t<= 1.4", rules, cost[0], cost[1], cost[0]/cost[1]),
		fmt.Sprintf("its memory for them\t%.0f MB\twithout rules %.0f MB\t%.2f\t-", memory[0], memory[1], memory[0]/memory[1]),
	}
}

// crds returns the CRDs of deploy/ as one manifest, with or without rules, and how many those are.
func crds(t *testing.T, withRules bool) (manifest string, rules int) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, "deploy/crds/*.yaml"))
	require.NoError(t, err)
	var walk func(value any)
	walk = func(value any) {
		switch value := value.(type) {
		case []any:
			for _, item := range value {
				walk(item)
			}
		case map[string]any:
			list, _ := value["x-kubernetes-validations"].([]any)
			if rules += len(list); !withRules {
				delete(value, "x-kubernetes-validations")
			}
			for _, member := range value {
				walk(member)
			}
		}
	}
	for _, path := range paths {
		var object map[string]any
		require.NoError(t, yaml.Unmarshal([]byte(read(t, path)), &object))
		if object["kind"] != "CustomResourceDefinition" {
			continue
		}
		walk(object)
		text, err := yaml.Marshal(object)
		require.NoError(t, err)
		manifest += "---\n" + string(text)
	}
	return manifest, rules
}

// crdCost returns what a new API server spends until it serves CRDs and has nothing more to do for
// them, and by how many MB it grows.
func crdCost(t *testing.T, manifest string) (time.Duration, float64) {
	t.Helper()
	c, err := cluster.Start(t.Context(), cluster.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Stop()) }()
	pid := c.PID(tools.KubeAPIServer.Name)
	rest(t, pid)
	before, small := processor(t, pid), resident(t, pid)
	_, _, err = c.KubectlWithInput(manifest, "create", "--filename=-")
	require.NoError(t, err)
	_, _, err = c.Kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=120s")
	require.NoError(t, err)
	rest(t, pid)
	return processor(t, pid) - before, resident(t, pid) - small
}

// rest waits until a program does next to nothing.
func rest(t *testing.T, pid int) {
	t.Helper()
	const pause, little = 2 * time.Second, 250 * time.Millisecond
	for deadline, last := time.Now().Add(2*time.Minute), time.Duration(0); time.Now().Before(deadline); {
		now := processor(t, pid)
		if now-last < little {
			return
		}
		last = now
		time.Sleep(pause)
	}
	require.Fail(t, "it has always something to do")
}

// processor returns what a program has had of the processors.
func processor(t *testing.T, pid int) time.Duration {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	require.NoError(t, err)
	_, fields, _ := strings.Cut(string(text), ") ")
	var ticks time.Duration // of 10 ms
	for _, field := range strings.Fields(fields)[11:13] {
		n, err := strconv.Atoi(field)
		require.NoError(t, err)
		ticks += time.Duration(n)
	}
	return ticks * 10 * time.Millisecond
}

// resident returns the memory of a program in MB.
func resident(t *testing.T, pid int) float64 {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "statm"))
	require.NoError(t, err)
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	require.NoError(t, err)
	return float64(pages*os.Getpagesize()) / 1e6
}
