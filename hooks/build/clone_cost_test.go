package build

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// smartServer serves a folder of repositories by Git's own protocol, and counts what it sends.
func smartServer(t *testing.T, folder string) (address string, sent *atomic.Int64) {
	t.Helper()
	sent = new(atomic.Int64)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler := &cgi.Handler{
			Path: filepath.Join(git(t, ".", "--exec-path"), "git-http-backend"),
			Env:  []string{"GIT_PROJECT_ROOT=" + folder, "GIT_HTTP_EXPORT_ALL=1", "GIT_PROTOCOL=" + r.Header.Get("Git-Protocol")},
		}
		handler.ServeHTTP(&countingWriter{w, sent}, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, sent
}

type countingWriter struct {
	http.ResponseWriter
	sent *atomic.Int64
}

func (w *countingWriter) Write(text []byte) (int, error) {
	w.sent.Add(int64(len(text)))
	return w.ResponseWriter.Write(text)
}

// bigRepository has five commits more, with a file of one megabyte each, none of which looks like another.
func bigRepository(t *testing.T) (path, behind string) {
	t.Helper()
	path, _ = repository(t)
	work := filepath.Join(filepath.Dir(path), "work")
	for range 5 {
		content := make([]byte, 1<<20)
		_, err := rand.Read(content)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(work, "big"), content, 0o644))
		git(t, work, "add", ".")
		git(t, work, "commit", "--quiet", "-m", "big")
	}
	git(t, work, "push", "--quiet", path, "main")
	return path, git(t, work, "rev-parse", "HEAD~2")
}

// TestRevisionThatIsMissingCostsNoMoreThanOneThatIsThere counts what a server sends, with and without version 2
// of the protocol, and with and without leave to filter.
func TestRevisionThatIsMissingCostsNoMoreThanOneThatIsThere(t *testing.T) {
	if testing.Short() {
		t.Skip("it clones 17 times: make cover")
	}
	path, behind := bigRepository(t)
	address, sent := smartServer(t, filepath.Dir(path))
	one, all := int64(1<<20+1<<17), int64(5<<20) // a commit with its file, and everything
	missing := strings.Repeat("0123456789", 4)
	for _, test := range []struct {
		name, revision  string
		version, filter string
		isThere         bool
		most            int64
	}{
		{"branch", "main", "2", "false", true, one},
		{"no branch", "nope", "2", "false", false, 1 << 14},
		{"no branch", "nope", "0", "false", false, 1 << 14},
		{"no branch of a hexadecimal name", "cafe", "2", "true", false, 1 << 14},
		{"no branch of a hexadecimal name", "cafe", "0", "true", false, 1 << 14},
		{"no commit", missing, "2", "true", false, 1 << 14},
		{"no commit", missing, "2", "false", false, 1 << 14},
		{"no commit", missing, "0", "true", false, 1 << 14},
		{"digits of no commit", missing[:9], "2", "true", false, 1 << 14},
		{"digits of no commit", missing[:9], "0", "true", false, 1 << 14},
		{"a commit", behind, "2", "false", true, one},
		{"digits of a commit", behind[:9], "2", "true", true, one},
		{"digits of a commit, without that filter", behind[:9], "2", "true\ttree", true, all + 2*one},
		// What the server neither filters nor hands out by its name is looked for in everything.
		{"a commit", behind, "0", "false", true, all + one},
		{"a commit", behind, "0", "true", true, all + one},
		{"digits of a commit", behind[:9], "2", "false", true, all + one},
		{"digits of no commit", missing[:9], "0", "false", false, all + one},
	} {
		allowed, refused, _ := strings.Cut(test.filter, "\t")
		git(t, path, "config", "uploadpack.allowFilter", allowed)
		git(t, path, "config", "uploadpackfilter.tree.allow", strconv.FormatBool(refused == ""))
		pod, before := newClonePod(t), sent.Load()
		output, err := pod.clone(address+"/code.git", test.revision, "",
			"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=protocol.version", "GIT_CONFIG_VALUE_0="+test.version)
		cost := sent.Load() - before
		require.Equal(t, test.isThere, err == nil, "%+v: %s", test, output)
		require.LessOrEqual(t, cost, test.most, "%+v", test)
		t.Logf("%s, version %s, filter %s: %d bytes", test.name, test.version, test.filter, cost)
		if test.isThere {
			require.Equal(t, "1", git(t, pod.workspace, "rev-list", "--count", "HEAD"))
			continue
		}
		require.Contains(t, output, "there is no branch, tag or commit "+test.revision+" in "+address+"/code.git\n")
	}
}

// fewInShort returns one revision in the fast inner loop, because a clone takes half a second.
func fewInShort(revisions ...string) []string {
	if testing.Short() {
		return revisions[:1]
	}
	return revisions
}

// plainServer serves the files of a folder, and knows nothing of Git.
func plainServer(t *testing.T, path string) string {
	t.Helper()
	git(t, path, "update-server-info")
	server := httptest.NewServer(http.FileServer(http.Dir(filepath.Dir(path))))
	t.Cleanup(server.Close)
	return server.URL + "/" + filepath.Base(path)
}

