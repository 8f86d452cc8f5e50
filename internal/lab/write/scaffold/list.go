package scaffold

import (
	"bytes"
	"errors"
	"fmt"
	"go/format"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

const listPath = "hooks/hooks.go"

// list is the text of the file with the list of operators.
type list []byte

func readList(root string) (list, error) {
	text, err := os.ReadFile(filepath.Join(root, listPath))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s has no %s with a function All that lists the operators: run this in the root of such a project, or start one with --module", root, listPath)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the list of operators: %w", err)
	}
	return text, nil
}

var (
	allPattern     = regexp.MustCompile(`(?s)\nfunc All\(\) \[\]\w+\.\w+ \{\n\treturn \[\]\w+\.\w+\{(|\n.*?\n\t)\}\n\}\n`)
	elementPattern = regexp.MustCompile(`(?m)^\t\t(\w+)\.Controller\(`)
	importPattern  = regexp.MustCompile(`(?m)^import \(\n`)
)

// with returns the file with one more operator: an import, which gofmt sorts, and an element in
// alphabetical order.
func (l list) with(module, name string) ([]byte, error) {
	all, imports := allPattern.FindSubmatchIndex(l), importPattern.FindIndex(l)
	if all == nil || imports == nil {
		return nil, fmt.Errorf("%s has no function All that returns a literal []metacontroller.Controller{...} with each operator on a line: add hooks/%s by hand, or write it so", listPath, name)
	}
	elements := string(l[all[2]:all[3]])
	at, element := len(elements)-len("\t"), "\t\t"+name+".Controller(),\n"
	if elements == "" {
		at, element = 0, "\n"+element
	}
	for _, other := range slices.Backward(elementPattern.FindAllStringSubmatchIndex(elements, -1)) {
		if elements[other[2]:other[3]] > name {
			at = other[0]
		}
	}
	folder := "\t\"" + module + "/hooks/"
	line, imported := imports[1], folder+name+"\"\n"
	if others := bytes.Index(l, []byte(folder)); others >= 0 {
		line = others
	} else {
		imported += "\n"
	}
	text := slices.Insert(slices.Clone(l), all[2]+at, []byte(element)...) // it comes last, and is inserted first
	text = slices.Insert(text, line, []byte(imported)...)
	formatted, err := format.Source(text)
	if err != nil {
		return nil, fmt.Errorf("adding %s to %s: %w", name, listPath, err)
	}
	return formatted, nil
}
