package generate

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operetta-dev/operetta/internal/documents"
	"github.com/operetta-dev/operetta/internal/lab/write/manifests"
	"github.com/operetta-dev/operetta/internal/printable"
)

// Tree is the expected content of files, by their paths below the project's
// root.
type Tree map[string][]byte

func (t Tree) add(path string, content []byte) {
	t[path] = append([]byte(manifests.Header), content...)
}

// Write updates the files, removes those of removed kinds, and prints to stdout
// what it changed.
func (t Tree) Write(root string, stdout io.Writer) error {
	changes, err := t.changes(root)
	if err != nil {
		return err
	}
	for _, path := range changes {
		content, wanted := t[path]
		verb := "wrote"
		if wanted {
			err = documents.WriteBelow(root, path, content, 0o644)
		} else {
			verb, err = "removed", os.Remove(filepath.Join(root, path))
		}
		if err != nil {
			return fmt.Errorf("writing what is generated: %w", err)
		}
		fmt.Fprintf(printable.NewWriter(stdout), "%s %s\n", verb, path)
	}
	return nil
}

// Check prints to stdout the files that differ. It fails if there are any.
func (t Tree) Check(root string, stdout io.Writer) error {
	changes, err := t.changes(root)
	if err != nil || len(changes) == 0 {
		return err
	}
	fmt.Fprintln(printable.NewWriter(stdout), strings.Join(changes, "\n"))
	return fmt.Errorf("files that differ from what the operators declare: %d: write them with make generate, or with generate without --check", len(changes))
}

// changes returns the sorted paths of files that differ, are missing, or belong
// to a removed kind or shard: those that were written by hand are left alone.
func (t Tree) changes(root string) ([]string, error) {
	var changes []string
	paths := slices.Collect(maps.Keys(t))
	searched := folders[:]
	if t[shardsFolder+"/kustomization.yaml"] != nil {
		searched = append(searched, shardsFolder+"/shard-*")
	}
	for _, folder := range searched {
		found, err := fs.Glob(os.DirFS(root), folder+"/*.yaml") // the name of root is no pattern
		if err != nil {
			return nil, fmt.Errorf("listing what was generated: %w", err)
		}
		paths = append(paths, found...)
	}
	slices.Sort(paths)
	for _, path := range slices.Compact(paths) {
		content, err := os.ReadFile(filepath.Join(root, path))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("reading what was generated: %w", err)
		}
		wanted, isWanted := t[path]
		if isWanted && (err != nil || !bytes.Equal(content, wanted)) || !isWanted && bytes.HasPrefix(content, []byte(manifests.Header)) {
			changes = append(changes, path)
		}
	}
	return changes, nil
}
