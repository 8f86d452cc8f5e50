package attest

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Checksums returns the SHA-256 of the files in a folder, without those in folders below
// it, as `sha256sum --check` reads it. A file of checksums, by its name, is left out.
func Checksums(folder, name string) ([]byte, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var text strings.Builder
	for _, entry := range entries { // sorted by their names
		if entry.IsDir() || entry.Name() == name {
			continue
		}
		content, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&text, "%s  %s\n", hexSHA256(content), entry.Name())
	}
	return []byte(text.String()), nil
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func list(texts []string) []any {
	values := make([]any, len(texts))
	for i, text := range texts {
		values[i] = text
	}
	return values
}