// TestCloneFromAServerOfFiles has the same history and tags as from one of Git, which a server of files cannot cut.
func TestCloneFromAServerOfFiles(t *testing.T) {
	path, commits := repository(t)
	git(t, path, "update-ref", "refs/pull/1/head", "main")
	address := plainServer(t, path)
	for _, revision := range fewInShort("main", "refs/pull/1/head", commits["second"], commits["second"][:9]) {
		for _, test := range []struct{ depth, tags, commits, refs string }{
			{"1", "", "1", ""}, {"1", "true", "1", "refs/tags/v1"}, {"0", "true", "2", "refs/tags/v1"},
		} {
			pod := newClonePod(t)
			output, err := pod.clone(address, revision, "", "CLONE_DEPTH="+test.depth, "CLONE_TAGS="+test.tags)
			require.NoError(t, err, "%s %+v: %s", revision, test, output)
			require.Equal(t, commits["second"], git(t, pod.workspace, "rev-parse", "HEAD"))
			require.Equal(t, test.commits, git(t, pod.workspace, "rev-list", "--count", "HEAD"), "%s %+v", revision, test)
			require.Equal(t, test.refs, git(t, pod.workspace, "for-each-ref", "--format=%(refname)"), "%s %+v", revision, test)
			left, err := os.ReadDir(pod.home)
			require.NoError(t, err)
			for _, file := range left {
				require.False(t, file.IsDir(), "the whole is left: %s", file.Name())
			}
		}
	}
	for _, revision := range []string{"nope", "cafe", strings.Repeat("0123456789", 4)} {
		output, err := newClonePod(t).clone(address, revision, "")
		require.Error(t, err)
		require.Contains(t, output, "there is no branch, tag or commit "+revision+" in "+address+"\n")
	}
}

// TestCloneOfSHA256 has objects of the format of the repository.
func TestCloneOfSHA256(t *testing.T) {
	path, _ := repository(t)
	folder := filepath.Dir(path)
	work := filepath.Join(folder, "sha256")
	git(t, folder, "init", "--quiet", "--initial-branch=main", "--object-format=sha256", work)
	commits := map[string]string{}
	for _, name := range []string{"first", "second"} {
		git(t, work, "commit", "--quiet", "--allow-empty", "-m", name)
		git(t, work, "tag", "-a", "-m", name, name)
		commits[name] = git(t, work, "rev-parse", "HEAD")
	}
	bare := work + ".git"
	git(t, folder, "clone", "--quiet", "--bare", work, bare)
	smart, _ := smartServer(t, folder)
	for _, test := range []struct{ address, version string }{
		{smart + "/sha256.git", "0"}, {smart + "/sha256.git", "2"}, {plainServer(t, bare), "2"},
	} {
		env := []string{"CLONE_TAGS=true", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=protocol.version", "GIT_CONFIG_VALUE_0=" + test.version}
		for _, revision := range fewInShort("main", "second", commits["second"], commits["second"][:9]) {
			pod := newClonePod(t)
			output, err := pod.clone(test.address, revision, "", env...)
			require.NoError(t, err, "%s %+v: %s", revision, test, output)
			require.Equal(t, commits["second"], git(t, pod.workspace, "rev-parse", "HEAD"))
			require.Equal(t, "first\nsecond", git(t, pod.workspace, "tag"))
			message, err := os.ReadFile(pod.terminationLog)
			require.NoError(t, err)
			require.Equal(t, commits["second"]+"\n", string(message))
		}
		for _, revision := range fewInShort("nope", strings.Repeat("01234567", 8), strings.Repeat("01234567", 5)) {
			output, err := newClonePod(t).clone(test.address, revision, "", env...)
			require.Error(t, err)
			require.Contains(t, output, "there is no branch, tag or commit "+revision+" in "+test.address+"\n")
		}
	}
}

// TestDigitsOfSeveralCommitsAreTooFew of a history that is long enough for that.
func TestDigitsOfSeveralCommitsAreTooFew(t *testing.T) {
	path, _ := repository(t)
	work := filepath.Join(filepath.Dir(path), "work")
	history := "reset refs/heads/long\n"
	for i := range 2000 {
		history += fmt.Sprintf("commit refs/heads/long\ncommitter a <a@example.com> %d +0000\ndata 0\n", i)
	}
	load := exec.Command("git", "fast-import", "--quiet")
	load.Dir, load.Stdin = work, strings.NewReader(history)
	output, err := load.CombinedOutput()
	require.NoError(t, err, string(output))
	git(t, work, "push", "--quiet", path, "long")
	seen, twice := map[string]bool{}, ""
	for commit := range strings.Lines(git(t, work, "rev-list", "long")) {
		if digits := commit[:4]; seen[digits] {
			twice = digits
		}
		seen[commit[:4]] = true
	}
	text, err := newClonePod(t).clone("file://"+path, twice, "")
	require.Error(t, err)
	require.Contains(t, text, "several commits begin with "+twice+" in file://"+path+": write more of its digits")
}
