//go:build unix

package commands

import (
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// project is a copy of this project in which commands run.
type project struct {
	*testing.T

	dir, home string
	server    *Server
}

// TestOffline runs the commands that need no cluster as they are written, page by page.
func TestOffline(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a program in another folder: make cover")
	}
	planned := Of(plan(t), Offline)
	p := newProject(t)
	shell, err := StartShell(p.dir, []string{
		"HOME=" + p.home, "PATH=" + filepath.Join(p.home, "bin") + ":" + os.Getenv("PATH"), "TMPDIR=" + p.home,
		"GOCACHE=" + goEnv(t, "GOCACHE"), "GOMODCACHE=" + goEnv(t, "GOMODCACHE"), "GOPROXY=off", "GOFLAGS=-buildvcs=false -trimpath",
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, shell.Close()) })
	count := 0
	player := &Player{Shell: shell, Timeout: 20 * time.Minute, Server: p.server, Log: func(c Planned, _ string, took time.Duration) {
		count++
		t.Logf("%5.1fs  %s: %s", took.Seconds(), c.At(), c.Short())
	}}
	steps := p.steps()
	for len(planned) > 0 {
		file := planned[0].File
		n := slices.IndexFunc(planned, func(c Planned) bool { return c.File != file })
		if n < 0 {
			n = len(planned)
		}
		assert.NoError(t, player.Play(planned[:n], steps[file]))
		delete(steps, file)
		planned = planned[n:]
	}
	require.Empty(t, steps, "steps of pages without commands")
	t.Logf("%d commands were run", count)
}

// newProject copies the project.
func newProject(t *testing.T) *project {
	t.Helper()
	p := &project{T: t, dir: filepath.Join(t.TempDir(), "operetta"), home: t.TempDir()}
	var err error
	p.server, err = NewServer(p.home)
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(p.dir, 0o700))
	for _, name := range []string{"cmd", "deploy", "examples", "hooks", "internal", "metacontroller", "operator", "operettatest", "serve", "simulation", "testdata"} {
		require.NoError(t, os.CopyFS(filepath.Join(p.dir, name), os.DirFS(filepath.Join("../../..", name))))
	}
	for _, pattern := range []string{"*.go", "go.*", "Makefile"} {
		names, err := fs.Glob(os.DirFS("../../.."), pattern)
		require.NoError(t, err)
		for _, name := range names {
			text, err := os.ReadFile(filepath.Join("../../..", name))
			require.NoError(t, err)
			p.write(name, string(text))
		}
	}
	require.NoError(t, os.Mkdir(filepath.Join(p.home, "bin"), 0o700))
	// curl finds the server where it listens.
	curlrc := fmt.Sprintf("connect-to = \"localhost:8080:%s\"\n", p.server.Hooks)
	require.NoError(t, os.WriteFile(filepath.Join(p.home, ".curlrc"), []byte(curlrc), 0o600))
	return p
}

// steps are what the pages leave to their readers.
func (p *project) steps() map[string][]Step {
	sample := p.read("deploy/samples/modelbox.yaml")
	edited := strings.Replace(sample, "replicas: 3", "replicas: 2", 1)
	require.NotEqual(p, sample, edited)
	ask := func(string) error {
		for _, kind := range []string{"modelbox", "podset"} {
			if err := p.post(kind); err != nil {
				return err
			}
		}
		return nil
	}
	return map[string][]Step{
		"README.md": {
			{After: "make build", Do: func(string) error {
				return p.server.Wrap(filepath.Join(p.dir, "bin/operetta"), filepath.Join(p.home, "bin/operetta"))
			}},
		},
		"docs/diff.md": {
			{Before: "operetta diff dump.json", Do: func(string) error {
				p.write("box-v2.yaml", strings.Replace(sample, "nginx:1.27", "nginx:1.28", 1))
				return p.dump("deploy/samples/modelbox.yaml")
			}},
		},
		"docs/cli.md": {
			{Before: "operetta render box.yaml", Do: func(string) error {
				p.write("box.yaml", sample)
				p.write("box-v2.yaml", edited)
				p.write("cache.yaml", brokenPodSet)
				return nil
			}},
			{Before: "operetta explore deploy/samples/podset.yaml --schedule", Do: func(string) error { p.write("found.txt", "calm 60\n"); return nil }},
			{Before: "operetta serve --record", Do: func(string) error { return os.RemoveAll(filepath.Join(p.dir, "recordings")) }},
			{After: "operetta serve --record", Do: ask},
			{Before: "operetta replay", Do: func(string) error { return p.forget("restartPolicy") }},
			{After: "operetta replay", Do: p.requireOneChange},
			{After: "operetta replay", Do: p.requireOneChange},
		},
	}
}

