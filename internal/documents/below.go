package documents

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
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

// WriteBelow writes a file at a path below a folder, and makes the folders that it needs, for those
// who may read the file. It is a new file, which takes the place of the former when
// it is complete: a run that is interrupted leaves the former, and a hard link keeps what it had.
// What is no regular file is not replaced: a symbolic link, say.
func WriteBelow(folder, path string, content []byte, mode fs.FileMode) error {
	folderMode := mode | mode&0o444>>2
	if err := os.MkdirAll(cmp.Or(folder, "."), folderMode); err != nil {
		return err
	}
	root, err := os.OpenRoot(cmp.Or(folder, "."))
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	if err := root.MkdirAll(filepath.Dir(path), folderMode); err != nil {
		return err
	}
	former, err := root.Lstat(path)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case err == nil && !former.Mode().IsRegular():
		return fmt.Errorf("%s is no regular file: remove it", filepath.Join(folder, path))
	}
	unfinished := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".unfinished")
	if err := root.Remove(unfinished); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := root.WriteFile(unfinished, content, mode); err != nil {
		_ = root.Remove(unfinished)
		return err
	}
	return root.Rename(unfinished, path)
}
