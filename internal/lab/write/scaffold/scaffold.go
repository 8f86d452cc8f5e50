// Package scaffold writes the first files of a new kind or a new module of
// operators: a working kind, to be edited. Nothing is written if anything is
// refused.
package scaffold

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"go/format"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/operetta-dev/operetta/internal/documents"
)

// The delimiters are not those of Go's templates, which Go code has, too: [[.Kind]].
//
//go:embed kind module
var templates embed.FS

// Plan are the files to write, by path below the project's root.
type Plan struct {
	root    string
	created map[string][]byte
	changed map[string][]byte
}

func newPlan(root string) Plan {
	return Plan{root: root, created: map[string][]byte{}, changed: map[string][]byte{}}
}

// render adds a file that is made from a template. Go files are formatted.
func (p Plan) render(path, name string, data any) error {
	text, err := templates.ReadFile(name)
	if err != nil {
		return fmt.Errorf("reading a template: %w", err)
	}
	parsed, err := template.New(name).Delims("[[", "]]").Option("missingkey=error").Parse(string(text))
	if err != nil {
		return fmt.Errorf("reading a template: %w", err)
	}
	var b bytes.Buffer
	if err := parsed.Execute(&b, data); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	content := b.Bytes()
	if strings.HasSuffix(path, ".go") {
		if content, err = format.Source(content); err != nil {
			return fmt.Errorf("formatting %s: %w", path, err)
		}
	}
	p.created[path] = content
	return nil
}

// check refuses to overwrite a file.
func (p Plan) check() error {
	var taken []string
	for _, path := range slices.Sorted(maps.Keys(p.created)) {
		if _, err := os.Lstat(filepath.Join(p.root, path)); !errors.Is(err, fs.ErrNotExist) {
			taken = append(taken, path)
		}
	}
	if len(taken) > 0 {
		return fmt.Errorf("%s: there already: remove what is in the way, or choose another name", strings.Join(taken, ", "))
	}
	return nil
}

// Write writes all files, and returns what it did, in the words of the command. It
// refuses to overwrite a file, and then writes none. After another error some
// may have been written.
func (p Plan) Write() (done []string, err error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	for _, part := range []struct {
		verb  string
		files map[string][]byte
	}{{"created", p.created}, {"changed", p.changed}} {
		for _, path := range slices.Sorted(maps.Keys(part.files)) {
			if err := documents.WriteBelow(p.root, path, part.files[path], 0o644); err != nil {
				return done, fmt.Errorf("writing what a kind needs: %w", err)
			}
			done = append(done, part.verb+" "+path)
		}
	}
	return done, nil
}
