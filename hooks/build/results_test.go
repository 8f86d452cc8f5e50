package build

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/operetta-dev/operetta/operator"
)

// handOn runs the last container on files, and returns its message.
func handOn(t *testing.T, room int, names string, files map[string]string) string {
	t.Helper()
	folder, log := t.TempDir(), filepath.Join(t.TempDir(), "log")
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644))
	}
	command := exec.Command("/bin/sh", "-c", resultsScript)
	command.Env = []string{
		"PATH=" + os.Getenv("PATH"), "RESULTS=" + names, "RESULTS_DIR=" + folder, "ROOM=" + strconv.Itoa(room),
		"MOST=" + strconv.Itoa(maxResult), "TERMINATION_LOG=" + log,
	}
	output, err := command.CombinedOutput()
	require.NoError(t, err, string(output))
	message, err := os.ReadFile(log)
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	require.LessOrEqual(t, len(message), room)
	return string(message)
}

// ended returns a Pod with one container that has ended.
func ended(name, message string, exitCode int32) *observedPod {
	state := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Message: message, ExitCode: exitCode}}
	return &observedPod{Status: operator.PodStatus{ContainerStatuses: []operator.ContainerStatus{{Name: name, State: state}}}}
}

func TestResultsReachTheStatus(t *testing.T) {
	long := strings.Repeat("ä", 600)
	files := map[string]string{
		"digest": "sha256:0123\n", "list": `["a", "b"]`, "lines": "a\n\tb\r\n\n", "escape": "\x1b[2J\u202e\xff", "empty": "", "long": long,
		"other": "not declared", "-n": "neither",
	}
	spec := &Spec{}
	for name := range strings.FieldsSeq("digest list lines escape empty long missing") {
		spec.Results = append(spec.Results, DeclaredResult{Name: name})
	}
	message := handOn(t, maxMessage, strings.Join(resultNames(spec), " "), files)
	require.Equal(t, []ResultValue{
		{"digest", "sha256:0123"},
		{"list", `["a", "b"]`},
		{"lines", `a\u000a\u0009b`},
		{"escape", `\u001b[2J\u202e\ufffd`},
		{"empty", ""},
		{"long", long[:maxResult]},
	}, ended(resultsContainer, message, 0).results(spec))
	require.Empty(t, ended("build", message, 0).results(spec), "a step's message")
	require.Empty(t, ended(resultsContainer, message, 1).results(spec))
}

func TestResultsThatHaveNoRoomAreLeftOut(t *testing.T) {
	spec := &Spec{Results: []DeclaredResult{{Name: "a"}, {Name: "b"}, {Name: "c"}}}
	message := handOn(t, 60, "a b c", map[string]string{"a": "1", "b": strings.Repeat("2", 50), "c": "3"})
	require.Equal(t, []ResultValue{{"a", "1"}, {"c", "3"}}, ended(resultsContainer, message, 0).results(spec))
	cut := message[:len(message)-3]
	require.Equal(t, []ResultValue{{"a", "1"}}, ended(resultsContainer, cut, 0).results(spec), "a kubelet has cut the message")
}

// TestResultsOfAnyTextAreBounded reads what is no message of ours.
func TestResultsOfAnyTextAreBounded(t *testing.T) {
	spec := &Spec{Results: []DeclaredResult{{Name: "a"}}}
	for text, want := range map[string][]ResultValue{
		"": nil, "a": {{"a", ""}}, "a=%": nil, "=YQ==": nil, "b=YQ==\na=YQ==\n": {{"a", "a"}},
		"a=" + strings.Repeat("AAAA", 1000): {{"a", strings.Repeat(`\u0000`, 200)[:maxResult]}},
	} {
		require.Equal(t, want, ended(resultsContainer, text, 0).results(spec), text)
	}
}

func TestCommitIsOne(t *testing.T) {
	sha := strings.Repeat("0123456789", 4)
	for message, want := range map[string]string{
		sha + "\n": sha, sha + strings.Repeat("abcdef", 4): sha + strings.Repeat("abcdef", 4),
		"": "", sha[1:]: "", sha + "0": "", strings.ToUpper(sha[:39] + "f"): "", sha + "\n" + sha: "", "https://" + sha: "",
	} {
		require.Equal(t, want, ended(cloneStep, message, 0).commit(), message)
		require.Empty(t, ended("build", message, 0).commit())
		require.Empty(t, ended(cloneStep, message, 128).commit())
	}
}
