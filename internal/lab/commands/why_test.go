package commands

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/internal/cli"
)

// dumpOf writes what kubectl would print at the end of a simulation.
func dumpOf(t *testing.T, args ...string) string {
	t.Helper()
	_, stdout, stderr := operetta(t, "", append([]string{"simulate", "--output=json"}, args...)...)
	require.Contains(t, stdout, `"items"`, stderr)
	return write(t, "dump.json", stdout)
}

func TestWhy(t *testing.T) {
	broken := dumpOf(t, sample, "--fail=Deployment/sentiment")
	code, text, stderr := operetta(t, "", "why", "modelbox/sentiment", "-f", broken)
	require.Equal(t, 0, code, stderr)
	require.Empty(t, stderr)
	require.LessOrEqual(t, strings.Count(text, "\n"), 12)
	for _, part := range []string{
		"ModelBox/sentiment in default: Ready=False ProgressDeadlineExceeded",
		"because   Pod/sentiment-", "CrashLoopBackOff, after it ended: Error, exit code 1",
		"> Deployment/sentiment (0/3 ready", "> ModelBox/sentiment", "look      kubectl logs sentiment-",
	} {
		require.Contains(t, text, part)
	}
	for _, name := range []string{"modelboxes/sentiment", "mb/sentiment", "ModelBox.model.github.com/sentiment"} {
		_, same, _ := operetta(t, "", "why", name, "-n", "default", "-f", broken)
		require.Equal(t, text, same)
	}
	dump, err := os.ReadFile(broken)
	require.NoError(t, err)
	_, same, _ := operetta(t, string(dump), "why", "modelbox/sentiment")
	require.Equal(t, text, same)

	_, all, _ := operetta(t, "", "why", "--all", "--details", "-f", broken)
	require.Equal(t, "1 of 1 custom resource is not Ready: 1 stuck, 0 in progress\n\n"+text, all)

	ready := dumpOf(t, sample)
	code, text, _ = operetta(t, "", "why", "modelbox/sentiment", "-f", ready)
	require.Equal(t, 0, code)
	require.Equal(t, "ModelBox/sentiment in default: Ready, nothing holds it, for 0s\n", text)
	_, text, _ = operetta(t, "", "why", "--all", "-f", ready)
	require.Equal(t, "1 custom resource: it is Ready\n", text)
}

func TestWhyForms(t *testing.T) {
	broken := dumpOf(t, "../../../deploy/samples/dataservice.yaml", "--fail=Deployment/eureka")
	_, text, _ := operetta(t, "", "why", "dataservice/dataservice-sample", "-f", broken, "-o", "json")
	var answer struct {
		Ready   string
		Because []struct{ Reason, Look string }
		Waits   []string
	}
	require.NoError(t, json.Unmarshal([]byte(text), &answer))
	require.Equal(t, "False", answer.Ready)
	require.Equal(t, "CrashLoopBackOff", answer.Because[0].Reason)
	require.Len(t, answer.Waits, 9)

	_, text, _ = operetta(t, "", "why", "dataservice/dataservice-sample", "-f", broken, "--tree")
	require.Regexp(t, `(?m)^KIND +NAMESPACE +NAME +STATE$`, text)
	require.Regexp(t, `(?m)^  Deployment.apps +default +eureka +0/1 ready, ProgressDeadlineExceeded$`, text)
	require.Regexp(t, `(?m)^      Pod +default +eureka-\S+ +! eureka is waiting: CrashLoopBackOff`, text)

	_, text, _ = operetta(t, "", "why", "dataservice/dataservice-sample", "-f", broken, "-o", "dot")
	require.True(t, strings.HasPrefix(text, "digraph operetta {\n"))
	require.Regexp(t, `"Deployment.apps default eureka" -> "ReplicaSet.apps default eureka-\w+";`, text)
}

func TestWhyFromARecording(t *testing.T) {
	dir := t.TempDir()
	_, _, _ = operetta(t, "", "simulate", sample, "--fail=Deployment/sentiment", "--record", dir)
	code, text, stderr := operetta(t, "", "why", "modelbox/sentiment", "-f", dir)
	require.Equal(t, 0, code, stderr)
	require.Contains(t, text, "CrashLoopBackOff, after it ended: Error, exit code 1")
	require.Contains(t, text, "(not seen) > Deployment/sentiment (0/3 ready")
	require.Contains(t, text, "not seen  Event, ReplicaSet")
}

