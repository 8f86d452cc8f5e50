package live

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/e2e/cluster"
)

// scaleVariable names the environment variable with the number of PodSets of
// TestScale.
const scaleVariable = "OPERETTA_TEST_SCALE"

// setting is how Metacontroller runs in TestScale, and of how many PodSets, in percent.
type setting struct{ shards, qps, workers, part int }

func (s setting) String() string {
	return fmt.Sprintf("%d Metacontrollers, --client-go-qps=%d, --workers=%d", s.shards, s.qps, s.workers)
}

// TestScale measures how long it takes until many PodSets of three Pods are Ready, how
// many requests Metacontroller sends for it, and how much memory its caches take, with
// some settings. It is no test of a promise: docs/scale.md has what it printed.
func TestScale(t *testing.T) {
	count, err := strconv.Atoi(os.Getenv(scaleVariable))
	if err != nil || count < 1 || count > 5000 {
		t.Skipf("%s is no number of PodSets from 1 to 5000", scaleVariable)
	}
	if metacontroller == "" {
		skipped.Add(1)
		t.Skip("metacontroller is not on the PATH")
	}
	for _, s := range []setting{{1, 5, 5, 5}, {1, 50, 10, 50}, {1, 200, 10, 100}, {1, 200, 40, 100}, {2, 50, 10, 50}, {2, 200, 10, 100}} {
		t.Run(s.String(), func(t *testing.T) {
			// With few requests a second all of them would take an hour.
			measure(t, s, max(1, count*s.part/100))
		})
	}
}

func measure(t *testing.T, s setting, count int) {
	require.NoError(t, operetta.Connect(operetta.HookURL, "v2", fmt.Sprintf("--shards=%d", s.shards)))
	names := []string{cluster.Metacontroller, cluster.Metacontroller + "-shard-1"}[:s.shards]
	selectors := []string{"", ""}
	if s.shards > 1 {
		selectors = []string{"operetta.dev/shard notin (1)", "operetta.dev/shard=1"}
	}
	for i, name := range names {
		require.NoError(t, operetta.StartMetacontrollerAs(t.Context(), name, metacontroller, nil, "--zap-log-level=info", "--discovery-interval=20s",
			fmt.Sprintf("--client-go-qps=%d", s.qps), fmt.Sprintf("--client-go-burst=%d", 2*s.qps), fmt.Sprintf("--workers=%d", s.workers),
			"--target-label-selector="+selectors[i]))
	}
	w := newWorld(t, &run{mode: modes[0]})
	w.settle()
	var before []float64
	for _, name := range names {
		before = append(before, resident(t, name))
	}
	server := resident(t, cluster.OperettaServer)

	offset, began := auditEnd(w), time.Now()
	create(w, count, s.shards)
	created := time.Since(began)
	w.eventuallyWithin(20*time.Minute, "all are Ready", func() error {
		ready := 0
		for _, object := range w.list("podsets.apps.jicki.cn", "") {
			if fmt.Sprint(at(object, "status", "ready")) == "3/3" {
				ready++
			}
		}
		if ready < count {
			return fmt.Errorf("%d of %d are", ready, count)
		}
		return nil
	})
	took := time.Since(began)
	sent, _ := w.requests(offset)
	t.Logf("%d PodSets of 3 Pods, all created after %s, all Ready after %s: %.1f a second, %.1f requests of Metacontroller for each",
		count, created.Round(time.Second), took.Round(time.Second), float64(count)/took.Seconds(), float64(len(sent))/float64(count))
	for i, name := range names {
		after := resident(t, name)
		t.Logf("%s: resident %.0f MB before, %.0f MB after, %.1f MB for a thousand Pods and their PodSets", name, before[i], after, (after-before[i])/float64(3*count)*1000)
	}
	t.Logf("%s: resident %.0f MB before, %.0f MB after", cluster.OperettaServer, server, resident(t, cluster.OperettaServer))

	for _, name := range names {
		require.NoError(t, operetta.End(name))
	}
	// The garbage collector deletes the Pods.
	w.kubectl("delete", "podsets.apps.jicki.cn", "--all", "--wait=false")
	w.eventuallyWithin(20*time.Minute, "all Pods are deleted", func() error {
		if left := len(w.list("pods", "")); left > 0 {
			return fmt.Errorf("%d are left", left)
		}
		return nil
	})
	if s.shards > 1 {
		kubectl(t, "", "delete", "compositecontrollers.metacontroller.k8s.io", "--selector="+shardLabel+"=1")
	}
}

// create makes PodSets, with some kubectl at once.
func create(w *world, count, shards int) {
	w.Helper()
	const batch = 100
	var all sync.WaitGroup
	slots := make(chan struct{}, 2)
	for from := 0; from < count; from += batch {
		var manifest strings.Builder
		for i := from; i < min(from+batch, count); i++ {
			fmt.Fprintf(&manifest, "---\n{apiVersion: apps.jicki.cn/v1alpha1, kind: PodSet, metadata: {name: set-%d, namespace: %s, labels: {%s: %q}}, spec: {size: 3}}\n",
				i, w.ns, shardLabel, strconv.Itoa(i%shards))
		}
		slots <- struct{}{}
		all.Go(func() {
			_, _, err := operetta.KubectlWithInput(manifest.String(), "create", "--filename=-")
			if err != nil {
				w.Error(err)
			}
			<-slots
		})
	}
	all.Wait()
}

// eventuallyWithin waits longer than [world.eventually].
func (w *world) eventuallyWithin(limit time.Duration, what string, check func() error) {
	w.Helper()
	var err error
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(time.Second) {
		if err = check(); err == nil {
			return
		}
	}
	require.NoError(w, err, "waited %s until %s", limit, what)
}

// resident returns the memory of a program in MB.
func resident(t *testing.T, name string) float64 {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(operetta.PID(name)), "status"))
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if value, found := strings.CutPrefix(line, "VmRSS:"); found {
			kilobytes, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 64)
			require.NoError(t, err)
			return kilobytes * 1024 / 1e6
		}
	}
	require.Fail(t, "no memory of "+name)
	return 0
}
