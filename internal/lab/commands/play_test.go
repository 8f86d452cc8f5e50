package commands

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/hooks/invariants"
	"github.com/operetta-dev/operetta/internal/cli"
	"github.com/operetta-dev/operetta/internal/lab/page"
	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/internal/testenv"
)

// samplePaths returns the samples.
func samplePaths(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("../../../deploy/samples/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	return paths
}

// scenarioOf returns a scenario with files and actions, such as 3 fail Pod/a.
func scenarioOf(t testing.TB, paths []string, actions ...page.Action) page.Scenario {
	t.Helper()
	scenario := page.Scenario{Actions: actions}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		scenario.Files = append(scenario.Files, page.File{Name: path, Text: string(text)})
	}
	return scenario
}

// samplePlayer plays with the operators of this project.
func samplePlayer(t testing.TB) pagePlayer {
	t.Helper()
	var shared *cli.Program
	cli.Run(t.Context(), "operetta", hooks.All(), cli.Commands{New: func(p *cli.Program) []*cobra.Command {
		shared = p
		return nil
	}}, []string{"version"}, cli.Streams{Out: io.Discard, Err: os.Stderr})
	return pagePlayer{&program{shared, invariants.All()}, map[page.File]string{}}
}

// TestTranscriptIsThatOfSimulate: what a link reproduces is what the command prints, to the byte.
func TestTranscriptIsThatOfSimulate(t *testing.T) {
	p := samplePlayer(t)
	for _, path := range samplePaths(t) {
		plain, err := p.Run(t.Context(), scenarioOf(t, []string{path}))
		require.NoError(t, err)
		faults := [][]page.Action{nil}
		for _, o := range plain.Objects {
			if o.Role == "child" {
				faults = append(faults, []page.Action{{Action: "fail " + o.ID}}, []page.Action{{Action: "vanish " + o.ID}, {At: 3, Action: "fail " + o.ID}})
			}
		}
		for _, actions := range faults[:min(len(faults), 7)] {
			for _, apply := range []string{"dynamic-apply", "server-side-apply"} {
				if testenv.Often(fmt.Sprint(path, apply, actions), 4) {
					requireSame(t, p, []string{path}, apply, actions)
				}
			}
		}
	}
}

// requireSame wants the run of a scenario to say what simulate says.
func requireSame(t *testing.T, p pagePlayer, paths []string, apply string, actions []page.Action) {
	t.Helper()
	args := append([]string{"simulate", "--apply", apply}, paths...)
	for _, a := range actions {
		do, target, _ := strings.Cut(a.Action, " ")
		if a.At > 0 {
			target = fmt.Sprintf("%s@%d", target, a.At)
		}
		args = append(args, "--"+do, target)
	}
	_, stdout, stderr := operetta(t, "", args...)
	scenario := scenarioOf(t, paths, actions...)
	scenario.Apply = apply
	run, err := p.Run(t.Context(), scenario)
	require.NoError(t, err)
	require.Equal(t, stdout, run.Transcript, args)
	told := ""
	if run.Error != "" {
		told = "operetta: " + run.Error + "\n"
	}
	require.Equal(t, stderr, told, args)
	requireCommand(t, p, scenario, run)
	again, err := p.Run(t.Context(), scenario)
	require.NoError(t, err)
	require.Equal(t, run, again, "it is not deterministic: %s", args)
}

// requireCommand wants the command line of a run, as a shell reads it, to say the same.
func requireCommand(t *testing.T, p pagePlayer, scenario page.Scenario, run *page.Run) {
	t.Helper()
	words, err := exec.Command("sh", "-c", `for word in "$@"; do :; done; eval "set -- $1"; printf '%s\0' "$@"`, "sh", run.Command).Output()
	require.NoError(t, err)
	args := strings.Split(strings.TrimSuffix(string(words), "\x00"), "\x00")
	require.Equal(t, []string{p.Name(), "simulate"}, args[:2])
	_, stdout, _ := operetta(t, "", args[1:]...)
	require.Equal(t, run.Transcript, stdout, run.Command)
	for _, file := range scenario.Files {
		require.Contains(t, run.Unsaved, file.Name)
	}
}

