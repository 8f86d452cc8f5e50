package record

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
)

// folder is the folder of the cases: <kind>/<hook>/<case>.in.yaml and
// .out.yaml.
type folder struct {
	dir string
	// keys are those of the cases, as <kind>/<hook>/<key>.
	keys  map[string]bool
	bytes int64    // of all files at the start
	rests []string // the unfinished files that were removed at the start

	stopped atomic.Bool
	create  func(dir string) (file, error) // a file with a unique name
}

// file is what is written to.
type file interface {
	Name() string
	Write(text []byte) (int, error)
	Close() error
}

// Names of the files. An unfinished file has a name that nothing reads.
const (
	unfinished   = ".unfinished-"
	inputEnding  = ".in.yaml"
	answerEnding = ".out.yaml"
)

// caseForm matches the names of recorded cases.
var caseForm = regexp.MustCompile(`-g-?[0-9]+-([0-9a-f]{8,16})$`)

var errStopped = errors.New("the recording has ended")

// openFolder creates the folder if it is missing, counts the files in it, and
// removes those that a killed process has left unfinished. Other files stay, and so does
// what is below a linked folder.
func openFolder(dir string) (*folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder for recordings: %w", err)
	}
	f := &folder{dir: dir, keys: map[string]bool{}}
	f.create = func(dir string) (file, error) { return os.CreateTemp(dir, unfinished) }
	found, err := fs.Glob(os.DirFS(dir), "*/*/*") // the name of dir is no pattern
	if err != nil {
		return nil, fmt.Errorf("look for earlier recordings: %w", err)
	}
	for _, name := range found {
		if err := f.take(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			return nil, fmt.Errorf("look at an earlier recording: %w", err)
		}
	}
	return f, nil
}

// take counts a file, or removes it if it is unfinished.
func (f *folder) take(path string) error {
	if link, err := linked(filepath.Dir(path)); link != "" || err != nil {
		return err
	}
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	name := filepath.Base(path)
	input, isInput := strings.CutSuffix(path, inputEnding)
	answer, isAnswer := strings.CutSuffix(path, answerEnding)
	match := caseForm.FindStringSubmatch(strings.TrimSuffix(strings.TrimSuffix(name, inputEnding), answerEnding))
	isRest := strings.HasPrefix(name, unfinished) ||
		isInput && match != nil && !exists(input+answerEnding) || isAnswer && match != nil && !exists(answer+inputEnding)
	if isRest {
		f.rests = append(f.rests, path)
		return os.Remove(path)
	}
	f.bytes += info.Size()
	if isInput {
		key := name
		if match != nil {
			key = match[1]
		}
		relative, err := filepath.Rel(f.dir, filepath.Dir(path))
		f.keys[filepath.ToSlash(relative)+"/"+key] = true
		return err
	}
	return nil
}

// linked returns the folder of a hook or that above it, of the kind, if it is a symbolic link.
func linked(folder string) (link string, err error) {
	for _, path := range []string{folder, filepath.Dir(folder)} {
		info, err := os.Lstat(path)
		switch {
		case err != nil:
			return "", err
		case info.Mode()&fs.ModeSymlink != 0:
			return path, nil
		}
	}
	return "", nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// write writes both files of a case, or neither: they are first written under
// temporary names.
func (f *folder) write(kind, hook string, c *pair) (err error) {
	if f.stopped.Load() {
		return errStopped
	}
	folder := filepath.Join(f.dir, kind, hook)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	// What is there is not counted.
	if link, err := linked(folder); link != "" || err != nil {
		return cmp.Or(err, fmt.Errorf("%s is a symbolic link, and what it leads to is not bounded: remove it, or record there", link))
	}
	var paths []string // to be removed on failure
	defer func() {
		if err != nil {
			for _, path := range paths {
				err = errors.Join(err, os.RemoveAll(path)) // it may have been renamed
			}
		}
	}()
	var sources []string
	for _, text := range [][]byte{c.answer, c.input} {
		if f.stopped.Load() {
			return errStopped
		}
		path, err := f.writeFile(folder, text)
		if path != "" {
			paths = append(paths, path)
		}
		if err != nil {
			return fmt.Errorf("write a case: %w", err)
		}
		sources = append(sources, path)
	}
	// The request comes last, because readers look for it.
	for i, ending := range []string{answerEnding, inputEnding} {
		target := filepath.Join(folder, c.name+ending)
		if err := os.Rename(sources[i], target); err != nil {
			return fmt.Errorf("name a case: %w", err)
		}
		paths = append(paths, target)
	}
	f.keys[kind+"/"+hook+"/"+c.key] = true
	return nil
}

// writeFile writes a text to a file with a unique name, and returns the name.
func (f *folder) writeFile(dir string, text []byte) (string, error) {
	created, err := f.create(dir)
	if err != nil {
		return "", err
	}
	_, err = created.Write(text)
	return created.Name(), errors.Join(err, created.Close())
}

// stop makes sure that no further file is created.
func (f *folder) stop() { f.stopped.Store(true) }
