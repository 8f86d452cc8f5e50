//go:build unix

package documents

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBelowAFolder(t *testing.T) {
	folder, outside := t.TempDir(), filepath.Join(t.TempDir(), "victim")
	require.NoError(t, os.WriteFile(outside, []byte("mine"), 0o600))
	require.NoError(t, WriteBelow(folder, "a/b/c", []byte("text")))
	text, err := ReadBelow(folder, "a/b/c")
	require.NoError(t, err)
	require.Equal(t, "text", string(text))
	require.NoError(t, os.Symlink("c", filepath.Join(folder, "a/b/link")))
	text, err = ReadBelow(folder, "a/b/link")
	require.NoError(t, err)
	require.Equal(t, "text", string(text))
	_, err = ReadBelow(folder, "a/none")
	require.ErrorIs(t, err, fs.ErrNotExist)

	require.NoError(t, os.Symlink(outside, filepath.Join(folder, "a/out")))
	require.NoError(t, os.Symlink("/dev/zero", filepath.Join(folder, "a/zero")))
	require.NoError(t, os.Symlink(filepath.Dir(outside), filepath.Join(folder, "a/folder")))
	require.NoError(t, syscall.Mkfifo(filepath.Join(folder, "a/pipe"), 0o600))
	for _, path := range []string{"a/out", "a/zero", "a/folder/victim", "../x", "a/pipe"} {
		_, err := ReadBelow(folder, path)
		require.Error(t, err, path)
		if path != "a/pipe" { // to open one for writing waits for a reader
			require.Error(t, WriteBelow(folder, path, []byte("text")), path)
		}
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
	require.NoError(t, WriteBelow(folder, "a", []byte("now")))
	text, err := os.ReadFile(elsewhere)
	require.NoError(t, err)
	require.Equal(t, "before", string(text))
	text, err = ReadBelow(folder, "a")
	require.NoError(t, err)
	require.Equal(t, "now", string(text))
}