// TestTheCommandNamesFilesThatAreSaved, and says which are not.
func TestTheCommandNamesFilesThatAreSaved(t *testing.T) {
	p, path := samplePlayer(t), "../../../deploy/samples/podset.yaml"
	file, err := p.file(path)
	require.NoError(t, err)
	scenario := page.Scenario{Files: []page.File{file}, Apply: "server-side-apply", Actions: []page.Action{{At: 4, Action: "evict Pod/cache-0 disk"}, {Action: "delete PodSet/cache"}}}
	run, err := p.Run(t.Context(), scenario)
	require.NoError(t, err)
	require.Equal(t, "operetta simulate "+path+" --apply server-side-apply --evict 'Pod/cache-0@4 disk' --action 'delete PodSet/cache'", run.Command)
	require.Empty(t, run.Unsaved)
	scenario.Files[0].Text += "# edited\n"
	run, err = p.Run(t.Context(), scenario)
	require.NoError(t, err)
	require.Contains(t, run.Command, "operetta simulate podset.yaml --apply")
	require.Equal(t, []string{"podset.yaml"}, run.Unsaved)
}

// TestTheFirstSampleIsModelBox, which the README begins with.
func TestTheFirstSampleIsModelBox(t *testing.T) {
	t.Chdir("../../..")
	options, err := samplePlayer(t).playOptions(nil)
	require.NoError(t, err)
	require.Equal(t, "modelbox.yaml", options.Start.Scenario.Files[0].Name)
}

// TestTranscriptOfEdits: a custom resource that comes again is an edit, which may be refused.
func TestTranscriptOfEdits(t *testing.T) {
	box := func(image string) string {
		return "apiVersion: model.github.com/v1\nkind: ModelBox\nmetadata: {name: web}\nspec: {image: '" + image + "', ports: [{port: 80}]}\n"
	}
	first, second, bad := write(t, "first.yaml", box("nginx:1.27")), write(t, "second.yaml", box("nginx:1.28")), write(t, "bad.yaml", box(""))
	p := samplePlayer(t)
	requireSame(t, p, []string{first, second}, "dynamic-apply", []page.Action{{At: 9, Action: "vanish Service/web"}})

	run, err := p.Run(t.Context(), scenarioOf(t, []string{first, bad}))
	require.NoError(t, err)
	_, stdout, stderr := operetta(t, "", "simulate", first, bad)
	require.Equal(t, stdout, run.Transcript)
	require.Equal(t, `operetta: The ModelBox "web" is invalid: spec.image: Invalid value: "": spec.image in body should be at least 1 chars long (`+bad+":4)\n", stderr)
	require.Equal(t, stderr, "operetta: "+run.Error+"\n")
	one := 1
	require.Equal(t, []page.Problem{{File: &one, Line: 4, Field: "spec.image", Message: `Invalid value: "": spec.image in body should be at least 1 chars long`, Severity: page.Wrong}}, run.Problems)
}

