package documents

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
)

// ReadBelow reads a regular file at a path below a folder, to which no symbolic link may lead from
// outside: who runs a command in a project need not have written it.
func ReadBelow(folder, path string) ([]byte, error) {
	root, err := os.OpenRoot(cmp.Or(folder, "."))
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	info, err := root.Stat(path) // of a pipe, which opening would wait for
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file: remove it", filepath.Join(folder, path))
	}
	file, err := root.Open(path)
	if err != nil {
		return nil, err
	}
	return readOpen(file, filepath.Join(folder, path))
}

// WriteBelow writes a file at a path below a folder, and makes the folders that it needs. A
// link leads it to no other place than below the folder: a symbolic one is followed as far as it stays
// there, and the file is a new one, so that a hard link keeps what it had.
func WriteBelow(folder, path string, content []byte) error {
	if err := os.MkdirAll(cmp.Or(folder, "."), 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(cmp.Or(folder, "."))
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	if err := root.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if info, err := root.Lstat(path); err == nil && info.Mode().IsRegular() {
		if err := root.Remove(path); err != nil {
			return err
		}
	}
	return root.WriteFile(path, content, 0o644)
}
