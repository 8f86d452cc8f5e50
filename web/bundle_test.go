package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTheBundleIsCurrent builds again what the product embeds.
func TestTheBundleIsCurrent(t *testing.T) {
	installed(t)
	const committed = "../internal/lab/page/page"
	files, err := bundle(".")
	require.NoError(t, err)
	for name, content := range files {
		old, err := os.ReadFile(filepath.Join(committed, name))
		require.NoError(t, err)
		assert.True(t, string(old) == string(content), "%s/%s is not built from what is here: make page writes it", committed, name)
	}
	entries, err := os.ReadDir(committed)
	require.NoError(t, err)
	assert.Len(t, entries, len(files), "and nothing else is there")
}
