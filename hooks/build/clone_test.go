package build

import (
	"encoding/pem"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// git runs Git in a folder, as nobody in particular.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	command := exec.Command("git", args...)
	command.Dir = dir
	command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	output, err := command.CombinedOutput()
	require.NoError(t, err, string(output))
	return strings.TrimSpace(string(output))
}

// repository makes one with two commits: the first is the tag v1 and has the
// folder sub, the second is the branch main, and the branch feature/x is beside
// it.
func repository(t *testing.T) (path string, commits map[string]string) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not on the PATH")
	}
	root := t.TempDir()
	work := filepath.Join(root, "work")
	git(t, root, "init", "--quiet", "--initial-branch=main", work)
	commits = map[string]string{}
	commit := func(name, file string) {
		path := filepath.Join(work, file)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(name), 0o644))
		git(t, work, "add", ".")
		git(t, work, "commit", "--quiet", "-m", name)
		commits[name] = git(t, work, "rev-parse", "HEAD")
	}
	commit("first", "sub/file")
	git(t, work, "tag", "-a", "-m", "v1", "v1")
	git(t, work, "checkout", "--quiet", "-b", "feature/x")
	commit("feature", "feature")
	git(t, work, "checkout", "--quiet", "main")
	commit("second", "other")
	git(t, work, "update-server-info")
	path = filepath.Join(root, "code.git")
	git(t, root, "clone", "--quiet", "--bare", work, path)
	return path, commits
}

// addSubmodule gives a repository the submodule "module", another one at a commit.
func addSubmodule(t *testing.T, outer, inner, commit string) {
	t.Helper()
	work := filepath.Join(filepath.Dir(outer), "work")
	git(t, work, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "file://"+inner, "module")
	git(t, work, "-C", "module", "checkout", "--quiet", commit)
	git(t, work, "add", "module")
	git(t, work, "commit", "--quiet", "-m", "module")
	git(t, work, "push", "--quiet", outer, "main")
}

// clonePod is what the Pod gives to the script.
type clonePod struct {
	workspace, home, credentials, terminationLog string
	applets                                      string // of BusyBox, where it is, as in the image
}

func newClonePod(t *testing.T) clonePod {
	root := t.TempDir()
	pod := clonePod{filepath.Join(root, "workspace"), filepath.Join(root, "home"), filepath.Join(root, "credentials"), filepath.Join(root, "log"), applets(t)}
	for _, dir := range []string{pod.workspace, pod.home, pod.credentials} {
		require.NoError(t, os.Mkdir(dir, 0o755))
	}
	return pod
}

// applets returns a folder with BusyBox's tools, or "" where it is not on the PATH.
func applets(t *testing.T) string {
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		return ""
	}
	folder := t.TempDir()
	for name := range strings.FieldsSeq("sh sed grep find cat cp mv rm mkdir chmod touch sleep head tail tr wc base64 basename dirname uname expr cut sort uniq") {
		require.NoError(t, os.Symlink(busybox, filepath.Join(folder, name)))
	}
	return folder
}

// clone runs the script, and returns what it prints.
func (p clonePod) clone(repository, revision, subPath string, env ...string) (string, error) {
	command := exec.Command("/bin/sh", "-c", cloneScript+prepareScript)
	path := os.Getenv("PATH")
	if p.applets != "" {
		command, path = exec.Command(filepath.Join(p.applets, "sh"), "-c", cloneScript+prepareScript), p.applets+":"+path
	}
	command.Env = append([]string{
		"PATH=" + path, "REPOSITORY=" + repository, "REVISION=" + revision, "SUB_PATH=" + subPath, "WORKSPACE=" + p.workspace,
		"CREDENTIALS=" + p.credentials, "HOME=" + p.home, "TERMINATION_LOG=" + p.terminationLog, "GIT_ALLOW_PROTOCOL=file:http", "GIT_CONFIG_SYSTEM=/dev/null",
	}, env...)
	output, err := command.CombinedOutput()
	return string(output), err
}

func TestCloneFetchesEveryKindOfRevision(t *testing.T) {
	path, commits := repository(t)
	for revision, commit := range map[string]string{
		"main": "second", "v1": "first", "feature/x": "feature", "refs/heads/main": "second",
		commits["first"]: "first", commits["second"][:8]: "second", commits["feature"][:10]: "feature",
	} {
		pod := newClonePod(t)
		output, err := pod.clone("file://"+path, revision, "")
		require.NoError(t, err, output)
		require.Equal(t, commits[commit], git(t, pod.workspace, "rev-parse", "HEAD"), revision)
		require.Contains(t, output, "building "+commits[commit]+" "+commit)
		message, err := os.ReadFile(pod.terminationLog)
		require.NoError(t, err)
		require.Equal(t, commits[commit]+"\n", string(message))
		head, err := os.ReadFile(filepath.Join(pod.workspace, ".git", "HEAD"))
		require.NoError(t, err)
		require.Equal(t, commits[commit]+"\n", string(head), "where the steps find it")
	}
}