// TestEachAction plays what the page offers, and the same with the flags of simulate.
func TestEachAction(t *testing.T) {
	p, sample := samplePlayer(t), []string{"../../../deploy/samples/podset.yaml"}
	untried := map[string]bool{}
	for _, kind := range player.ActionKinds() {
		if kind.IsFlag {
			untried[kind.Name] = true
		}
	}
	for action, want := range map[string]string{
		"0 fail Pod/cache-0":                      "* Pod/cache-0  running, not ready",
		"0 vanish Pod/cache-0":                    "! vanish Pod/cache-0",
		"3 take-name Pod/cache-2":                 "+ Pod/cache-2  (applied)",
		"2 late-cache PodSet/cache":               "! sync of PodSet/cache, not having heard that Pod/cache-0 exists, Pod/cache-1 exists, Pod/cache-2 exists, PodSet/cache has changed",
		"0 crash PodSet/cache":                    "! PodSet/cache  can't update status: made to fail: Metacontroller dies after write 1 of this sync",
		"0 lose-status PodSet/cache":              "! PodSet/cache  can't update status: made to fail: Internal error occurred: the API server has failed",
		"4 hold Pod/cache-0":                      "! hold Pod/cache-0",
		"4 evict Pod/cache-0":                     "* Pod/cache-0  failed Evicted",
		"4 drain Pod/cache-0":                     "! drain Pod/cache-0",
		"4 evict Pod/cache-0 preempted":           "! evict Pod/cache-0 preempted",
		"0 fail Pod/cache-0 rejected":             "* Pod/cache-0  failed UnexpectedAdmissionError",
		"4 lose-node Pod/cache-0":                 "* Pod/cache-0  running, not ready",
		"0 flap Pod/cache-0":                      "! flap Pod/cache-0 is over",
		"2 sync PodSet/cache":                     "! sync of PodSet/cache, not having heard that Pod/cache-0 exists, Pod/cache-1 exists, Pod/cache-2 exists, PodSet/cache has changed",
		"3 restart":                               "! Metacontroller restarts",
		`3 edit PodSet/cache {"spec":{"size":1}}`: "      spec.size: 3 -> 1",
		"3 delete PodSet/cache":                   "> PodSet/cache  gone",
		"1 quota Pod":                             "! creations are refused: Pod",
		"1 refuse Pod pod-security":               "! creations are refused: Pod pod-security",
		`1 create {"apiVersion":"v1","kind":"Pod","metadata":{"name":"cache-0"},"spec":{"containers":[{"name":"c","image":"x"}]}}`: "+ Pod/cache-0  (applied)",
	} {
		at, text, _ := strings.Cut(action, " ")
		step, err := strconv.Atoi(at)
		require.NoError(t, err)
		run, err := p.Run(t.Context(), scenarioOf(t, sample, page.Action{At: step, Action: text}))
		require.NoError(t, err)
		var lines []string
		for _, s := range run.Steps {
			lines = append(lines, s.Lines...)
		}
		require.Contains(t, lines, want, "%s:\n%s", action, run.Transcript)
		require.Empty(t, run.Problems, action)
		again, err := p.Run(t.Context(), scenarioOf(t, sample, page.Action{At: step, Action: text}))
		require.NoError(t, err)
		require.Equal(t, run, again, "%s is not deterministic", action)
		requireCommand(t, p, scenarioOf(t, sample), run)

		one, err := player.ParseAction(text)
		require.NoError(t, err)
		if one.At = step; untried[one.Do] {
			flag, given, _ := strings.Cut(one.String(), " ")
			_, stdout, _ := operetta(t, "", "simulate", sample[0], "--"+flag, given)
			require.Equal(t, run.Transcript, stdout, action)
		}
		_, stdout, _ := operetta(t, "", "simulate", sample[0], "--action", one.String())
		require.Equal(t, run.Transcript, stdout, action)
		delete(untried, one.Do)
	}
	require.Empty(t, untried)
	run, err := p.Run(t.Context(), scenarioOf(t, sample, page.Action{At: 1, Action: "deliver"}, page.Action{At: 1, Action: "sync PodSet/cache crash@1"}))
	require.NoError(t, err)
	require.Contains(t, run.Transcript, "Metacontroller dies after write 1 of this sync")
	require.Empty(t, run.Problems)
	run, err = p.Run(t.Context(), scenarioOf(t, sample, page.Action{At: 3, Action: "drain Pod/none"}, page.Action{Action: "fail Pod/other"}))
	require.NoError(t, err)
	require.Len(t, run.Problems, 2)
	require.Equal(t, 0, *run.Problems[0].Action)
	require.Equal(t, 1, *run.Problems[1].Action)
}

// TestMistakesHaveLines: the page shows them where they are.
func TestMistakesHaveLines(t *testing.T) {
	p := samplePlayer(t)
	set := "apiVersion: apps.jicki.cn/v1alpha1\nkind: PodSet\nmetadata: {name: web}\nspec:\n  size: 1\n  sise: 2\n  template: {spec: {containers: [{name: c, image: nginx}]}}\n"
	for text, want := range map[string]string{
		set:                 "6 spec.sise unknown field: it is left out warning",
		set + "---\na: [\n": "9  it is neither YAML nor JSON: did not find",
		"":                  "0  there is nothing to play: write a custom resource, of the kind Build, ",
		"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n": "2  there is no custom resource of a kind that operetta knows, only Pod of v1: write one of Build of ci.zt.vapi.cc/v1, ",
		"a: b\n": "1  file 1, document 1 is neither a custom resource nor a hook request",
		strings.Replace(strings.Replace(set, "size: 1", "size: x", 1), "sise: 2", "#", 1): "5 spec.size ",
	} {
		problems := p.Check(page.Scenario{Files: []page.File{{Text: text}}})
		require.NotEmpty(t, problems, text)
		found := fmt.Sprintf("%d %s %s %s", problems[0].Line, problems[0].Field, problems[0].Message, problems[0].Severity)
		require.Contains(t, found, want, text)
	}
	problems := p.Check(page.Scenario{Files: []page.File{{Name: "set.yaml", Text: set}, {Name: "empty.yaml"}}})
	require.NotEmpty(t, problems)
	require.Equal(t, "empty.yaml has no document", problems[0].Message, "the other file has something to play")
}

