package main

import (
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// TestDigestsAreWrittenWhereImagesAreListed, and none before all are known.
func TestDigestsAreWrittenWhereImagesAreListed(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	host, root := strings.TrimPrefix(server.URL, "http://"), t.TempDir()
	upload := func(version string) string {
		tag, err := name.NewTag(host + version)
		require.NoError(t, err)
		index, err := random.Index(64, 1, 2)
		require.NoError(t, err)
		require.NoError(t, remote.WriteIndex(tag, index))
		digest, err := index.Digest()
		require.NoError(t, err)
		return host + version + "@" + digest.String()
	}
	path := func(name string) string { return filepath.Join(root, "deploy", name) }
	files := map[string]string{
		"images/images.yaml":              "# Why.\nmetacontroller: META\n\npodset-default: BOX\nother: BOX.0\n",
		"metacontroller/statefulset.yaml": "containers:\n- name: metacontroller\n  image: META\n  args: [BOX]\n",
		"components/a/certgen.yaml":       "- image: BOX\n",
		"samples/podset.yaml":             "image: BOX\n",
	}
	plain := strings.NewReplacer("META", host+"/meta:v4", "BOX", host+"/box:1.37")
	for name, text := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(path(name)), 0o755))
		require.NoError(t, os.WriteFile(path(name), []byte(plain.Replace(text)), 0o600))
	}
	requireFiles := func(replacer *strings.Replacer) {
		t.Helper()
		for name, text := range files {
			want := replacer.Replace(text)
			if strings.HasPrefix(name, "samples/") { // which are their users'
				want = plain.Replace(text)
			}
			content, err := os.ReadFile(path(name))
			require.NoError(t, err)
			require.Equal(t, want, string(content), name)
		}
	}
	meta, box := upload("/meta:v4"), upload("/box:1.37")
	require.ErrorContains(t, run(t.Context(), []string{"pin", "--root=" + root}), "nothing is changed: "+host+"/box:1.37.0: ")
	requireFiles(plain)
	other := upload("/box:1.37.0")
	for range 2 { // what a version means can change
		require.NoError(t, run(t.Context(), []string{"pin", "--root=" + root}))
		requireFiles(strings.NewReplacer("[BOX]", "["+host+"/box:1.37]", "META", meta, "BOX.0", other, "BOX", box))
		box = upload("/box:1.37")
	}
}

func TestNotesAreTheSectionOfAVersion(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "CHANGELOG.md"), []byte("# Changelog\n\n## Unreleased\n\n- [FEATURE] Sings: [it](docs/a.md#b), [there](https://example.com/x).\n\n## v0.1.0\n\n- Hums.\n"), 0o600))
	script, err := filepath.Abs("notes.sh")
	require.NoError(t, err)
	notes := func(args ...string) (string, error) {
		command := exec.Command(script, args...)
		command.Dir = folder
		output, err := command.CombinedOutput()
		return string(output), err
	}
	text, err := notes("v1.2.3")
	require.NoError(t, err)
	require.Equal(t, "# Operetta v1.2.3\n\n- [FEATURE] Sings: [it](https://github.com/operetta-dev/operetta/blob/v1.2.3/docs/a.md#b), [there](https://example.com/x).\n\n", text)
	text, err = notes("v0.1.0", "--tagged")
	require.NoError(t, err)
	require.Equal(t, "# Operetta v0.1.0\n\n- Hums.\n", text)
	text, err = notes("v1.2.3", "--tagged")
	require.Error(t, err)
	require.Contains(t, text, "the CHANGELOG has no section ## v1.2.3")
}

// TestWorkflowsRunWhatAPersonCanRun: their steps are targets of the Makefile or .ci/run, without
// arguments, for a value of an event would be run by the shell; and their actions have a full version.
func TestWorkflowsRunWhatAPersonCanRun(t *testing.T) {
	makefile, err := os.ReadFile("../Makefile")
	require.NoError(t, err)
	paths, err := filepath.Glob("../.github/workflows/*")
	require.NoError(t, err)
	require.Len(t, paths, 2)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		var workflow struct {
			Permissions map[string]string
			Jobs        map[string]struct{ Steps []struct{ Uses, Run string } }
		}
		require.NoError(t, yaml.Unmarshal(text, &workflow))
		require.Equal(t, map[string]string{"contents": "read"}, workflow.Permissions, "%s: more stands at the job", path)
		for _, job := range workflow.Jobs {
			for _, step := range job.Steps {
				if step.Uses != "" {
					require.Regexp(t, `^[a-z-]+/[a-z-]+@(v[0-9]+\.[0-9]+\.[0-9]+|[0-9a-f]{40})$`, step.Uses, path)
				} else if step.Run != ".ci/run" {
					require.Regexp(t, `^make [a-z-]+$`, step.Run, path)
					require.Regexp(t, regexp.MustCompile(`(?m)^`+strings.TrimPrefix(step.Run, "make ")+`:.*## `), string(makefile))
				}
			}
		}
	}
}
