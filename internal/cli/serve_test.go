package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/internal/corpus"
)

// asProgram makes this test binary behave as the program itself.
const asProgram = "OPERETTA_TEST_AS_PROGRAM"

// needsLoad leaves a test that measures a process to make load: under the race
// detector, or beside other tests, it would measure those.
func needsLoad(t *testing.T) {
	t.Helper()
	if os.Getenv("OPERETTA_TEST_LOAD") == "" {
		t.Skip("make load runs it")
	}
}

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(Run(context.Background(), "operetta", hooks.All(), Commands{}, os.Args[1:], Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
	}
	os.Exit(m.Run())
}

// process is a server in a process of its own, which can be sent signals.
type process struct {
	*exec.Cmd

	hooks, health string
	serving       map[string]any // what it said when it began to
	log           *bufio.Scanner
}

// someKinds are for a server of which most kinds are of no concern: each takes processor time when it
// starts.
const someKinds = "--kinds=modelbox,myjob"

func serveInProcess(t *testing.T, flags ...string) *process {
	t.Helper()
	args := append([]string{"serve", "--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"}, flags...)
	p := &process{Cmd: exec.Command(os.Args[0], args...)}
	p.Env = append(os.Environ(), asProgram+"=yes")
	stderr, err := p.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, p.Start())
	t.Cleanup(func() { _ = p.Process.Kill() }) // in case the test has failed
	p.log = bufio.NewScanner(stderr)
	p.serving = p.waitFor(t, "serving")
	line := p.serving
	p.hooks, p.health = "http://"+line["hooks"].(string), "http://"+line["health"].(string)
	return p
}

// waitFor returns the next log line with a message.
func (p *process) waitFor(t *testing.T, message string) map[string]any {
	t.Helper()
	for p.log.Scan() {
		var line map[string]any
		require.NoError(t, json.Unmarshal(p.log.Bytes(), &line), p.log.Text())
		if line["msg"] == message {
			return line
		}
	}
	require.Fail(t, "the log ended before it said "+message)
	return nil
}

func status(t *testing.T, url string) int {
	t.Helper()
	response, err := http.Get(url)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return response.StatusCode
}

func TestSignalDrains(t *testing.T) {
	for _, signal := range []os.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			p := serveInProcess(t, someKinds, "--drain-delay", "3s")
			require.Equal(t, http.StatusOK, status(t, p.health+"/readyz"))
			signaled := time.Now()
			require.NoError(t, p.Process.Signal(signal))
			p.waitFor(t, "draining")
			require.Eventually(t, func() bool { return status(t, p.health+"/readyz") == http.StatusServiceUnavailable },
				2900*time.Millisecond, time.Millisecond)
			require.Equal(t, http.StatusMethodNotAllowed, status(t, p.hooks+"/modelbox/sync"), "it still answers")
			p.waitFor(t, "drained")
			require.NoError(t, p.Wait(), "the exit code is 0")
			require.GreaterOrEqual(t, time.Since(signaled), 3*time.Second)
		})
	}
}

func TestSecondSignalEndsAtOnce(t *testing.T) {
	p := serveInProcess(t, someKinds, "--drain-delay", "1m")
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	p.waitFor(t, "draining")
	ended := make(chan error, 1)
	go func() { ended <- p.Wait() }()
	require.Eventually(t, func() bool {
		_ = p.Process.Signal(syscall.SIGTERM)
		return len(ended) > 0
	}, 10*time.Second, 10*time.Millisecond)
	require.ErrorContains(t, <-ended, "signal: terminated")
}

func TestServeTellsATakenPort(t *testing.T) {
	p := serveInProcess(t, someKinds)
	taken := strings.TrimPrefix(p.hooks, "http://")
	for _, flag := range []string{"--listen", "--metrics-listen"} {
		code, _, stderr := operetta(t, "serve", "--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0", flag, taken)
		require.Equal(t, ExitFailed, code)
		require.Equal(t, "operetta: "+flag+": listen tcp "+taken+": bind: address already in use\n", stderr)
	}
}