// TestCloneHasOneRuleForHistoryAndTags spells each revision in several ways, and asks a server
// that hands out what has a name only.
func TestCloneHasOneRuleForHistoryAndTags(t *testing.T) {
	path, commits := repository(t)
	refuses := []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=protocol.version", "GIT_CONFIG_VALUE_0=0"}
	for _, revision := range fewInShort("main", "HEAD", "refs/heads/main", commits["second"], commits["second"][:9]) {
		for _, test := range []struct {
			env     []string
			commits string
			refs    string
		}{
			{nil, "1", ""},
			{refuses, "1", ""},
			{[]string{"CLONE_DEPTH=2"}, "2", ""},
			{append(refuses, "CLONE_DEPTH=0"), "2", ""},
			{[]string{"CLONE_DEPTH=0", "CLONE_TAGS=true"}, "2", "refs/tags/v1"},
			{append(refuses, "CLONE_TAGS=true"), "1", "refs/tags/v1"},
		} {
			pod := newClonePod(t)
			output, err := pod.clone("file://"+path, revision, "", test.env...)
			require.NoError(t, err, output)
			require.Equal(t, commits["second"], git(t, pod.workspace, "rev-parse", "HEAD"), revision)
			require.Equal(t, test.commits, git(t, pod.workspace, "rev-list", "--count", "HEAD"), "%s %s", revision, test.env)
			require.Equal(t, test.refs, git(t, pod.workspace, "for-each-ref", "--format=%(refname)"), "%s %s", revision, test.env)
		}
	}
	pod := newClonePod(t)
	_, err := pod.clone("file://"+path, "v1", "", "CLONE_TAGS=true")
	require.NoError(t, err)
	require.Equal(t, "v1", git(t, pod.workspace, "describe", "--tags"))
}

func TestCloneFetchesSubmodulesIfAsked(t *testing.T) {
	inner, commits := repository(t)
	outer, _ := repository(t)
	addSubmodule(t, outer, inner, commits["first"])
	pod := newClonePod(t)
	output, err := pod.clone("file://"+outer, "main", "")
	require.NoError(t, err, output)
	require.Contains(t, output, "submodules are left empty, because source.git.submodules is false")
	require.NoFileExists(t, filepath.Join(pod.workspace, "module", "sub", "file"))
	output, err = pod.clone("file://"+outer, "main", "", "CLONE_SUBMODULES=true")
	require.NoError(t, err, output)
	require.FileExists(t, filepath.Join(pod.workspace, "module", "sub", "file"))
	require.Equal(t, commits["first"], git(t, filepath.Join(pod.workspace, "module"), "rev-parse", "HEAD"))

	require.NoError(t, os.Rename(inner, inner+"x"))
	_, err = pod.clone("file://"+outer, "main", "", "CLONE_SUBMODULES=true")
	require.Error(t, err)
	message, err := os.ReadFile(pod.terminationLog)
	require.NoError(t, err)
	require.Equal(t, "a submodule cannot be fetched: fatal: '"+inner+"' does not appear to be a git repository\n", string(message))
}

// TestSubmoduleBehindATipIsFetched also from a server that hands out no commit but those of branches and tags, as
// those without protocol version 2 do: the first, shallow try leaves nothing in the way of the second.
func TestSubmoduleBehindATipIsFetched(t *testing.T) {
	inner, commits := repository(t)
	outer, _ := repository(t)
	newer := filepath.Join(filepath.Dir(inner), "work")
	require.NoError(t, os.WriteFile(filepath.Join(newer, "newer"), nil, 0o644))
	git(t, newer, "add", ".")
	git(t, newer, "commit", "--quiet", "-m", "newer")
	git(t, newer, "push", "--quiet", inner, "main")
	addSubmodule(t, outer, inner, commits["second"])
	pod := newClonePod(t)
	output, err := pod.clone("file://"+outer, "main", "", "CLONE_SUBMODULES=true",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=protocol.version", "GIT_CONFIG_VALUE_0=0")
	require.NoError(t, err, output)
	require.Equal(t, commits["second"], git(t, filepath.Join(pod.workspace, "module"), "rev-parse", "HEAD"))
}

// TestCloneQuotesGit where its sentence is known, and nothing that a server says.
func TestCloneQuotesGit(t *testing.T) {
	for said, quoted := range map[string]string{
		"remote: token=abc\nfatal: Authentication failed for 'https://h/r.git/'":               ": fatal: Authentication failed for 'https://h/r.git/'",
		"fatal: could not read Username for 'https://h': terminal prompts disabled":            ": fatal: could not read Username for 'https://h': terminal prompts disabled",
		"fatal: unable to access 'https://h/r/': Could not resolve host: h":                    ": fatal: unable to access 'https://h/r/': Could not resolve host: h",
		"Host key verification failed.\nfatal: Could not read from remote repository.":         ": Host key verification failed.",
		"git@h: Permission denied (publickey).\nfatal: Could not read from remote repository.": ": git@h: Permission denied (publickey).",
		"fatal: mismatched algorithms: client sha1; server sha256":                             ": fatal: mismatched algorithms: client sha1; server sha256",
		"fatal: remote error: token=abc":                                                       "",
		"fatal: remote error: access denied or repository not exported: token=abc":             ": fatal: remote error: access denied or repository not exported",
		"remote: token=abc\nremote: a@b: Permission denied (publickey).":                       "",
		"remote: token=abc Permission denied (publickey":                                       "",
		"ERROR: Repository not found. token=abc":                                               ": ERROR: Repository not found.",
	} {
		home := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(home, "errors"), []byte(said+"\n"), 0o644))
		_, rest, _ := strings.Cut(cloneScript, "why() {\n")
		body, _, _ := strings.Cut(rest, "\n}\n")
		command := exec.Command("/bin/sh", "-euc", "why() {\n"+body+"\n}\nprintf '%s' \"$(why)\"")
		command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}
		output, err := command.Output()
		require.NoError(t, err)
		require.Equal(t, quoted, string(output), said)
	}
}