// TestNoValueOfASecretIsInARun, whoever wrote it.
func TestNoValueOfASecretIsInARun(t *testing.T) {
	secret := "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s, annotations: {kubectl.kubernetes.io/last-applied-configuration: '{\"data\":\"cGxhbnRlZA==\"}'}}\nstringData: {a: planted}\ndata: {b: cGxhbnRlZA==}\n"
	again := strings.NewReplacer("planted", "planted2", "cGxhbnRlZA==", "cGxhbnRlZDI=").Replace(secret)
	files := []string{write(t, "box.yaml", modelBox+secret), write(t, "again.yaml", again)}
	run, err := samplePlayer(t).Run(t.Context(), scenarioOf(t, files))
	require.NoError(t, err)
	require.Empty(t, run.Error)
	page, err := page.HTML(scenarioOf(t, files), run)
	require.NoError(t, err)
	code, exported, stderr := operetta(t, "", append([]string{"simulate", "-o", "html"}, files...)...)
	require.Equal(t, 0, code, stderr)
	for _, text := range []string{run.Transcript, page, exported} {
		require.NotContains(t, text, "planted")
		require.NotContains(t, text, "cGxhbnRl")
	}
	require.Contains(t, page, "(hidden)")
	require.Contains(t, exported, "(hidden)")
}

// TestGoldenIsWhatSimulateRecords, in the same words.
func TestGoldenIsWhatSimulateRecords(t *testing.T) {
	path := "../../../deploy/samples/podset.yaml"
	cases, err := samplePlayer(t).Golden(t.Context(), scenarioOf(t, []string{path}))
	require.NoError(t, err)
	require.NotEmpty(t, cases)
	folder := filepath.Join(t.TempDir(), "testdata")
	code, _, stderr := operetta(t, "", "simulate", path, "--record", folder)
	require.Equal(t, 0, code, stderr)
	for _, c := range cases {
		for name, text := range map[string]string{c.Name + ".in.yaml": c.In, c.Name + ".out.yaml": c.Out} {
			recorded, err := os.ReadFile(filepath.Join(folder, name))
			require.NoError(t, err)
			require.Equal(t, string(recorded), text)
		}
	}
	require.Equal(t, 1, cases[0].Step)
}

// TestStoryIsASchedule that explore plays.
func TestStoryIsASchedule(t *testing.T) {
	path := "../../../deploy/samples/podset.yaml"
	story, err := samplePlayer(t).Story(t.Context(), scenarioOf(t, []string{path},
		page.Action{Action: "fail Pod/cache-0"}, page.Action{At: 4, Action: "sync PodSet/cache crash@1"}, page.Action{At: 8, Action: "mend"}))
	require.NoError(t, err)
	require.Equal(t, "calm 1\nfail Pod/cache-0\ncalm 2\nsync PodSet/cache crash@1\ncalm 3\nmend\ncalm 7\n", story)
	code, stdout, stderr := operetta(t, "", "explore", path, "--apply", "dynamic-apply", "--schedule", write(t, "story.txt", story))
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, "nothing is broken")
	_, err = samplePlayer(t).Story(t.Context(), scenarioOf(t, []string{path, path}))
	require.EqualError(t, err, "explore takes each object once: write the edit as an action")
}

// TestRunsAreSmall: a run is sent at each edit.
func TestRunsAreSmall(t *testing.T) {
	largest := 0
	for _, path := range samplePaths(t) {
		run, err := samplePlayer(t).Run(t.Context(), scenarioOf(t, []string{path}))
		require.NoError(t, err)
		var b bytes.Buffer
		w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
		require.NoError(t, err)
		require.NoError(t, json.NewEncoder(w).Encode(run))
		require.NoError(t, w.Close())
		largest = max(largest, b.Len())
	}
	require.Less(t, largest, 64<<10)
}

// BenchmarkRun is what happens between an edit and a graph, but for the browser.
func BenchmarkRun(b *testing.B) {
	for _, path := range samplePaths(b) {
		b.Run(strings.TrimSuffix(filepath.Base(path), ".yaml"), func(b *testing.B) {
			scenario, p := scenarioOf(b, []string{path}), samplePlayer(b)
			for b.Loop() {
				run, err := p.Run(b.Context(), scenario)
				require.NoError(b, err)
				text, err := json.Marshal(run)
				require.NoError(b, err)
				b.ReportMetric(float64(len(text)), "bytes")
			}
		})
	}
}

