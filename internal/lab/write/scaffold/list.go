package scaffold

import (
	"errors"
	"fmt"
	"go/format"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// list is a file with a function All that returns a literal with a line for each kind.
type list struct {
	path, literal string
	all, element  *regexp.Regexp // the literal's lines, and the kind of one
	// line and imported are what a kind adds. NAME stands for the kind.
	line, imported string
}

var lists = []list{{
	path: "hooks/hooks.go", literal: "[]metacontroller.Controller{...} with each operator on a line",
	all:     regexp.MustCompile(`(?s)\nfunc All\(\) \[\]\w+\.\w+ \{\n\treturn \[\]\w+\.\w+\{(|\n.*?\n\t)\}\n\}\n`),
	element: regexp.MustCompile(`(?m)^\t\t(\w+)\.Controller\(`),
	line:    "\t\tNAME.Controller(),\n", imported: `"MODULE/hooks/NAME"`,
}, {
	path: "hooks/invariants/invariants.go", literal: "simulation.Kinds{...} with each kind on a line",
	all:     regexp.MustCompile(`(?s)\nfunc All\(\) \w+\.Kinds \{\n\treturn \w+\.Kinds\{(|\n.*?\n\t)\}\n\}\n`),
	element: regexp.MustCompile(`(?m)^\t\t"(\w+)":`),
	line:    "\t\t\"NAME\": {Invariants: NAME.Invariants()},\n", imported: `NAME "MODULE/hooks/NAME/invariants"`,
}}

func (l list) read(root string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(root, l.path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s has no %s with a function All that lists the operators: run this in the root of such a project, or start one with --module", root, l.path)
	}
	if err != nil {
		return nil, fmt.Errorf("reading a list of the operators: %w", err)
	}
	return text, nil
}

var importPattern = regexp.MustCompile(`(?m)^import \(\n`)

// with returns the file with one more kind: an import, which gofmt sorts, and an element in
// alphabetical order.
func (l list) with(text []byte, module, name string) ([]byte, error) {
	all, imports := l.all.FindSubmatchIndex(text), importPattern.FindIndex(text)
	if all == nil || imports == nil {
		return nil, fmt.Errorf("%s has no function All that returns a literal %s: add hooks/%s by hand, or write it so", l.path, l.literal, name)
	}
	elements, line := string(text[all[2]:all[3]]), strings.ReplaceAll(l.line, "NAME", name)
	at := len(elements) - len("\t")
	if elements == "" {
		at, line = 0, "\n"+line
	}
	for _, other := range slices.Backward(l.element.FindAllStringSubmatchIndex(elements, -1)) {
		if elements[other[2]:other[3]] > name {
			at = other[0]
		}
	}
	imported := "\t" + strings.NewReplacer("NAME", name, "MODULE", module).Replace(l.imported) + "\n"
	importAt, others := imports[1], regexp.MustCompile(`(?m)^\t(\w+ )?"`+regexp.QuoteMeta(module)+"/hooks/").FindIndex(text)
	if others != nil {
		importAt = others[0]
	} else {
		imported += "\n"
	}
	text = slices.Insert(slices.Clone(text), all[2]+at, []byte(line)...) // it comes last, and is inserted first
	text = slices.Insert(text, importAt, []byte(imported)...)
	formatted, err := format.Source(text)
	if err != nil {
		return nil, fmt.Errorf("adding %s to %s: %w", name, l.path, err)
	}
	return formatted, nil
}
