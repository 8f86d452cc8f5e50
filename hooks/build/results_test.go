package build

import (
	"cmp"
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

// handOn runs the last container on files, and returns its message and its log.
func handOn(t *testing.T, room int, names string, files map[string]string) (message, output string) {
	t.Helper()
	folder, log := t.TempDir(), filepath.Join(t.TempDir(), "log")
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644))
	}
	require.NoError(t, os.Mkdir(filepath.Join(folder, "folder"), 0o755))
	tools := applets(t)
	command := exec.Command(filepath.Join(cmp.Or(tools, "/bin"), "sh"), "-c", resultsScript)
	command.Env = []string{"PATH=" + tools + ":" + os.Getenv("PATH"), "RESULTS=" + names, "RESULTS_DIR=" + folder, "ROOM=" + strconv.Itoa(room), "TERMINATION_LOG=" + log}
	text, err := command.CombinedOutput()
	require.NoError(t, err, string(text))
	left, err := os.ReadFile(log)
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	require.LessOrEqual(t, len(left), room)
	return string(left), strings.ReplaceAll(string(text), folder+"/", "")
}

// ended returns a Pod with one container that has ended.
func ended(name, message string, exitCode int32) *observedPod {
	state := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Message: message, ExitCode: exitCode}}
	return &observedPod{Status: operator.PodStatus{ContainerStatuses: []operator.ContainerStatus{{Name: name, State: state}}}}
}

func TestResultsReachTheStatus(t *testing.T) {
	long := strings.Repeat("ä", 1000)
	files := map[string]string{
		"digest": "sha256:0123\n", "list": `["a", "b"]`, "lines": "größe\n\tb\r\n\n", "escape": "\x1b[2J\u202e\xff", "empty": "", "long": long,
		"other": "not declared", "-n": "neither", "array": "[\n  \"a\",\n  \"\u2028\"\n]\n", "none": "[]", "words": "a b", "numbers": "[1]", "null": "null", "nulls": "[null]",
	}
	spec := &Spec{}
	for name := range strings.FieldsSeq("digest list lines escape empty long missing folder") {
		spec.Results = append(spec.Results, DeclaredResult{Name: name})
	}
	for name := range strings.FieldsSeq("array none words numbers null nulls") {
		spec.Results = append(spec.Results, DeclaredResult{Name: name, Type: ResultArray})
	}
	message, log := handOn(t, maxMessage, strings.Join(resultNames(spec), " "), files)
	const noArray = "it is no JSON array of strings"
	require.Equal(t, []ResultValue{
		{Name: "digest", Value: "sha256:0123"},
		{Name: "list", Value: `["a", "b"]`},
		{Name: "lines", Value: `größe\n\tb`},
		{Name: "escape", Value: `\u001b[2J\u202e\ufffd`},
		{Name: "empty"},
		{Name: "long", Value: long},
		{Name: "folder", Omitted: "it is no file that every user can read"},
		{Name: "array", Values: []string{"a", `\u2028`}},
		{Name: "none"},
		{Name: "words", Omitted: noArray}, {Name: "numbers", Omitted: noArray}, {Name: "null", Omitted: noArray}, {Name: "nulls", Omitted: noArray},
	}, ended(resultsContainer, message, 0).results(spec))
	require.Equal(t, "no step has written missing\nfolder is left out: it is no file that every user can read\n", log)
	require.Empty(t, ended("build", message, 0).results(spec), "a step's message")
	require.Empty(t, ended(resultsContainer, message, 1).results(spec))
}

// TestNoResultIsCutInSilence tells of each that has no room: in the message, or as text in the status.
func TestNoResultIsCutInSilence(t *testing.T) {
	spec := &Spec{Results: []DeclaredResult{{Name: "a"}, {Name: "b"}, {Name: "c"}}}
	message, log := handOn(t, 60, "a b c", map[string]string{"a": "1", "b": strings.Repeat("2", 50), "c": "3"})
	require.Equal(t, "b is left out: it has 50 bytes, for which there is no room\n", log)
	whole := []ResultValue{{Name: "a", Value: "1"}, {Name: "b", Omitted: "it has 50 bytes, for which there was no room"}, {Name: "c", Value: "3"}}
	require.Equal(t, whole, ended(resultsContainer, message, 0).results(spec))
	const noRoom = "the message of the container results had no room for it, if it was written"
	for cut := range len(message) { // by a kubelet, in a Pod with containers of somebody else
		for i, result := range ended(resultsContainer, message[:cut], 0).results(spec) {
			if result.Omitted != noRoom {
				require.Equal(t, whole[i], result, message[:cut])
			}
		}
	}
	message, _ = handOn(t, 10, "a b c", map[string]string{"a": "1", "b": "2", "c": "3"})
	require.Equal(t, []ResultValue{{Name: "a", Value: "1"}, {Name: "b", Omitted: noRoom}, {Name: "c", Omitted: noRoom}}, ended(resultsContainer, message, 0).results(spec))

	message, _ = handOn(t, maxMessage, "a b", map[string]string{"a": strings.Repeat("\x00", 683), "b": "1"})
	require.Equal(t, []ResultValue{{Name: "a", Omitted: "it has 4098 bytes as text, for which there was no room"}, {Name: "b", Value: "1"}}, ended(resultsContainer, message, 0).results(spec))

	most := strings.Repeat("x", 3060)
	message, _ = handOn(t, maxMessage, "a b c", map[string]string{"a": most, "b": most})
	require.Equal(t, []ResultValue{{Name: "a", Value: most}, {Name: "b", Omitted: "it has 3060 bytes, for which there was no room"}}, ended(resultsContainer, message, 0).results(spec))
}

func TestArrayOfAThousandEntries(t *testing.T) {
	spec := &Spec{Results: []DeclaredResult{{Name: "a", Type: ResultArray}}}
	message, _ := handOn(t, maxMessage, "a", map[string]string{"a": "[" + strings.Repeat(`"",`, 999) + `"x"]`})
	values := ended(resultsContainer, message, 0).results(spec)[0].Values
	require.Len(t, values, 1000)
	require.Equal(t, "x", values[999])
}

// TestResultsOfAnyTextAreBounded reads what is no message of ours.
func TestResultsOfAnyTextAreBounded(t *testing.T) {
	spec := &Spec{Results: []DeclaredResult{{Name: "a"}}}
	const noRoom = "the message of the container results had no room for it, if it was written"
	for text, want := range map[string]ResultValue{
		"a": {Omitted: noRoom}, "a=%\n": {Omitted: noRoom}, "=YQ==\n": {Omitted: noRoom}, "b=YQ==\na=YQ==\n": {Value: "a"},
		"a!secret=\n": {Omitted: "it is no file that every user can read"}, "a!-1=\n": {Omitted: "it is no file that every user can read"},
		"a=" + strings.Repeat("AAAA", 1000) + "\n": {Omitted: "it has 18000 bytes as text, for which there was no room"},
	} {
		want.Name = "a"
		require.Equal(t, []ResultValue{want}, ended(resultsContainer, text, 0).results(spec), text)
	}
	require.Empty(t, ended(resultsContainer, "", 0).results(spec))
	require.Empty(t, ended(resultsContainer, ".=\n", 0).results(spec))
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
