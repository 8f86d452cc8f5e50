package live

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/e2e/cluster"
)

// benchVariable names the environment variable with the file that TestBench writes, and
// countVariable that with the number of ModelBoxes.
const (
	benchVariable = "OPERETTA_TEST_BENCH"
	countVariable = "OPERETTA_TEST_COUNT"
)

// native is the name of the operator in ../native, and adminUser who it is for the API server.
const (
	native    = "native"
	adminUser = "e2e-admin"
)

// benchRounds are those in which each of the two has a turn.
const benchRounds = 2

// TestBench measures the whole way of many ModelBoxes, with Metacontroller and Operetta and with an
// operator of controller-runtime, in turns, and what the CRDs cost the API server.
func TestBench(t *testing.T) {
	out := os.Getenv(benchVariable)
	if out == "" {
		t.Skip("it wants the machine for itself, for ten minutes: make bench-cluster runs it")
	}
	if metacontroller == "" {
		t.Skip("metacontroller is not on the PATH")
	}
	count, err := strconv.Atoi(os.Getenv(countVariable))
	require.NoError(t, err)
	program := filepath.Join(t.TempDir(), native)
	build := exec.CommandContext(t.Context(), "go", "build", "-C", "../native", "-o", program, ".")
	output, err := build.CombinedOutput()
	require.NoError(t, err, "%s", output)

	figures := crdCosts(t)
	passes := map[string][]pass{}
	for range benchRounds {
		for _, name := range []string{native, cluster.OperettaServer} {
			t.Run(name, func(t *testing.T) {
				w := newWorld(t, startContestant(t, name, program))
				passes[name] = append(passes[name], w.pass(count, programsOf[name]))
			})
		}
	}
	figures = append(figures, compared(count, passes[cluster.OperettaServer], passes[native])...)
	var text strings.Builder
	fmt.Fprintf(&text, "# make bench-cluster: %d ModelBoxes of one Pod; means of %d rounds\n", count, benchRounds)
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "what\tOperetta\tbeside\tratio\twanted")
	for _, figure := range figures {
		fmt.Fprintln(table, figure)
	}
	require.NoError(t, table.Flush())
	require.NoError(t, os.WriteFile(out, []byte(text.String()), 0o600))
}

// programsOf are the programs that a contestant consists of.
var programsOf = map[string][]string{native: {native}, cluster.OperettaServer: {cluster.OperettaServer, cluster.Metacontroller}}

// startContestant starts one for the time of a test. Operetta's server runs anyway.
func startContestant(t *testing.T, name, program string) *run {
	t.Helper()
	if name != native {
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

// pass is what was measured of one turn: how long each phase took, how many writes of the status each
// ModelBox had in the first two together and in the third, and what its programs had of the processors.
type pass struct {
	phases            [4]time.Duration // children exist, Ready, updated, deleted
	creation, updates float64
	processor         []time.Duration
}

// pass brings ModelBoxes up, updates and deletes them.
func (w *world) pass(count int, programs []string) (p pass) {
	w.Helper()
	time.Sleep(5 * time.Second) // what has just started lists everything
	before := processors(w.T, programs)
	offset, began := auditEnd(w), time.Now()
	w.forEach(count, func(ctx context.Context, name string) error {
		return objects.Create(ctx, modelBoxes, w.ns, map[string]any{
			"apiVersion": "model.github.com/v1", "kind": "ModelBox", "metadata": map[string]any{"name": name},
			"spec": map[string]any{"image": "nginx:1.27", "replicas": int64(1), "ports": []any{map[string]any{"port": int64(80)}}},
		})
	})
	w.within("the children exist", func() int { return 2*count - len(w.list("deployments,services", "app.kubernetes.io/part-of")) })
	p.phases[0] = time.Since(began)
	w.within("all are Ready", func() int { return count - w.countReady() })
	p.phases[1] = time.Since(began)
	time.Sleep(3 * time.Second) // the last writes
	writes, next := w.statusWrites(offset)
	p.creation = float64(writes) / float64(count)

	began = time.Now()
	w.forEach(count, func(ctx context.Context, name string) error {
		return objects.Patch(ctx, modelBoxes, w.ns, name, `{"spec":{"image":"nginx:1.28"}}`)
	})
	w.within("all are updated", func() int { return count - w.countReady() })
	p.phases[2] = time.Since(began)
	time.Sleep(3 * time.Second)
	writes, _ = w.statusWrites(next)
	p.updates = float64(writes) / float64(count)

	began = time.Now()
	require.NoError(w, objects.DeleteAll(w.Context(), modelBoxes, w.ns))
	w.within("the children are deleted", func() int {
		return len(w.list(modelBoxes, "")) + len(w.list("deployments,services", "app.kubernetes.io/part-of"))
	})
	p.phases[3] = time.Since(began)
	time.Sleep(3 * time.Second)
	for i, after := range processors(w.T, programs) {
		p.processor = append(p.processor, after-before[i])
	}
	w.within("the Pods are deleted", func() int { return len(w.list("pods", "")) })
	return p
}

const modelBoxes = "modelboxes.model.github.com"

// forEach calls a function for the name of each ModelBox, with some at once.
func (w *world) forEach(count int, do func(context.Context, string) error) {
	w.Helper()
	var next atomic.Int32
	failures := make(chan error, count)
	for range min(8, count) {
		go func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= count {
					return
				}
				failures <- do(w.Context(), fmt.Sprintf("box-%d", i))
			}
		}()
	}
	for range count {
		require.NoError(w, <-failures)
	}
}

