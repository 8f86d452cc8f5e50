package attest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/release/attest"
)

func TestChecksumsAreThoseOfTheFiles(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(folder, "image"), 0o755))
	for name, content := range map[string]string{"b.txt": "b", "a.txt": "", "SUMS": "of before", "image/blob": "x"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600))
	}
	text, err := attest.Checksums(folder, "SUMS")
	require.NoError(t, err)
	require.Equal(t, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a.txt\n"+
		"3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d  b.txt\n", string(text))
	if _, err := exec.LookPath("sha256sum"); err != nil {
		t.Skip("there is no sha256sum here")
	}
	require.NoError(t, os.WriteFile(filepath.Join(folder, "SUMS"), text, 0o600))
	check := func() error {
		cmd := exec.CommandContext(t.Context(), "sha256sum", "--check", "--strict", "SUMS")
		cmd.Dir = folder
		return cmd.Run()
	}
	require.NoError(t, check())
	require.NoError(t, os.WriteFile(filepath.Join(folder, "b.txt"), []byte("c"), 0o600))
	require.Error(t, check())
}
