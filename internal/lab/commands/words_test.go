package commands

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/hooks"
)

// broken is what nobody means to print: a path that is nil, an escaped line feed, a verb twice, one of many.
var broken = regexp.MustCompile(`<nil>|%!|\\u000a|\bby (deleted|applied|created)\b|(^|[^f] |[^ .0-9@-])1 (cases|objects|children|schedules|findings|differences|documents|resources|custom resources|Pods|steps)\b`)

// TestNoMessageIsBroken: what is refused of every kind, whatever the goldens print, and what happens in a simulation.
func TestNoMessageIsBroken(t *testing.T) {
	whole := func(where, text string) {
		t.Helper()
		require.Empty(t, broken.FindAllString(text, -1), where)
	}
	for _, controller := range hooks.All() {
		text, err := os.ReadFile("../../../hooks/" + controller.Name() + "/testdata/rules.yaml")
		require.NoError(t, err)
		var rules map[string]struct{ Bad, Before string }
		require.NoError(t, yaml.Unmarshal(text, &rules))
		for name, rule := range rules {
			head := "apiVersion: " + controller.Parent.APIVersion + "\nkind: " + controller.Parent.Kind + "\nmetadata: {name: a}\n"
			_, _, stderr := operetta(t, head+"spec: "+rule.Bad, "render", "-")
			whole(controller.Name()+": "+name, stderr)
		}
		for name, spec := range map[string]string{"no spec": "", "a text": "spec: text", "a list": "spec: []", "null": "spec: null", "an unknown field": "spec: {a: {b: 1}}"} {
			for _, command := range []string{"render", "simulate"} {
				_, _, stderr := operetta(t, "apiVersion: "+controller.Parent.APIVersion+"\nkind: "+controller.Parent.Kind+"\nmetadata: {name: a}\n"+spec, command, "-")
				whole(controller.Name()+": "+name, stderr)
			}
		}
	}
	for _, pattern := range []string{"testdata/*/*.out.txt", "../../../docs/*.md"} {
		paths, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, paths)
		for _, path := range paths {
			if filepath.Base(path) != "performance.md" { // it has tables of numbers
				whole(path, readFile(t, path))
			}
		}
	}
	folder := t.TempDir()
	_, stdout, _ := operetta(t, "", "simulate", "../../../deploy/samples/build.yaml", "--vanish", "Job/hello-05b7f44d67", "-o", "json", "--record", folder)
	var dump struct {
		Run struct {
			Steps []struct{ Events []struct{ Verb, By string } }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &dump))
	require.NotEmpty(t, dump.Run.Steps)
	for _, step := range dump.Run.Steps {
		for _, event := range step.Events {
			whole("a simulation", event.Verb+" by "+event.By)
		}
	}
	require.NoError(t, os.RemoveAll(folder+"/build/customize"))
	cases, err := filepath.Glob(folder + "/build/sync/*")
	require.NoError(t, err)
	for _, path := range cases[2:] {
		require.NoError(t, os.Remove(path))
	}
	_, stdout, _ = operetta(t, "", "replay", folder)
	require.Contains(t, stdout, "1 case, ")
}
