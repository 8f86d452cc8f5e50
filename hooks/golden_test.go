package hooks_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/internal/corpus"
)

var update = flag.Bool("update", false, "rewrite the expected outputs below testdata")

// TestGolden compares the answer to every case with the file beside it.
func TestGolden(t *testing.T) {
	for _, e := range cases(t) {
		t.Run(e.name, func(t *testing.T) {
			path := filepath.Join(corpusDir, filepath.FromSlash(e.name)+".out.yaml")
			got := printed(t, e)
			if *update {
				require.NoError(t, os.WriteFile(path, got, 0o644))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err, "run `make golden`, and read what it writes")
			require.Equal(t, string(want), string(got), "run `make golden` if this is meant, and read the diff")
		})
	}
}

// printed returns the answer as YAML, or the error in its stead.
func printed(t testing.TB, e exchange) []byte {
	text, err := corpus.Case{Name: e.name, Controller: e.controller, Hook: e.hook, Now: e.now, Request: e.request}.Print()
	require.NoError(t, err)
	return text
}

// TestGoldenFilesArePairs fails on an output without its input, on a file that
// is neither, on an operator without a folder and on a hook without a case.
func TestGoldenFilesArePairs(t *testing.T) {
	inputs := map[string]bool{}
	for _, e := range cases(t) {
		inputs[e.name] = true
	}
	require.NoError(t, filepath.WalkDir(corpusDir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		relative, err := filepath.Rel(corpusDir, path)
		name := filepath.ToSlash(relative)
		if kind, _, _ := strings.Cut(name, "/"); !selected(kind) {
			return err
		}
		name = strings.TrimSuffix(strings.TrimSuffix(name, ".in.yaml"), ".out.yaml")
		require.True(t, inputs[name], "%s belongs to no case", path)
		return err
	}))
	for _, controller := range hooks.All() {
		if !selected(controller.Name()) {
			continue
		}
		for _, hook := range controller.Hooks() {
			prefix := controller.Name() + "/" + string(hook) + "/"
			found := false
			for name := range inputs {
				found = found || strings.HasPrefix(name, prefix)
			}
			require.True(t, found, "no case below testdata/%s", prefix)
		}
	}
}

// TestCasesTellTheirReason wants the first line of every case to be a comment
// that says why it is there.
func TestCasesTellTheirReason(t *testing.T) {
	for _, e := range cases(t) {
		text, err := os.ReadFile(filepath.Join(corpusDir, filepath.FromSlash(e.name)+".in.yaml"))
		require.NoError(t, err)
		require.True(t, bytes.HasPrefix(text, []byte("# ")), "%s.in.yaml does not begin with a comment", e.name)
	}
}
