package scaffold

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// project is what the templates need to know of an existing project.
type project struct {
	root     string
	module   string   // its module path
	lists    [][]byte // the texts of lists
	kinds    []string // in lower case
	group    string   // of all kinds, if they have the same
	category string   // the category of all kinds

	shortNames []string
}

var (
	modulePattern    = regexp.MustCompile(`(?m)^module\s+"?([^\s"]+)"?`)
	groupPattern     = regexp.MustCompile(`(?m)^// \+groupName=(\S+)$`)
	shortNamePattern = regexp.MustCompile(`(?m)^// \+kubebuilder:resource:.*\bshortName=([a-z0-9;{}]+)`)
	categoryPattern  = regexp.MustCompile(`(?m)^// \+kubebuilder:resource:.*\bcategories=([-a-z0-9]+)`)
)

// readProject reads the project in a folder. The error says what a project needs.
func readProject(root string) (project, error) {
	p := project{root: root}
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if errors.Is(err, fs.ErrNotExist) {
		return p, fmt.Errorf("%s has no go.mod: run this in the root of a project, or start one with --module example.com/acme/operators DIR", root)
	}
	if err != nil {
		return p, fmt.Errorf("reading the project: %w", err)
	}
	found := modulePattern.FindSubmatch(text)
	if found == nil {
		return p, fmt.Errorf("%s names no module", filepath.Join(root, "go.mod"))
	}
	p.module = string(found[1])
	p.category = path.Base(p.module)
	for _, l := range lists {
		text, err := l.read(root)
		if err != nil {
			return p, err
		}
		p.lists = append(p.lists, text)
	}
	entries, err := os.ReadDir(filepath.Join(root, "hooks"))
	if err != nil {
		return p, fmt.Errorf("reading the project: %w", err)
	}
	for _, entry := range entries {
		if entry.IsDir() && entry.Name() != "testdata" && entry.Name() != "invariants" {
			p.kinds = append(p.kinds, entry.Name())
		}
	}
	return p, p.readKinds()
}

// readKinds reads the group and category of the project's kinds from the
// markers of their types.
func (p *project) readKinds() error {
	groups := map[string]bool{}
	for _, kind := range p.kinds {
		text, err := os.ReadFile(filepath.Join(p.root, "hooks", kind, "types.go"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("reading the project: %w", err)
		}
		if group := groupPattern.FindSubmatch(text); group != nil {
			p.group = string(group[1])
			groups[p.group] = true
		}
		if names := shortNamePattern.FindSubmatch(text); names != nil {
			p.shortNames = append(p.shortNames, strings.Split(strings.Trim(string(names[1]), "{}"), ";")...)
		}
		if category := categoryPattern.FindSubmatch(text); category != nil {
			p.category = string(category[1])
		}
	}
	if len(groups) > 1 {
		p.group = ""
	}
	return nil
}

// lacks reports whether not each kind of the project has a file, whose path has NAME for
// the kind.
func (p project) lacks(f file) bool {
	return len(p.kinds) == 0 || slices.ContainsFunc(p.kinds, func(kind string) bool {
		_, err := os.Stat(filepath.Join(p.root, strings.ReplaceAll(f.path, "NAME", kind)))
		return err != nil
	})
}
