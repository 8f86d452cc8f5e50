package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

// copied returns a folder with the cases of one hook.
func copied(t *testing.T, hook string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(hook)), 0o755))
	require.NoError(t, os.CopyFS(filepath.Join(dir, hook), os.DirFS(filepath.Join("../../../testdata", hook))))
	return dir
}

func TestReplayOfTheGoldensChangesNothing(t *testing.T) {
	code, out, _ := operetta(t, "", "replay", "../../../testdata")
	require.Zero(t, code)
	require.Regexp(t, `^[0-9]+ cases, 0 with another answer\n$`, out)
}

func TestReplayGroupsWhatChanges(t *testing.T) {
	dir := copied(t, "myjob/sync")
	edited := 0
	paths, err := filepath.Glob(filepath.Join(dir, "myjob/sync/*.out.yaml"))
	require.NoError(t, err)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		another := strings.ReplaceAll(string(text), "restartPolicy: Never", "restartPolicy: OnFailure")
		if another != string(text) {
			edited++
			require.NoError(t, os.WriteFile(path, []byte(another), 0o600))
		}
	}
	require.Greater(t, edited, 1)
	code, out, errOut := operetta(t, "", "replay", dir)
	require.Equal(t, 3, code)
	require.Contains(t, out, "myjob/sync\n")
	require.Regexp(t, `(?m)^ +[0-9]+x Pod\.spec\.restartPolicy: OnFailure -> Never  \([a-z-]+\)$`, out)
	require.Equal(t, 1, strings.Count(out, "restartPolicy"), "one change is told once")
	require.Regexp(t, `[0-9]+ of [0-9]+ cases have another answer`, errOut)

	code, alike, _ := operetta(t, "", "diff", dir)
	require.Equal(t, 3, code)
	require.Equal(t, out, alike)

	code, json, _ := operetta(t, "", "replay", dir, "-o", "json")
	require.Equal(t, 3, code)
	require.Contains(t, json, `"what": "Pod.spec.restartPolicy: OnFailure -\u003e Never"`)
}

func TestReplayTellsChildrenAndErrors(t *testing.T) {
	dir := copied(t, "modelbox/sync")
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "modelbox/sync", name+".out.yaml"), []byte(text), 0o600))
	}
	write("missing-image-is-an-error", "children: []\nstatus: {}\n")
	write("no-replicas-is-ready", "children:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: x}}\nstatus: {}\n")
	code, out, _ := operetta(t, "", "replay", dir)
	require.Equal(t, 3, code)
	require.Contains(t, out, `error: (none) -> "the API server would refuse this ModelBox: spec.image: is`)
	require.Contains(t, out, "ConfigMap goes")
	require.Contains(t, out, "Deployment comes")
}

func TestReplayOfNothingIsAnError(t *testing.T) {
	code, _, errOut := operetta(t, "", "replay", t.TempDir())
	require.Equal(t, 1, code)
	require.Contains(t, errOut, "operetta serve --record writes them")
	code, _, _ = operetta(t, "", "replay")
	require.Equal(t, 2, code)
}

// TestReplayOfAHostileFolder: whoever writes recordings into a folder does not control the
// terminal of who replays them. The folder may have any name.
func TestReplayOfAHostileFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "recordings [1")
	require.NoError(t, os.Rename(copied(t, "modelbox/sync"), dir))
	hooks := filepath.Join(dir, "modelbox/sync")
	require.NoError(t, os.WriteFile(filepath.Join(hooks, "no-replicas-is-ready.out.yaml"),
		[]byte(`{children: [{apiVersion: v1, kind: "A\e[2J", metadata: {name: x, "\u202e\e]0;": "\x9b"}}], status: {"\e[2J": 1}}`), 0o600))
	for _, end := range []string{".in.yaml", ".out.yaml"} {
		require.NoError(t, os.Rename(filepath.Join(hooks, "no-replicas-is-ready"+end), filepath.Join(hooks, "\x1b[2J"+end)))
	}
	code, out, errOut := operetta(t, "", "replay", dir)
	require.Equal(t, 3, code, errOut)
	require.Contains(t, out, `A\u001b[2J goes  (\u001b[2J)`)
	require.Negative(t, strings.IndexFunc(out, func(r rune) bool { return !unicode.IsPrint(r) && r != '\n' }), "%q", out)
}
