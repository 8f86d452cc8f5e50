package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/operetta-dev/operetta/internal/documents"
)

// folder is the folder of the cases: <kind>/<hook>/<case>.in.yaml and
// .out.yaml.
type folder struct {
	dir   string
	keys  map[string]bool // those of the cases, as <kind>/<hook>/<key>
	bytes int64           // of all files at the start
	rests []string        // the unfinished files that were removed at the start
}

// Endings of the files.
const (
	inputEnding  = ".in.yaml"
	answerEnding = ".out.yaml"
)

// caseForm matches the files of recorded cases.
var caseForm = regexp.MustCompile(`^(.*-g-?[0-9]+-([0-9a-f]{16}))(\.in\.yaml|\.out\.yaml)$`)

// openFolder creates the folder if it is missing, counts the files in it, and
// removes those that a killed process has left unfinished. Other files stay.
func openFolder(dir string) (*folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder for recordings: %w", err)
	}
	root, err := os.OpenRoot(dir) // no link leads out of it
	if err != nil {
		return nil, fmt.Errorf("open the folder for recordings: %w", err)
	}
	defer func() { _ = root.Close() }()
	f := &folder{dir: dir, keys: map[string]bool{}}
	found, err := fs.Glob(root.FS(), "*/*/*")
	if err != nil {
		return nil, fmt.Errorf("look for earlier recordings: %w", err)
	}
	for _, path := range found {
		if err := f.take(root, path); err != nil {
			return nil, fmt.Errorf("look at an earlier recording: %w", err)
		}
	}
	return f, nil
}

// take counts a file, or removes it if it is unfinished.
func (f *folder) take(root *os.Root, path string) error {
	info, err := root.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	parent, name := filepath.Split(path)
	isRest := strings.HasSuffix(name, documents.Unfinished)
	match := caseForm.FindStringSubmatch(name)
	if match != nil {
		other := inputEnding
		if match[3] == inputEnding {
			other = answerEnding
		}
		_, err := root.Lstat(parent + match[1] + other)
		isRest = errors.Is(err, fs.ErrNotExist)
	}
	if isRest {
		f.rests = append(f.rests, path)
		return root.Remove(path)
	}
	f.bytes += info.Size()
	if match != nil && match[3] == inputEnding {
		f.keys[filepath.ToSlash(parent)+match[2]] = true
	}
	return nil
}

// write writes both files of a case, or neither. The request comes last, because
// readers look for it.
func (f *folder) write(kind, hook string, c *pair) error {
	path := filepath.Join(kind, hook, c.name)
	if err := documents.WriteBelow(f.dir, path+answerEnding, c.answer, 0o600); err != nil {
		return fmt.Errorf("write a case: %w", err)
	}
	if err := documents.WriteBelow(f.dir, path+inputEnding, c.input, 0o600); err != nil {
		return errors.Join(fmt.Errorf("write a case: %w", err), os.Remove(filepath.Join(f.dir, path+answerEnding)))
	}
	f.keys[kind+"/"+hook+"/"+c.key] = true
	return nil
}