// dump writes a cluster with a converged sample, as kubectl prints it.
func (p *project) dump(sample string) error {
	output, err := exec.Command(filepath.Join(p.dir, "bin/operetta"), "simulate", filepath.Join(p.dir, sample), "-o", "json").Output()
	p.write("dump.json", string(output))
	return err
}

// brokenPodSet is what docs/cli.md refuses.
const brokenPodSet = `apiVersion: apps.jicki.cn/v1alpha1
kind: PodSet
metadata:
  name: cache
spec:
  size: 3
  sise: 3
  maxUnavailable: 200%
`

// post has the server answer the first request of the goldens of a kind.
func (p *project) post(kind string) error {
	bodies := map[string]string{
		"modelbox": `{"parent": {"apiVersion": "model.github.com/v1", "kind": "ModelBox", "metadata": {"name": "sentiment", "namespace": "default"},
			"spec": {"image": "nginx:1.27-alpine"}}, "children": {"Deployment.apps/v1": {}, "Service.v1": {}}, "related": {}, "finalizing": false}`,
		"podset": `{"parent": {"apiVersion": "apps.jicki.cn/v1alpha1", "kind": "PodSet", "metadata": {"name": "cache", "namespace": "default"},
			"spec": {"size": 1}}, "children": {"Pod.v1": {}}, "finalizing": false}`,
	}
	response, err := http.Post("http://"+p.server.Hooks+"/"+kind+"/sync", "application/json", strings.NewReader(bodies[kind]))
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the server answers %s to a %s", response.Status, kind)
	}
	return nil
}

// forget takes a field out of the recorded answers, as if the build that gave them had not
// had it.
func (p *project) forget(field string) error {
	found := 0
	err := filepath.WalkDir(filepath.Join(p.dir, "recordings/podset"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".out.yaml") {
			return err
		}
		var kept strings.Builder
		for line := range strings.Lines(p.read(strings.TrimPrefix(path, p.dir))) {
			if strings.Contains(line, field+":") {
				found++
				continue
			}
			kept.WriteString(line)
		}
		return os.WriteFile(path, []byte(kept.String()), 0o600)
	})
	if err == nil && found != 1 {
		err = fmt.Errorf("%d recorded answers have %s", found, field)
	}
	return err
}

func (p *project) requireOneChange(printed string) error {
	for _, part := range []string{"podset/sync\n", "1x Pod.spec.restartPolicy: (none) -> Always  (cache-g0-", "2 cases, 1 with another answer\n", "operetta: 1 of 2 cases have another answer\n"} {
		if !strings.Contains(printed, part) {
			return fmt.Errorf("there is no %q in\n%s", part, printed)
		}
	}
	return nil
}

func (p *project) read(name string) string {
	p.Helper()
	text, err := os.ReadFile(filepath.Join(p.dir, name))
	require.NoError(p, err)
	return string(text)
}

func (p *project) write(name, text string) {
	p.Helper()
	require.NoError(p, os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600))
}

// goEnv asks go for a setting, which a new home would change.
func goEnv(t *testing.T, name string) string {
	t.Helper()
	value, err := exec.Command("go", "env", name).Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(value))
}
