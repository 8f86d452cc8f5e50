package cli

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/internal/corpus"
)

// bigRequest returns a PodSet's sync request of about a size in bytes.
func bigRequest(name string, size int) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"controller":{},"parent":{"apiVersion":"apps.jicki.cn/v1alpha1","kind":"PodSet","metadata":{"name":%q,"namespace":"default","uid":"u","generation":1},"spec":{"size":1}},"related":{},"finalizing":false,"children":{"Pod.v1":{`, name)
	for i := 0; b.Len() < size; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"default/%[1]s-%[2]d":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"%[1]s-%[2]d","namespace":"default","annotations":{"note":"a text of its own %[2]d"}},"spec":{"containers":[`, name, i)
		for j := range 20 {
			if j > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `{"name":"c%d","image":"registry.example.com/shop/web:1.%d","args":["--one=%d-%d","--two"],"env":[{"name":"MODE","value":"%d of %d"}]}`, j, j, i, j, i, j)
		}
		b.WriteString(`]},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`)
	}
	b.WriteString(`}}}`)
	return b.Bytes()
}

// deepRequest returns a PodSet's sync request with a large template and many small
// Pods: without the Pods, the answer would be hundreds of times as large.
func deepRequest(name string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"parent":{"apiVersion":"apps.jicki.cn/v1alpha1","kind":"PodSet","metadata":{"name":%q,"namespace":"default","uid":"u","generation":1},"spec":{"size":500,"template":{"spec":{"containers":[{"name":"c","image":"x","args":[%q]}]}}}},"related":{},"finalizing":false,"children":{"Pod.v1":{`, name, strings.Repeat("long ", 40<<10))
	for i := range 500 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"default/%[1]s-%[2]d":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"%[1]s-%[2]d","namespace":"default"},"spec":{"nodeName":"n"},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`, name, i)
	}
	b.WriteString(`}}}`)
	return b.Bytes()
}

// peak returns the largest resident size of a process, in MiB.
func peak(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Skip("the peak of a process' memory is read from Linux' /proc")
	}
	_, after, found := strings.Cut(string(text), "VmHWM:")
	require.True(t, found)
	kilobytes, err := strconv.Atoi(strings.Fields(after)[0])
	require.NoError(t, err)
	return kilobytes >> 10
}

func send(t *testing.T, url string, body []byte) {
	t.Helper()
	response, err := http.Post(url, "application/json", bytes.NewReader(body))
	require.NoError(t, err)
	_, _ = io.Copy(io.Discard, response.Body)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusOK, response.StatusCode)
}

// TestRecordingTakesLittleMemory sends big requests to a server that records, and
// to one that does not.
func TestRecordingTakesLittleMemory(t *testing.T) {
	needsLoad(t)
	const most = 64 // MiB
	// With Go's default half of a peak may be garbage, and so half of what recording adds to it.
	t.Setenv("GOGC", "50")
	for _, load := range []struct {
		name        string
		size, count int
	}{
		{"one of 7 MB", 7 << 20, 1}, {"one of 60 MB", 60 << 20, 1}, {"twelve just below the limit", 1900 << 10, 12}, {"many small ones", 20 << 10, 150},
		{"small ones of which a part has a large answer", 0, 5},
	} {
		t.Run(load.name, func(t *testing.T) {
			bodies := make([][]byte, load.count)
			for i := range bodies {
				if bodies[i] = bigRequest(fmt.Sprintf("web-%d", i), load.size); load.size == 0 {
					bodies[i] = deepRequest(fmt.Sprintf("web-%d", i))
				}
			}
			run := func(flags ...string) (int, *process) {
				p := serveInProcess(t, append(flags, "--drain-delay", "0s", "--log-level", "info")...)
				for _, body := range bodies {
					send(t, p.hooks+"/podset/sync", body)
				}
				time.Sleep(2 * time.Second) // the recorder is at work
				return peak(t, p.Process.Pid), p
			}
			// The garbage collector may come late, on a busy machine more than once, and a
			// peak counts that too: what is needed is the least of some runs.
			var without, with int
			var plain, recording *process
			for try := range 5 {
				if try > 0 {
					require.NoError(t, recording.Process.Kill())
				}
				without, plain = run()
				require.NoError(t, plain.Process.Kill())
				with, recording = run("--record", t.TempDir())
				t.Logf("without recording %d MiB, with %d MiB", without, with)
				if with-without <= most {
					break
				}
			}
			require.LessOrEqual(t, with-without, most)

			start := time.Now()
			require.NoError(t, recording.Process.Signal(syscall.SIGTERM))
			line := recording.waitFor(t, "recorded")
			_ = recording.Wait()
			t.Logf("ended %v after SIGTERM: %v", time.Since(start).Round(time.Millisecond), line)
			require.Less(t, time.Since(start), time.Minute, "it takes 5 s of Close, and the server's own")
		})
	}
}

// TestKilledRecorderLeavesNoHalfCase kills a server while it records, and starts
// another one on the same folder.
func TestKilledRecorderLeavesNoHalfCase(t *testing.T) {
	needsLoad(t)
	dir := t.TempDir()
	total := 0
	for round := range 3 {
		p := serveInProcess(t, "--record", dir, "--drain-delay", "0s")
		for i := range 40 {
			send(t, p.hooks+"/podset/sync", bigRequest(fmt.Sprintf("web-%d-%d", round, i), 8<<10))
		}
		time.Sleep(time.Duration(100+70*round) * time.Millisecond)
		require.NoError(t, p.Process.Kill())
		_ = p.Wait()
		cases, err := corpus.Read(dir, hooks.All())
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(cases), total)
		total = len(cases)
	}
	p := serveInProcess(t, "--record", dir, "--drain-delay", "0s")
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	require.EqualValues(t, total, p.waitFor(t, "recorded")["cases"])
	require.NoError(t, p.Wait())
	cases, err := corpus.Read(dir, hooks.All())
	require.NoError(t, err)
	require.Len(t, cases, total)
}