func TestCloneAgainIntoWhatIsLeft(t *testing.T) {
	path, commits := repository(t)
	pod := newClonePod(t)
	require.NoError(t, os.WriteFile(filepath.Join(pod.workspace, "left"), nil, 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(pod.workspace, ".hidden"), nil, 0o644))
	for range 2 {
		output, err := pod.clone("file://"+path, "v1", "sub")
		require.NoError(t, err, output)
	}
	require.Equal(t, commits["first"], git(t, pod.workspace, "rev-parse", "HEAD"))
	require.Empty(t, git(t, pod.workspace, "status", "--porcelain"))
	info, err := os.Stat(filepath.Join(pod.workspace, "sub", "file"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o664), info.Mode().Perm(), "a builder that is another user of the group cannot write")
}

func TestCloneSaysWhatIsWrong(t *testing.T) {
	path, _ := repository(t)
	for _, test := range []struct{ repository, revision, subPath, message string }{
		{"file://" + path, "v2", "", "there is no branch, tag or commit v2 in file://" + path},
		{"file://" + path, "v1", "missing", "there is no folder missing in v1"},
		{"file://" + path + "x", "v1", "", "file://" + path + "x cannot be fetched: fatal: '" + path + "x' does not appear to be a git repository"},
		{"file://" + path, "$(touch /tmp/x);`id`", "", "there is no branch, tag or commit $(touch /tmp/x);`id` in file://" + path},
	} {
		pod := newClonePod(t)
		output, err := pod.clone(test.repository, test.revision, test.subPath)
		require.Error(t, err)
		require.Contains(t, output, test.message)
		message, err := os.ReadFile(pod.terminationLog)
		require.NoError(t, err)
		require.Equal(t, test.message+"\n", string(message))
	}
}

// TestCloneShowsItsCredentialsToOneHost serves the repository to those who know
// a password, and sees that the password is not on the command line, in the
// output or in what the builder finds.
func TestCloneShowsItsCredentialsToOneHost(t *testing.T) {
	path, commits := repository(t)
	handler := &cgi.Handler{
		Path: filepath.Join(git(t, ".", "--exec-path"), "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + filepath.Dir(path), "GIT_HTTP_EXPORT_ALL=1"},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "robot" || password != "let-me-in" {
			w.Header().Set("WWW-Authenticate", `Basic realm="code"`)
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	defer server.Close()
	asked := false
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = asked || r.Header.Get("Authorization") != ""
		w.Header().Set("WWW-Authenticate", `Basic realm="elsewhere"`)
		http.Error(w, "who are you?", http.StatusUnauthorized)
	}))
	defer elsewhere.Close()
	moved := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL+r.URL.RequestURI(), http.StatusMovedPermanently)
	}))
	defer moved.Close()

	pod := newClonePod(t)
	_, err := pod.clone(server.URL+"/code.git", "main", "")
	require.Error(t, err, "without credentials")

	require.NoError(t, os.WriteFile(filepath.Join(pod.credentials, "username"), []byte("robot"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(pod.credentials, "password"), []byte("let-me-in"), 0o600))
	output, err := pod.clone(server.URL+"/code.git", "main", "")
	require.NoError(t, err, output)
	require.Equal(t, commits["second"], git(t, pod.workspace, "rev-parse", "HEAD"))
	require.NotContains(t, output, "let-me-in")
	require.NoError(t, filepath.WalkDir(pod.workspace, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		require.NotContains(t, string(content), "let-me-in", path)
		return err
	}))

	require.NoError(t, os.Remove(filepath.Join(pod.credentials, "username")))
	_, err = pod.clone(strings.Replace(server.URL, "://", "://robot@", 1)+"/code.git", "main", "")
	require.NoError(t, err, "the user name is in the address")
	_, err = pod.clone(server.URL+"/code.git", "main", "")
	require.Error(t, err, "the user name is nowhere")
	require.NoError(t, os.WriteFile(filepath.Join(pod.credentials, "username"), []byte("robot"), 0o600))

	private := httptest.NewTLSServer(server.Config.Handler)
	defer private.Close()
	_, err = pod.clone(private.URL+"/code.git", "main", "", "GIT_ALLOW_PROTOCOL=https")
	require.Error(t, err, "nobody knows its certificate")
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: private.Certificate().Raw})
	require.NoError(t, os.WriteFile(filepath.Join(pod.credentials, "ca.crt"), authority, 0o600))
	output, err = pod.clone(private.URL+"/code.git", "main", "", "GIT_ALLOW_PROTOCOL=https")
	require.NoError(t, err, output)

	_, err = pod.clone(moved.URL+"/code.git", "main", "")
	require.Error(t, err)
	require.False(t, asked, "the password was shown to another host")
}

