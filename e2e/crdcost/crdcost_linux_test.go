// Package crdcost measures what the CRDs cost an API server.
package crdcost

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/e2e/cluster"
	"github.com/operetta-dev/operetta/e2e/tools"
)

const (
	// costVariable names the environment variable without which nothing is measured: it takes minutes.
	costVariable = "OPERETTA_TEST_CRDCOST"
	// crdsVariable names the environment variable with the folder of other CRDs than those of deploy/.
	crdsVariable = "OPERETTA_TEST_CRDS"
	// rounds is how often each set of CRDs is given to a new API server. The median counts.
	rounds = 3
	// mostTimes is how many times as much of a processor the CRDs may take as without their rules.
	mostTimes = 1.4
)

// cost is what an API server spends on CRDs until it serves their kinds.
type cost struct {
	processor time.Duration
	memory    int64 // bytes that are in use after a garbage collection
}

func (c cost) String() string {
	return fmt.Sprintf("%.2f s of a processor, %d MB", c.processor.Seconds(), c.memory>>20)
}

// TestCRDsCostAnAPIServerLittle compares the CRDs with the same ones without their rules.
func TestCRDsCostAnAPIServerLittle(t *testing.T) {
	if os.Getenv(costVariable) == "" {
		t.Skipf("%s is not set", costVariable)
	}
	whole, plain := t.TempDir(), t.TempDir()
	kinds := writeCRDs(t, whole, plain)
	var all [2][]cost
	for round := range rounds {
		for i, folder := range []string{whole, plain} {
			all[i] = append(all[i], costOf(t, folder, kinds))
			t.Logf("round %d, rules %t: %s", round, folder == whole, all[i][round])
		}
	}
	with, without := median(all[0]), median(all[1])
	times := with.processor.Seconds() / without.processor.Seconds()
	t.Logf("CRDs: %s; without rules %s; %.2f and %.2f times", with, without, times, float64(with.memory)/float64(without.memory))
	require.LessOrEqual(t, times, mostTimes)
}

// median returns the median of each.
func median(costs []cost) cost {
	var processor []time.Duration
	var memory []int64
	for _, c := range costs {
		processor, memory = append(processor, c.processor), append(memory, c.memory)
	}
	slices.Sort(processor)
	slices.Sort(memory)
	return cost{processor[len(costs)/2], memory[len(costs)/2]}
}

// writeCRDs writes the CRDs to a folder, and to another one without their rules. It returns
// the paths of their kinds.
func writeCRDs(t *testing.T, whole, plain string) (kinds []string) {
	paths, err := filepath.Glob(filepath.Join(cmp.Or(os.Getenv(crdsVariable), "../../deploy/crds"), "*.yaml"))
	require.NoError(t, err)
	for _, path := range paths {
		if filepath.Base(path) == "kustomization.yaml" {
			continue
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(whole, filepath.Base(path)), text, 0o600))
		var definition apiextensionsv1.CustomResourceDefinition
		require.NoError(t, yaml.UnmarshalStrict(text, &definition))
		spec := definition.Spec
		kinds = append(kinds, "/apis/"+spec.Group+"/"+spec.Versions[0].Name+"/"+spec.Names.Plural)

		var anything any
		require.NoError(t, yaml.Unmarshal(text, &anything))
		text, err = yaml.Marshal(withoutRules(anything))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(plain, filepath.Base(path)), text, 0o600))
	}
	require.NotEmpty(t, kinds)
	return kinds
}

// withoutRules removes the rules from a schema and all below it.
func withoutRules(value any) any {
	switch value := value.(type) {
	case map[string]any:
		delete(value, "x-kubernetes-validations")
		for _, inner := range value {
			withoutRules(inner)
		}
	case []any:
		for _, inner := range value {
			withoutRules(inner)
		}
	}
	return value
}

// costOf gives the CRDs of a folder to a new API server, and asks it for each of their kinds.
func costOf(t *testing.T, folder string, kinds []string) cost {
	c, err := cluster.Start(t.Context(), cluster.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Stop()) }()
	kubectl := func(args ...string) string {
		stdout, _, err := c.Kubectl(args...)
		require.NoError(t, err)
		return stdout
	}
	inUse := func() int64 {
		kubectl("get", "--raw=/debug/pprof/heap?gc=1&debug=1")
		_, after, found := strings.Cut(kubectl("get", "--raw=/metrics"), "\ngo_memstats_heap_alloc_bytes ")
		require.True(t, found)
		number, _, _ := strings.Cut(after, "\n")
		bytes, err := strconv.ParseFloat(number, 64)
		require.NoError(t, err)
		return int64(bytes)
	}
	pid := c.PID(tools.KubeAPIServer.Name)
	settle(t, pid)
	memory := inUse()
	processor := used(t, pid)

	kubectl("create", "--filename="+folder)
	kubectl("wait", "--for=condition=Established", "--timeout=2m", "crd", "--all")
	for _, kind := range kinds {
		// What it prepares in the background is done when it answers.
		for _, path := range []string{kind, "/openapi/v3" + kind[:strings.LastIndex(kind, "/")]} {
			require.Eventually(t, func() bool { _, _, err := c.Kubectl("get", "--raw="+path); return err == nil }, time.Minute, time.Second, path)
		}
	}
	settle(t, pid)
	processor = used(t, pid) - processor
	return cost{processor, inUse() - memory}
}

// used returns what a process has used of a processor.
func used(t *testing.T, pid int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	require.NoError(t, err)
	_, after, found := strings.Cut(string(text), ") ")
	require.True(t, found)
	fields := strings.Fields(after)
	total := time.Duration(0)
	for _, field := range fields[11:13] { // utime and stime of proc(5), in hundredths of a second
		ticks, err := strconv.Atoi(field)
		require.NoError(t, err)
		total += time.Duration(ticks) * 10 * time.Millisecond
	}
	return total
}

// settle waits until a process has little to do.
func settle(t *testing.T, pid int) {
	const interval = 3 * time.Second
	last := used(t, pid)
	for quiet, deadline := 0, time.Now().Add(5*time.Minute); quiet < 2; {
		require.True(t, time.Now().Before(deadline), "the API server is busy for long")
		time.Sleep(interval)
		now := used(t, pid)
		quiet++
		if now-last > interval/10 {
			quiet = 0
		}
		last = now
	}
}
