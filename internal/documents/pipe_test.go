//go:build unix

package documents

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAPipeIsAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	go func() { _ = os.WriteFile(path, []byte("a: b\n"), 0o600) }()
	text, err := ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "a: b\n", string(text))
}
