package record

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/metacontroller"
)

// requireWhole checks that there are nothing but pairs of files in a folder, and
// returns how many.
func requireWhole(t *testing.T, dir string) int {
	t.Helper()
	files := written(t, dir)
	for path := range files {
		stem, isInput := strings.CutSuffix(path, inputEnding)
		other := stem + answerEnding
		if !isInput {
			stem, isAnswer := strings.CutSuffix(path, answerEnding)
			require.True(t, isAnswer, "%s is left over", path)
			other = stem + inputEnding
		}
		require.Contains(t, files, other, "%s is alone", path)
	}
	return len(files) / 2
}

func boxes(t *testing.T, from, to int) []Exchange {
	var all []Exchange
	for i := from; i < to; i++ {
		all = append(all, exchange(t, request(fmt.Sprintf(`{"text":"x","n":%d}`, i), "{}", "{}")))
	}
	return all
}

// TestFullDiskLeavesNothingHalf records onto a file system that gets full.
func TestFullDiskLeavesNothingHalf(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("a small file system can only be mounted by root: %v", err)
	}
	defer func() { require.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH)) }()
	r, log := start(t, dir)
	for _, e := range boxes(t, 0, 60) {
		r.Record(e)
	}
	r.Close()
	count := requireWhole(t, dir)
	require.Positive(t, count)
	require.Less(t, count, 60)
	require.Equal(t, r.cases, count)
	require.Contains(t, log.String(), "no space left on device")
	require.Contains(t, log.String(), fmt.Sprintf("dropped_failed=%d", 60-count))
}

func TestUnreadableFolderHurtsNobody(t *testing.T) {
	dir := t.TempDir()
	r, log := start(t, dir)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "box"), nil, 0o600)) // where a folder should be
	r.Record(boxes(t, 0, 1)[0])
	r.Close()
	require.Contains(t, log.String(), "reason=failed")
}

// TestRestartGoesOn starts a recorder on the folder of another one, which was
// killed.
func TestRestartGoesOn(t *testing.T) {
	dir := t.TempDir()
	r, _ := start(t, dir)
	for _, e := range boxes(t, 0, 3) {
		r.Record(e)
	}
	r.Close()
	require.Equal(t, 3, requireWhole(t, dir))
	bytes := r.bytes
	for _, name := range []string{"notes.txt", "by-hand.in.yaml"} { // somebody else's
		require.NoError(t, os.WriteFile(filepath.Join(dir, "box", "sync", name), []byte("{}"), 0o600))
	}
	r, log := start(t, dir)
	require.Equal(t, bytes+4, r.bytes)
	require.Equal(t, 3, r.cases)
	for _, e := range boxes(t, 2, 5) { // one of them is there
		r.Record(e)
	}
	r.Close()
	require.Contains(t, log.String(), "cases=5")
	names := written(t, dir)
	require.Len(t, names, 12, "five pairs, and two files of somebody else's")
	require.Contains(t, names, filepath.Join("box", "sync", "notes.txt"))
	require.Contains(t, names, filepath.Join("box", "sync", "by-hand.in.yaml"))
}

// TestFolderIsLimitedAcrossRestarts finds a folder that is nearly full.
func TestFolderIsLimitedAcrossRestarts(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "box", "sync")
	require.NoError(t, os.MkdirAll(folder, 0o700))
	path := filepath.Join(folder, "a-g1-0123456789abcdef")
	require.NoError(t, os.WriteFile(path+answerEnding, nil, 0o600))
	require.NoError(t, os.WriteFile(path+inputEnding, nil, 0o600))
	require.NoError(t, os.Truncate(path+inputEnding, MostBytes-100)) // of which nothing is on the disk
	for range 2 {
		r, log := start(t, dir)
		r.Record(boxes(t, 0, 1)[0])
		r.Close()
		require.Contains(t, log.String(), "dropped_full=1")
	}
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, entries, 2)
}

// TestFolderIsLimitedInCases has room for one more.
func TestFolderIsLimitedInCases(t *testing.T) {
	dir := t.TempDir()
	r, log := start(t, dir)
	r.mutex.Lock()
	r.cases = MostCases - 1 // as if so many had been found, see TestRestartGoesOn
	r.mutex.Unlock()
	for _, e := range boxes(t, 0, 3) {
		r.Record(e)
	}
	r.Close()
	require.Equal(t, 1, requireWhole(t, dir))
	require.Contains(t, log.String(), "dropped_full=2")
}

// TestNamesStayInTheFolder records parents whose names no API server would take.
func TestNamesStayInTheFolder(t *testing.T) {
	dir := t.TempDir()
	inside := filepath.Join(dir, "recordings")
	r, log := start(t, inside)
	names := []string{"../../../escaped", "/etc/escaped", `..\\escaped`, "a\\u0000b", "a\\u001b[31mred", "line\\nbreak", strings.Repeat("x", 253), ".", "..", "-", "ünï"}
	for _, name := range names {
		text := strings.Replace(request(`{"text":"x"}`, "{}", "{}"), `"name":"a","namespace":"default"`, `"name":"`+name+`","namespace":"`+name+`"`, 1)
		lax := toy()
		lax.CRD = nil
		r.Record(exchangeOf(t, lax, text))
	}
	r.Close()
	require.NotContains(t, log.String(), "dropped_")
	require.Positive(t, requireWhole(t, inside))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1, "nothing is written elsewhere")
	for path, text := range written(t, inside) {
		require.Regexp(t, `^box/sync/[A-Za-z0-9][A-Za-z0-9-]{0,99}-g3-[0-9a-f]{16}\.(in|out)\.yaml$`, path)
		require.False(t, strings.ContainsAny(text, "\x00\x1b"), "control characters in %s", path)
		for _, part := range []string{"ünï", "31mred"} {
			require.NotContains(t, path+text, part)
		}
	}
	_, err = corpus.Read(inside, []metacontroller.Controller{toy()})
	require.NoError(t, err)
}

// TestNothingIsWrittenBelowALink: what is there does not count in the bound of the folder.
func TestNothingIsWrittenBelowALink(t *testing.T) {
	for _, link := range []string{"box", "box/sync"} {
		dir, elsewhere := t.TempDir(), t.TempDir()
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, link)), 0o700))
		require.NoError(t, os.Symlink(elsewhere, filepath.Join(dir, link)))
		r, log := start(t, dir)
		r.Record(boxes(t, 0, 1)[0])
		r.Close()
		require.Contains(t, log.String(), "reason=failed", link)
		require.Empty(t, written(t, elsewhere), link)
	}
}
