package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// floorVariable names the environment variable with the address at which this very program is
// the floor instead of a test.
const floorVariable = "OPERETTA_BENCH_FLOOR"

// serveFloor is the least that a hook in Go may do: it reads the body, decodes the parent's name,
// and answers with a constant.
func serveFloor(address string) error {
	answer := []byte(`{"status":{"readyReplicas":4},"children":[]}`)
	server := &http.Server{Addr: address, ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct {
			Parent struct {
				Metadata struct{ Name string }
			}
		}
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(body, &request)
		}
		if err != nil || request.Parent.Metadata.Name == "" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer)
	})}
	return server.ListenAndServe()
}

// contestant is a server that runs, as a process of its own.
type contestant struct {
	name, address, metrics string
	cmd                    *exec.Cmd
	// took is the time from its start to its readiness.
	took time.Duration
}

// startFloor, startNode and startProgram start one until the test ends.
func startFloor(t *testing.T) *contestant {
	t.Helper()
	address := freeAddress(t)
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), floorVariable+"="+address)
	return begin(t, "floor", address, cmd, listens(address))
}

func startNode(t *testing.T, node string) *contestant {
	t.Helper()
	address := freeAddress(t)
	_, port, _ := net.SplitHostPort(address)
	return begin(t, "Node", address, exec.CommandContext(t.Context(), node, "testdata/hook.js", port), listens(address))
}

func startProgram(t *testing.T, path string) *contestant {
	t.Helper()
	address, metrics := freeAddress(t), freeAddress(t)
	cmd := exec.CommandContext(t.Context(), path, "serve", "--listen="+address, "--metrics-listen="+metrics)
	c := begin(t, "Operetta", address, cmd, func() bool {
		response, err := http.Get("http://" + metrics + "/readyz")
		if err != nil {
			return false
		}
		_ = response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
	c.metrics = metrics
	return c
}

func listens(address string) func() bool {
	return func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}
}

func begin(t *testing.T, name, address string, cmd *exec.Cmd, isReady func() bool) *contestant {
	t.Helper()
	began := time.Now()
	require.NoError(t, cmd.Start())
	c := &contestant{name: name, address: address, cmd: cmd}
	t.Cleanup(c.end)
	require.Eventually(t, isReady, time.Minute, 2*time.Millisecond, name)
	c.took = time.Since(began)
	return c
}

// end kills it. It keeps nothing.
func (c *contestant) end() {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	return listener.Addr().String()
}

// memory returns VmRSS, what it has in memory now, or VmHWM, the most that it had, in MB.
func (c *contestant) memory(t *testing.T, field string) float64 {
	t.Helper()
	for line := range strings.Lines(c.proc(t, "status")) {
		if value, found := strings.CutPrefix(line, field+":"); found {
			kilobytes, err := strconv.ParseFloat(strings.Fields(value)[0], 64)
			require.NoError(t, err)
			return kilobytes * 1024 / 1e6
		}
	}
	require.Fail(t, "no "+field)
	return 0
}

// processor returns the time that it has had of the processors.
func (c *contestant) processor(t *testing.T) time.Duration {
	t.Helper()
	const perSecond = 100 // of the kernel's clock, on each platform that Go knows
	_, fields, _ := strings.Cut(c.proc(t, "stat"), ") ")
	var ticks int64
	for _, field := range strings.Fields(fields)[11:13] { // utime and stime
		n, err := strconv.ParseInt(field, 10, 64)
		require.NoError(t, err)
		ticks += n
	}
	return time.Duration(ticks) * time.Second / perSecond
}

// proc reads a file that Linux has about it.
func (c *contestant) proc(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(c.cmd.Process.Pid), file))
	require.NoError(t, err)
	return string(text)
}

// build builds the server's program as the image has it, and returns its path.
func build(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "operetta")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", path, "../../cmd/operetta-server")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	output, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", output)
	return path
}

// TestFloorAnswers: the floor answers what the program is measured with, and refuses what has no parent.
func TestFloorAnswers(t *testing.T) {
	t.Parallel()
	floor := startFloor(t)
	_, err := load(floor.address, post("/", []byte(`{"parent":{"metadata":{"name":"a"}}}`)), time.Millisecond)
	require.NoError(t, err)
	_, err = load(floor.address, post("/", []byte(`{}`)), time.Millisecond)
	require.ErrorContains(t, err, fmt.Sprint(http.StatusBadRequest))
}