// TestScriptsAreWrittenAsTheyAre by the container that clones and, without a repository, by that which prepares.
func TestScriptsAreWrittenAsTheyAre(t *testing.T) {
	path, _ := repository(t)
	first, second := "#!/bin/sh\nprintf '%s|' \"$0\" \"$@\" '$HOME `id` \\n' \"it's\"\n\n", "#!/usr/bin/env cat\n$(exit 1); 100%\n"
	clone := func(env ...string) (string, error) { return newClonePod(t).clone("file://"+path, "main", "", env...) }
	prepare := func(env ...string) (string, error) {
		command := exec.Command("/bin/sh", "-c", prepareScript)
		command.Env = append(env, "PATH="+os.Getenv("PATH"))
		output, err := command.CombinedOutput()
		return string(output), err
	}
	for _, run := range []func(...string) (string, error){clone, prepare} {
		folder := filepath.Join(t.TempDir(), "scripts")
		for range 2 { // a container may be started again
			output, err := run("SCRIPTS_PATH="+folder, "CLONE_SCRIPTS=test package", "CLONE_SCRIPT_0="+first, "CLONE_SCRIPT_1="+second, "CLONE_RESULTS="+folder+"/results")
			require.NoError(t, err, output)
		}
		results, err := os.Stat(filepath.Join(folder, "results"))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o777), results.Mode().Perm())
		script := filepath.Join(folder, "test")
		output, err := exec.Command(script, "a b", "$c").Output()
		require.NoError(t, err)
		require.Equal(t, script+"|a b|$c|$HOME `id` \\n|it's|", string(output))
		output, err = exec.Command(filepath.Join(folder, "package")).Output()
		require.NoError(t, err)
		require.Equal(t, second, string(output))
		info, err := os.Stat(script)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o755), info.Mode().Perm())
	}
}

func TestCloneFetchesLargeFilesIfAsked(t *testing.T) {
	if _, err := exec.LookPath("git-lfs"); err != nil {
		t.Skip("git-lfs is not on the PATH")
	}
	path, _ := repository(t)
	work := filepath.Join(filepath.Dir(path), "work")
	lfs := func(args ...string) {
		filters := []string{"-c", "filter.lfs.clean=git-lfs clean -- %f", "-c", "filter.lfs.smudge=git-lfs smudge -- %f", "-c", "filter.lfs.required=true"}
		git(t, work, append(filters, args...)...)
	}
	require.NoError(t, os.WriteFile(filepath.Join(work, ".gitattributes"), []byte("large filter=lfs diff=lfs merge=lfs -text\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(work, "large"), []byte("all of it"), 0o644))
	lfs("add", ".")
	lfs("commit", "--quiet", "-m", "large")
	lfs("push", "--quiet", "file://"+path, "main")
	lfs("lfs", "push", "file://"+path, "main")
	pod := newClonePod(t)
	content := func() string {
		text, err := os.ReadFile(filepath.Join(pod.workspace, "large"))
		require.NoError(t, err)
		return string(text)
	}
	output, err := pod.clone("file://"+path, "main", "")
	require.NoError(t, err, output)
	require.Contains(t, content(), "git-lfs.github.com")
	output, err = pod.clone("file://"+path, "main", "", "CLONE_LFS=true")
	require.NoError(t, err, output)
	require.Equal(t, "all of it", content())
	require.Empty(t, git(t, pod.workspace, "status", "--porcelain"), "for a builder without git-lfs")
}
