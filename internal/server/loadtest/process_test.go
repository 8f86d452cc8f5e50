package loadtest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// mostResident is what the process may have in memory at its peak, under the
// limit of 512 MiB that deploy/ sets.
const mostResident = 450 << 20

// perRaceDetector is how many times as much memory the race detector may take.
const perRaceDetector = 8

var binary string

// detectsRaces reports whether the server is built with the race detector. It ends at the
// first race then, and what it has in memory says nothing.
func detectsRaces() bool { return os.Getenv("OPERETTA_TEST_RACES") != "" }

func TestMain(m *testing.M) {
	if os.Getenv("OPERETTA_TEST_LOAD") == "" {
		fmt.Println("the load tests take a minute or two, and measure memory and time: make load runs them")
		return
	}
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "loadtest")
		if err != nil {
			panic(err)
		}
		defer func() { _ = os.RemoveAll(dir) }()
		binary = filepath.Join(dir, "operetta")
		args := []string{"build", "-o", binary}
		if detectsRaces() {
			args = append(args, "-race")
		}
		build := exec.Command("go", append(args, "../../../cmd/operetta-server")...)
		if output, err := build.CombinedOutput(); err != nil {
			panic(fmt.Sprintf("%s: %s", err, output))
		}
		return m.Run()
	}())
}

// process is a server that runs as deploy/ runs it.
type process struct {
	*exec.Cmd

	hooks, health string // addresses
	log           string // path
	cgroup        string // path, or empty
	ended         chan error
}

// shipped is the container of the Deployment in deploy/.
func shipped(t *testing.T) corev1.Container {
	t.Helper()
	text, err := os.ReadFile("../../../deploy/server/deployment.yaml")
	require.NoError(t, err)
	var deployment appsv1.Deployment
	require.NoError(t, yaml.UnmarshalStrict(text, &deployment))
	return deployment.Spec.Template.Spec.Containers[0]
}

func start(t *testing.T, flags ...string) *process {
	t.Helper()
	container := shipped(t)
	args := append(container.Args, "--listen=127.0.0.1:0", "--metrics-listen=127.0.0.1:0")
	p := &process{Cmd: exec.Command(binary, append(args, flags...)...), ended: make(chan error, 1)}
	limit := container.Resources.Limits.Memory().Value()
	p.Env = append(os.Environ(), "GORACE=halt_on_error=1", fmt.Sprint("GOMEMLIMIT=", limit/4*3)) // as it finds out in its container
	for _, variable := range container.Env {
		p.Env = append(p.Env, variable.Name+"="+variable.Value)
	}
	p.log = filepath.Join(t.TempDir(), "log")
	log, err := os.Create(p.log)
	require.NoError(t, err)
	p.Stderr = log
	require.NoError(t, p.Start())
	require.NoError(t, log.Close())
	go func() { p.ended <- p.Wait() }()
	if detectsRaces() {
		limit *= perRaceDetector
	}
	p.confine(t, limit)
	t.Cleanup(func() { p.end(t) })
	require.Eventually(t, func() bool { return p.isServing() || len(p.ended) > 0 }, time.Minute, 10*time.Millisecond, "it does not serve")
	require.Empty(t, p.ended, "it has ended")
	return p
}

func (p *process) isServing() bool {
	file, err := os.Open(p.log)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	var line struct{ Msg, Hooks, Health string }
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "serving" {
			p.hooks, p.health = line.Hooks, line.Health
			return true
		}
	}
	return false
}

// confine puts the process into a memory cgroup of its own with a limit. A
// machine that does not let it is held to the peak alone.
func (p *process) confine(t *testing.T, limit int64) {
	t.Helper()
	name := fmt.Sprintf("operetta-loadtest-%d", p.Process.Pid)
	for _, way := range []struct{ dir, file string }{
		{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"}, // version 1
		{"/sys/fs/cgroup", "memory.max"},                   // version 2
	} {
		cgroup := filepath.Join(way.dir, name)
		if os.Mkdir(cgroup, 0o755) != nil {
			continue
		}
		limited := os.WriteFile(filepath.Join(cgroup, way.file), []byte(strconv.FormatInt(limit, 10)), 0o600) == nil
		_ = os.WriteFile(filepath.Join(cgroup, "memory.swap.max"), []byte("0"), 0o600)
		if limited && os.WriteFile(filepath.Join(cgroup, "cgroup.procs"), []byte(strconv.Itoa(p.Process.Pid)), 0o600) == nil {
			p.cgroup = cgroup
			t.Logf("in a memory cgroup of %d MiB: %s", limit>>20, cgroup)
			return
		}
		_ = os.Remove(cgroup)
	}
	t.Logf("this machine gives no memory cgroup: only the peak of the process is held to %d MiB", mostResident>>20)
}

func (p *process) end(t *testing.T) {
	_ = p.Process.Kill()
	select {
	case err := <-p.ended:
		p.ended <- err
	case <-time.After(hang):
	}
	if p.cgroup != "" {
		require.Eventually(t, func() bool { return os.Remove(p.cgroup) == nil }, 5*time.Second, 10*time.Millisecond)
	}
	if text, err := os.ReadFile(p.log); err == nil && t.Failed() {
		t.Logf("the end of the log:\n%s", text[max(0, len(text)-4000):])
	}
}

// requireAlive fails unless the process is the one that was started and never
// had more in memory than it may.
func (p *process) requireAlive(t *testing.T) {
	t.Helper()
	select {
	case err := <-p.ended:
		p.ended <- err
		require.Fail(t, "the process has ended", "%v", err)
	default:
	}
	peak := p.peak(t)
	t.Logf("peak of the process: %d MiB; of its cgroup: %s", peak>>20, p.cgroupPeak())
	if !detectsRaces() {
		require.Less(t, peak, int64(mostResident))
	}
}

// peak returns the most that the process has had in memory.
func (p *process) peak(t *testing.T) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Process.Pid))
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.ParseInt(strings.Fields(value)[0], 10, 64)
			require.NoError(t, err)
			return kib << 10
		}
	}
	require.Fail(t, "/proc tells no peak")
	return 0
}

func (p *process) cgroupPeak() string {
	for _, name := range []string{"memory.max_usage_in_bytes", "memory.peak"} {
		if text, err := os.ReadFile(filepath.Join(p.cgroup, name)); err == nil && p.cgroup != "" {
			bytes, _ := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
			return fmt.Sprintf("%d MiB", bytes>>20)
		}
	}
	return "unknown"
}
