package documents

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

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