// TestWhyWatches answers again when the file is written again, and only then.
func TestWhyWatches(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dump.json")
	copyTo := func(from string) {
		text, err := os.ReadFile(from)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path+".new", text, 0o600))
		require.NoError(t, os.Rename(path+".new", path))
	}
	copyTo(dumpOf(t, sample, "--fail=Deployment/sentiment"))
	ready := dumpOf(t, sample)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	out := writerFunc(func(text string) {
		switch {
		case strings.Contains(text, "CrashLoopBackOff"):
			copyTo(ready)
		case strings.Contains(text, "nothing holds it"):
			cancel()
		}
	})
	code := Run(ctx, "operetta", ours(), []string{"why", "modelbox/sentiment", "-f", path, "--watch"}, cli.Streams{In: strings.NewReader(""), Out: out, Err: out})
	require.Equal(t, 0, code)
	require.ErrorIs(t, ctx.Err(), context.Canceled)
}

type writerFunc func(string)

func (f writerFunc) Write(text []byte) (int, error) {
	f(string(text))
	return len(text), nil
}

func TestWhyMistakes(t *testing.T) {
	two := write(t, "two.json", `{"kind":"List","apiVersion":"v1","items":[
		{"apiVersion":"apps.jicki.cn/v1alpha1","kind":"PodSet","metadata":{"name":"a","namespace":"x","uid":"1","generation":1},"spec":{"size":1}},
		{"apiVersion":"apps.jicki.cn/v1alpha1","kind":"PodSet","metadata":{"name":"a","namespace":"y","uid":"2","generation":1},"spec":{"size":1}}]}`)
	pods := write(t, "pods.json", `{"kind":"List","apiVersion":"v1","items":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}]}`)
	var kinds []string
	for _, controller := range hooks.All() {
		kinds = append(kinds, controller.Name())
	}
	for line, test := range map[string]struct {
		args []string
		code int
	}{
		"why takes one KIND/NAME, as in modelbox/sentiment, or --all":                     {nil, 2},
		`"sentiment" names no custom resource: write KIND/NAME, as in modelbox/sentiment`: {[]string{"sentiment"}, 2},
		"--all takes no name":                                                                                                             {[]string{"--all", "podset/a"}, 2},
		"--watch needs a file: write -f FILE":                                                                                             {[]string{"--all", "--watch"}, 2},
		`--output "yaml" is not supported: use text, json or dot`:                                                                         {[]string{"--all", "-o", "yaml"}, 2},
		`--now "noon" is no time like 2026-01-02T15:04:05Z`:                                                                               {[]string{"--all", "-f", two, "--now", "noon"}, 2},
		`there is no operator for the kind "box": it is one of ` + strings.Join(kinds, ", "):                                              {[]string{"box/a"}, 2},
		"there is no PodSet/b, as " + two + " has it: of kind PodSet there is x/a, y/a":                                                   {[]string{"podset/b", "-f", two}, 1},
		"there is no MyJob/b, as " + two + " has it, and no other MyJob":                                                                  {[]string{"myjob/b", "-f", two}, 1},
		"there is no PodSet/a in the namespace z, as " + two + " has it: it is in x, y":                                                   {[]string{"podset/a", "-f", two, "-n", "z"}, 1},
		"there is no PodSet/a in the namespace z, and no other PodSet":                                                                    {[]string{"podset/a", "-n", "z", "--seen", "all"}, 1},
		"--now written needs a file: write -f FILE":                                                                                       {[]string{"--all", "--now", "written"}, 2},
		"PodSet/a is in the namespaces x, y: write --namespace":                                                                           {[]string{"podset/a", "-f", two}, 1},
		pods + " has no custom resource of a kind that operetta knows: write kubectl get -A -o json $(operetta why --kinds)":              {[]string{"--all", "-f", pods}, 1},
		"open nowhere.json: no such file or directory":                                                                                    {[]string{"--all", "-f", "nowhere.json"}, 1},
		"standard input has no object: write kubectl get KINDS -A -o json, with the kinds of your custom resources and of their children": {[]string{"--all"}, 1},
	} {
		code, stdout, stderr := operetta(t, "", append([]string{"why"}, test.args...)...)
		require.Equal(t, test.code, code, line)
		if test.code == 2 {
			line += " (see operetta why --help)"
		}
		require.Equal(t, "operetta: "+line+"\n", stderr)
		require.Empty(t, stdout)
	}
	_, text, _ := operetta(t, "", "why", "--all", "-f", "../../../deploy/samples/podset.yaml")
	require.Contains(t, text, "PodSet/cache: NotRead: it has no metadata.uid")
	// Without its children in the dump, nothing is said about them.
	_, text, _ = operetta(t, "", "why", "podset/a", "-n", "x", "-f", two)
	require.Contains(t, text, "because   PodSet/a: NotSynced: no operator has synced it yet")
	require.Contains(t, text, "not seen  Event, Pod")
}
