//go:build unix

package documents

import (
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBelowAFolder(t *testing.T) {
	folder, outside := t.TempDir(), filepath.Join(t.TempDir(), "victim")
	require.NoError(t, os.WriteFile(outside, []byte("mine"), 0o600))
	require.NoError(t, WriteBelow(folder, "a/b/c", []byte("text"), 0o644))
	text, err := os.ReadFile(filepath.Join(folder, "a/b/c"))
	require.NoError(t, err)
	require.Equal(t, "text", string(text))
	require.NoError(t, os.Symlink("c", filepath.Join(folder, "a/b/link")))
	require.EqualError(t, WriteBelow(folder, "a/b/link", []byte("other"), 0o644), filepath.Join(folder, "a/b/link")+" is no regular file: remove it")

	require.NoError(t, os.Symlink(outside, filepath.Join(folder, "a/out")))
	require.NoError(t, os.Symlink("/dev/zero", filepath.Join(folder, "a/zero")))
	require.NoError(t, os.Symlink(filepath.Dir(outside), filepath.Join(folder, "a/folder")))
	require.NoError(t, syscall.Mkfifo(filepath.Join(folder, "a/pipe"), 0o600))
	for _, path := range []string{"a/out", "a/zero", "a/folder/victim", "../x", "a/pipe"} {
		require.Error(t, WriteBelow(folder, path, []byte("text"), 0o644), path)
	}
	text, err = os.ReadFile(outside)
	require.NoError(t, err)
	require.Equal(t, "mine", string(text))
}

// TestAHardLinkKeepsWhatItHad: what is written is a new file.
func TestAHardLinkKeepsWhatItHad(t *testing.T) {
	elsewhere, folder := filepath.Join(t.TempDir(), "elsewhere"), t.TempDir()
	require.NoError(t, os.WriteFile(elsewhere, []byte("before"), 0o600))
	require.NoError(t, os.Link(elsewhere, filepath.Join(folder, "a")))
	require.NoError(t, os.Symlink("a", filepath.Join(folder, "b")))
	require.Error(t, WriteBelow(folder, "b", []byte("now"), 0o644))
	require.NoError(t, WriteBelow(folder, "a", []byte("now"), 0o644))
	text, err := os.ReadFile(elsewhere)
	require.NoError(t, err)
	require.Equal(t, "before", string(text))
	text, err = os.ReadFile(filepath.Join(folder, "a"))
	require.NoError(t, err)
	require.Equal(t, "now", string(text))
}

// TestAnInterruptedWriteLeavesTheFormer: what is not complete has another name, and the next
// write is not hindered by it.
func TestAnInterruptedWriteLeavesTheFormer(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, WriteBelow(folder, "a", []byte("former"), 0o644))
	// The file system is full, so to speak: no file may be larger than two bytes.
	var limit syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit))
	signal.Ignore(syscall.SIGXFSZ)
	t.Cleanup(func() { signal.Reset(syscall.SIGXFSZ) })
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 2, Max: limit.Max}))
	err := WriteBelow(folder, "a", []byte("larger"), 0o644)
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
	require.ErrorIs(t, err, syscall.EFBIG)
	text, err := os.ReadFile(filepath.Join(folder, "a"))
	require.NoError(t, err)
	require.Equal(t, "former", string(text))

	require.NoError(t, os.WriteFile(filepath.Join(folder, ".a.unfinished"), []byte("of a run that was killed"), 0o600))
	require.NoError(t, WriteBelow(folder, "a", []byte("now"), 0o644))
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, entries, 1)
}