// within waits until nothing is left.
func (w *world) within(what string, left func() int) {
	w.Helper()
	for deadline := time.Now().Add(10 * time.Minute); left() > 0; time.Sleep(250 * time.Millisecond) {
		require.True(w, time.Now().Before(deadline), "it takes too long until %s", what)
	}
}

// countReady returns how many say that they are Ready as they are written now.
func (w *world) countReady() (count int) {
	for _, box := range w.list(modelBoxes, "") {
		conditions, _ := at(box, "status", "conditions").([]any)
		if slices.ContainsFunc(conditions, func(c any) bool {
			return at(c, "type") == "Ready" && at(c, "status") == "True" && at(c, "observedGeneration") == at(box, "metadata", "generation")
		}) {
			count++
		}
	}
	return count
}

// statusWrites returns how often a status in the test's namespace was written since an offset in the
// audit log, by whom it may be.
func (w *world) statusWrites(offset int64) (count int, next int64) {
	w.Helper()
	for _, user := range []string{metacontrollerUser, adminUser} {
		list, end, err := readRequests(offset, user)
		require.NoError(w, err)
		for _, r := range writes(list) {
			if r.ObjectRef.Namespace == w.ns && r.ObjectRef.Subresource == "status" && r.ObjectRef.Resource == "modelboxes" && r.ResponseStatus.Code == 200 {
				count++
			}
		}
		next = end
	}
	return count, next
}

// processors returns what some programs have had of the processors.
func processors(t *testing.T, programs []string) (all []time.Duration) {
	t.Helper()
	for _, name := range programs {
		all = append(all, processor(t, operetta.PID(name)))
	}
	return all
}

// compared are the lines about the passes of the two.
func compared(count int, of, by []pass) (lines []string) {
	mean := func(passes []pass, value func(pass) float64) (sum float64) {
		for _, p := range passes {
			sum += value(p) / float64(len(passes))
		}
		return sum
	}
	line := func(what, format, wanted string, value, beside func(pass) float64) {
		a, b := mean(of, value), mean(by, beside)
		lines = append(lines, fmt.Sprintf("%s\t"+format+"\tnative "+format+"\t%.2f\t%s", what, a, b, a/b, wanted))
	}
	for i, what := range []string{"all children exist after", "all are Ready after", "an update of all is Ready after", "all are deleted after"} {
		value := func(p pass) float64 { return p.phases[i].Seconds() }
		line(what, "%.1f s", "-", value, value)
	}
	creation, updates := func(p pass) float64 { return p.creation }, func(p pass) float64 { return p.updates }
	line("writes of the status of one, created", "%.2f", "<= 2.5 writes", creation, creation)
	line("writes of the status of one, updated", "%.2f", "<= 3.5 writes", updates, updates)
	per := func(program int) func(pass) float64 {
		return func(p pass) float64 { return p.processor[program].Seconds() / float64(count) * 100 }
	}
	line("processor time for 100, the hook", "%.2f s", "-", per(0), per(0))
	line("processor time for 100, Metacontroller", "%.2f s", "-", per(1), per(0))
	return lines
}
