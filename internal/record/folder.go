package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/operetta-dev/operetta/internal/documents"
)

// folder is the folder of the cases: <kind>/<hook>/<case>.in.yaml and
// .out.yaml.
type folder struct {
	dir   string
	keys  map[string]bool // those of the cases, as <kind>/<hook>/<key>
	bytes int64           // of all files at the start
}

// Endings of the files.
const (
	inputEnding  = ".in.yaml"
	answerEnding = ".out.yaml"
)

// inputForm matches the requests of recorded cases.
var inputForm = regexp.MustCompile(`^(.*/).*-g-?[0-9]+-([0-9a-f]{16})\.in\.yaml$`)

// openFolder creates the folder if it is missing, and counts the files in it.
func openFolder(dir string) (*folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder for recordings: %w", err)
	}
	f := &folder{dir: dir, keys: map[string]bool{}}
	files := os.DirFS(dir)
	found, err := fs.Glob(files, "*/*/*")
	for _, path := range found {
		info, statErr := fs.Lstat(files, path)
		if err = errors.Join(err, statErr); statErr != nil || !info.Mode().IsRegular() {
			continue
		}
		f.bytes += info.Size()
		if match := inputForm.FindStringSubmatch(path); match != nil {
			f.keys[match[1]+match[2]] = true
		}
	}
	if err != nil {
		return nil, fmt.Errorf("look at earlier recordings: %w", err)
	}
	return f, nil
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
