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
	"github.com/operetta-dev/operetta/internal/manifests"
	"github.com/operetta-dev/operetta/internal/printable"
)

// Tree is the expected content of files, by their paths below the project's
// root.
type Tree map[string][]byte

// add adds a generated YAML file.
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
// to a removed kind.
func (t Tree) changes(root string) ([]string, error) {
	var changes []string
	for _, path := range slices.Sorted(maps.Keys(t)) {
		content, err := documents.ReadBelow(root, path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("reading what was generated: %w", err)
		}
		if err != nil || !bytes.Equal(content, t[path]) {
			changes = append(changes, path)
		}
	}
	searched := folders[:]
	if _, divided := t[shardsFolder+"/kustomization.yaml"]; divided {
		// A number of shards that has become smaller leaves folders.
		shards, err := fs.Glob(os.DirFS(root), shardsFolder+"/shard-*") // the name of root is no pattern
		if err != nil {
			return nil, fmt.Errorf("listing what was generated: %w", err)
		}
		searched = append(searched, shards...)
	}
	for _, folder := range searched {
		stale, err := t.stale(root, folder)
		if err != nil {
			return nil, err
		}
		changes = append(changes, stale...)
	}
	slices.Sort(changes)
	return changes, nil
}

// stale returns the generated files in a folder that are no longer needed.
// Files that were written by hand are left alone.
func (t Tree) stale(root, folder string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(root, folder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("listing what was generated: %w", err)
	}
	var stale []string
	for _, entry := range entries {
		path := folder + "/" + entry.Name()
		if _, wanted := t[path]; wanted || entry.IsDir() {
			continue
		}
		content, err := documents.ReadBelow(root, path)
		if err != nil {
			return nil, fmt.Errorf("reading what was generated: %w", err)
		}
		if bytes.HasPrefix(content, []byte(manifests.Header)) {
			stale = append(stale, path)
		}
	}
	return stale, nil
}