func TestConfig(t *testing.T) {
	for text, want := range map[string]string{
		"max-body-bytes: 1000000\n":              "",
		"max-body-bytes: 134217728\n":            "",
		"{}\n":                                   "",
		"":                                       "",
		"max-in-flight: 1.5\n":                   `max-in-flight: invalid argument "1.5"`,
		"listen:\n":                              "listen: a single value is wanted",
		"listen: [a, b]\n":                       "listen: a single value is wanted",
		"drain-delay: 5\n":                       `drain-delay: invalid argument "5"`,
		"config: other.yaml\n":                   `there is no setting "config"`,
		"help: true\n":                           `there is no setting "help"`,
		"listen: a:1\nlisten: b:1\n":             `key "listen" already set`,
		"[]\n":                                   "cannot unmarshal array",
		"log-level: x\n\tlog-format: y\n":        "found a tab character that violates indentation",
		"log-level: debug\nLog-Format: \"text\"": `there is no setting "Log-Format"`,
	} {
		cmd := newServeCommand(&Program{})
		path := write(t, "config.yaml", text)
		err := configured(t, cmd, path)
		if want == "" {
			require.NoError(t, err, text)
			continue
		}
		require.ErrorContains(t, err, want, text)
		require.ErrorContains(t, err, path, text)
	}
}

func TestCommandLineWinsOverConfig(t *testing.T) {
	cmd := newServeCommand(&Program{})
	require.NoError(t, cmd.ParseFlags([]string{"--listen", "command-line:1"}))
	require.NoError(t, configured(t, cmd, write(t, "config.yaml", "listen: file:1\nmetrics-listen: file:2\nmax-body-bytes: 134217728\n")))
	require.Equal(t, "command-line:1", flagText(cmd, "listen"))
	require.Equal(t, "file:2", flagText(cmd, "metrics-listen"))
	require.Equal(t, "134217728", flagText(cmd, "max-body-bytes"))
	require.Equal(t, "5s", flagText(cmd, "drain-delay"))
}

// configured sets flags of a command from a file.
func configured(t *testing.T, cmd *cobra.Command, path string) error {
	t.Helper()
	config, err := readConfiguration(path)
	if err == nil {
		err = config.setFlags(cmd)
	}
	return err
}

func flagText(cmd *cobra.Command, name string) string { return cmd.Flags().Lookup(name).Value.String() }

func TestServeRefusesLimitsThatMakeNoSense(t *testing.T) {
	for flag, says := range map[string]string{
		"max-in-flight: 0":      "from 1 to 1024",
		"max-in-flight: 9999":   "from 1 to 1024",
		"max-in-flight: -1":     "from 1 to 1024",
		"max-body-bytes: 0":     "from 1 to 1Ti",
		"max-body-bytes: 1e30":  "from 1 to 1Ti",
		"max-body-bytes: 100Gi": "write at most ",
		"max-answer-bytes: 1":   "from 1Ki to 1Ti",
		"max-body-bytes: much":  "quantities must match the regular expression",
		"drain-delay: -1s":      "from 0s to 1h0m0s",
		"drain-delay: 99999h":   "from 0s to 1h0m0s",
		"shutdown-timeout: 0s":  "from 1ms to 1h0m0s",
		"log-format: xml":       "neither json nor text",
	} {
		serve := []string{"serve", "--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"}
		for _, args := range [][]string{
			append(serve, "--"+strings.Replace(flag, ": ", "=", 1)),
			append(serve, "--config", write(t, "config.yaml", flag+"\n")),
		} {
			code, _, stderr := operetta(t, args...)
			require.Equal(t, ExitUsage, code, args)
			require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
			require.Contains(t, stderr, says)
		}
	}
}

func TestServeRecords(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "recordings")
	p := serveInProcess(t, "--record", dir, "--drain-delay", "0s")
	require.EqualValues(t, 384<<20/10*6-64<<20, p.serving["memoryBudget"], "what recording takes is not for requests")
	source, err := os.ReadFile("../../testdata/myjob/sync/existing-pod-is-running.in.yaml")
	require.NoError(t, err)
	request, err := yaml.YAMLToJSON(source)
	require.NoError(t, err)
	for range 2 {
		response, err := http.Post(p.hooks+"/myjob/sync", "application/json", bytes.NewReader(request))
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, response.StatusCode)
		require.NoError(t, response.Body.Close())
	}
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	line := p.waitFor(t, "recorded")
	require.EqualValues(t, 1, line["cases"], "the second was the same")
	require.NoError(t, p.Wait())

	cases, err := corpus.Read(dir, hooks.All())
	require.NoError(t, err)
	require.Len(t, cases, 1)
	answer, err := os.ReadFile(filepath.Join(dir, cases[0].Name+".out.yaml"))
	require.NoError(t, err)
	again, err := cases[0].Print()
	require.NoError(t, err)
	require.Equal(t, string(again), string(answer))
}

func TestServeProfiles(t *testing.T) {
	t.Parallel()
	require.Equal(t, http.StatusNotFound, status(t, serveInProcess(t, someKinds).health+"/debug/pprof/"))
	require.Equal(t, http.StatusOK, status(t, serveInProcess(t, someKinds, "--pprof").health+"/debug/pprof/"))
}
