//go:build unix

package server

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestAPipeIsNoFileOfTokens: to open one waits for what writes to it, with the requests.
func TestAPipeIsNoFileOfTokens(t *testing.T) {
	file, token := filepath.Join(t.TempDir(), "tokens"), strings.Repeat("a", leastToken)
	require.NoError(t, os.WriteFile(file, []byte(token), 0o600))
	loaded, err := loadTokens(file, slog.New(slog.DiscardHandler))
	require.NoError(t, err)

	require.NoError(t, os.Remove(file))
	require.NoError(t, syscall.Mkfifo(file, 0o600))
	loaded.read = time.Time{}
	valid := make(chan bool, 1)
	go func() { valid <- loaded.isValid("Bearer " + token) }()
	select {
	case isValid := <-valid:
		require.True(t, isValid, "the former tokens stay")
	case <-time.After(10 * time.Second):
		t.Fatal("a request waits for the pipe")
	}
	_, err = loadTokens(file, slog.New(slog.DiscardHandler))
	require.ErrorContains(t, err, "is no regular file: write the tokens to one")
}