// TestPlayServesUntilItIsInterrupted starts the command, asks it, and ends it.
func TestPlayServesUntilItIsInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	told, out := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- Run(ctx, "operetta", ours(), []string{"play", "--port", "0", "../../../deploy/samples/podset.yaml"}, cli.Streams{Out: out, Err: os.Stderr})
	}()
	line, err := bufio.NewReader(told).ReadString('\n')
	require.NoError(t, err)
	url := regexp.MustCompile(`http://127\.0\.0\.1:\d+/`).FindString(line)
	require.NotEmpty(t, url, line)

	start := fetch(t, http.MethodGet, url+"start", "")
	var begin page.Start
	require.NoError(t, json.Unmarshal(start, &begin))
	require.Equal(t, "podset.yaml", begin.Scenario.Files[0].Name)
	scenario, err := json.Marshal(begin.Scenario)
	require.NoError(t, err)
	first := fetch(t, http.MethodPost, url+"run", string(scenario))
	require.Equal(t, first, fetch(t, http.MethodPost, url+"run", string(scenario)), "another answer to the same")
	var run page.Run
	require.NoError(t, json.Unmarshal(first, &run))
	require.Equal(t, "True", run.Outcomes[0].Ready)

	var schemas page.Schemas
	require.NoError(t, json.Unmarshal(fetch(t, http.MethodGet, url+"schemas", ""), &schemas))
	require.Len(t, schemas.Kinds, len(hooks.All()))
	for _, kind := range schemas.Kinds {
		require.Contains(t, kind.Schema["properties"], "spec", kind.Kind)
	}
	for _, kind := range player.ActionKinds() {
		hasButton := slices.ContainsFunc(schemas.Actions, func(a page.ActionKind) bool { return a.Name == kind.Name })
		require.Equal(t, kind.IsFlag && kind.Name != "edit", hasButton, kind.Name)
		require.Equal(t, kind.IsFlag, kind.Group != "" && kind.Word != "", kind.Name)
	}
	interrupt()
	require.Equal(t, 0, <-code)
}

// fetch asks the page's server.
func fetch(t *testing.T, method, url, body string) []byte {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, answer.StatusCode, string(text))
	return text
}

func TestPlayWithMistakes(t *testing.T) {
	large := write(t, "large.yaml", strings.Repeat("#", page.MaxBody/2+1))
	for line, args := range map[string][]string{
		"open nowhere.yaml: no such file or directory":                                                 {"play", "nowhere.yaml"},
		"--port 70000 is not between 0 and 65535 (see operetta play --help)":                           {"play", "--port", "70000"},
		large + " has more than 512 KiB, and a page has no use for that: use simulate":                 {"play", large},
		`--output "pdf" is not supported: use text, json, yaml or html (see operetta simulate --help)`: {"simulate", sample, "-o", "pdf"},
	} {
		_, _, stderr := operetta(t, "", args...)
		require.Equal(t, "operetta: "+line+"\n", stderr)
	}
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = busy.Close() }()
	_, port, err := net.SplitHostPort(busy.Addr().String())
	require.NoError(t, err)
	code, _, stderr := operetta(t, "", "play", "--port", port)
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "write another --port, or 0 for a free one")
}

// TestExportedFile has what simulate prints, and its exit code.
func TestExportedFile(t *testing.T) {
	_, text, _ := operetta(t, "", "simulate", sample, "--fail", "Deployment/sentiment@3")
	code, html, stderr := operetta(t, "", "simulate", sample, "--fail", "Deployment/sentiment@3", "-o", "html")
	require.Equal(t, 0, code, stderr)
	_, data, _ := strings.Cut(html, `id="run">`)
	data, _, _ = strings.Cut(data, "</script>")
	var file struct {
		Scenario page.Scenario
		Run      page.Run
	}
	require.NoError(t, json.Unmarshal([]byte(data), &file))
	require.Equal(t, text, file.Run.Transcript)
	require.Equal(t, []page.Action{{At: 3, Action: "fail Deployment/sentiment"}}, file.Scenario.Actions)
	require.Equal(t, []page.File{{Name: "modelbox.yaml"}}, file.Scenario.Files)

	code, html, _ = runSimulate(t, strings.Replace(modelBox, "nginx:1.27", "", 1), "-o", "html")
	require.Equal(t, 1, code)
	require.Contains(t, html, "is invalid")
}
