package live

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// pass is what was measured of one turn: how long each phase took, how many writes of the status each
// ModelBox had in the first two together and in the third, and what its programs had of the processors
// and of the memory.
type pass struct {
	phases            [4]time.Duration // children exist, Ready, updated, deleted
	creation, updates float64
	requests          float64 // of Metacontroller for each ModelBox
	processor         []time.Duration
	memory            []float64 // MB, at the peak
}

// pass brings ModelBoxes up, updates and deletes them.
func (w *world) pass(count int, programs []string) (p pass) {
	w.Helper()
	time.Sleep(5 * time.Second) // what has just started lists everything
	before := processors(w.T, programs)
	offset, began := auditEnd(w), time.Now()
	w.createBoxes(count)
	pause := w.pause(count)
	w.within("the children exist", pause, func() int { return 2*count - len(w.list("deployments,services", "app.kubernetes.io/part-of")) })
	p.phases[0] = time.Since(began)
	w.within("all are Ready", pause, func() int { return count - w.countReady(modelBoxes) })
	p.phases[1] = time.Since(began)
	time.Sleep(3 * time.Second) // the last writes
	writes, next := w.statusWrites(offset)
	p.creation = float64(writes) / float64(count)

	began = time.Now()
	w.forEach(count, func(ctx context.Context, name string) error {
		return objects.Patch(ctx, modelBoxes, w.ns, name, `{"spec":{"image":"nginx:1.28"}}`)
	})
	w.within("all are updated", pause, func() int { return count - w.countReady(modelBoxes) })
	p.phases[2] = time.Since(began)
	time.Sleep(3 * time.Second)
	writes, _ = w.statusWrites(next)
	p.updates = float64(writes) / float64(count)

	began = time.Now()
	require.NoError(w, objects.DeleteAll(w.Context(), modelBoxes, w.ns))
	w.within("the children are deleted", pause, func() int {
		return len(w.list(modelBoxes, "")) + len(w.list("deployments,services", "app.kubernetes.io/part-of"))
	})
	p.phases[3] = time.Since(began)
	time.Sleep(3 * time.Second)
	sent, _ := w.requests(offset)
	p.requests = float64(len(sent)) / float64(count)
	for i, after := range processors(w.T, programs) {
		p.processor = append(p.processor, after-before[i])
		p.memory = append(p.memory, peak(w.T, programs[i]))
	}
	w.within("the Pods are deleted", pause, func() int { return len(w.list("pods", "")) })
	return p
}

const modelBoxes = "modelboxes.model.github.com"

// createBoxes creates ModelBoxes of one Pod.
func (w *world) createBoxes(count int) {
	w.Helper()
	w.forEach(count, func(ctx context.Context, name string) error { return w.createBox(ctx, name, nil) })
}

// createBox creates a ModelBox, with what the main container requests.
func (w *world) createBox(ctx context.Context, name string, requests map[string]any) error {
	spec := map[string]any{"image": "nginx:1.27", "replicas": int64(1), "ports": []any{map[string]any{"port": int64(80)}}}
	if requests != nil {
		spec["resources"] = map[string]any{"requests": requests}
	}
	return objects.Create(ctx, modelBoxes, w.ns, map[string]any{
		"apiVersion": "model.github.com/v1", "kind": "ModelBox", "metadata": map[string]any{"name": name}, "spec": spec,
	})
}

// forEach calls a function for a name of each custom resource, with some at once.
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
				failures <- do(w.Context(), fmt.Sprintf(boxForm, i))
			}
		}()
	}
	for range count {
		require.NoError(w, <-failures)
	}
}

// boxForm is the form of the names.
const boxForm = "box-%d"

// pause is how long to wait between two looks at all objects, which take their part of the processors.
func (w *world) pause(count int) time.Duration {
	return max(250*time.Millisecond, time.Duration(count)*time.Millisecond)
}

// within waits until nothing is left.
func (w *world) within(what string, pause time.Duration, left func() int) {
	w.Helper()
	for deadline := time.Now().Add(10 * time.Minute); left() > 0; time.Sleep(pause) {
		require.True(w, time.Now().Before(deadline), "it takes too long until %s", what)
	}
}

// countReady returns how many of a kind say that they are Ready as they are written now.
func (w *world) countReady(kind string) (count int) {
	for _, object := range w.list(kind, "") {
		conditions, _ := at(object, "status", "conditions").([]any)
		if slices.ContainsFunc(conditions, func(c any) bool {
			return at(c, "type") == "Ready" && at(c, "status") == "True" && at(c, "observedGeneration") == at(object, "metadata", "generation")
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

// processors returns what some programs have had of the processors: the clock of their processes,
// because /proc counts in steps of 10 ms.
func processors(t *testing.T, programs []string) (all []time.Duration) {
	t.Helper()
	for _, name := range programs {
		const scheduled = 2 // as in clock_getcpuclockid(3)
		var used unix.Timespec
		require.NoError(t, unix.ClockGettime(int32(^operetta.PID(name)<<3|scheduled), &used))
		all = append(all, time.Duration(used.Nano()))
	}
	return all
}

// peak returns the most memory that a program has had, in MB.
func peak(t *testing.T, program string) float64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", operetta.PID(program)))
	require.NoError(t, err)
	found := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(text)
	require.NotNil(t, found)
	kilobytes, err := strconv.ParseFloat(string(found[1]), 64)
	require.NoError(t, err)
	return kilobytes * 1024 / 1e6
}
