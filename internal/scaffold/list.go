package scaffold

import (
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/operetta-dev/operetta/internal/documents"
)

// listPath is where a project lists its operators.
const listPath = "hooks/hooks.go"

// list is the text of the file with the list of operators.
type list []byte

func readList(root string) (list, error) {
	text, err := documents.ReadBelow(root, listPath)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s has no %s with a function All that lists the operators: run this in the root of such a project, or start one with --module", root, listPath)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the list of operators: %w", err)
	}
	return text, nil
}

// with returns the file with one more operator: an import, which gofmt sorts, and an element in
// alphabetical order.
func (l list) with(module, name string) ([]byte, error) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, listPath, []byte(l), parser.ParseComments)
	if err != nil {
		return nil, fmt.Errorf("reading the list of operators: %w", err)
	}
	elements := elementsOfAll(parsed)
	if elements == nil || len(elements.Elts) > 0 && files.Position(elements.Lbrace).Line == files.Position(elements.Rbrace).Line {
		return nil, fmt.Errorf("%s has no function All that returns a literal []metacontroller.Controller{...} with each operator on a line: add hooks/%s by hand, or write it so", listPath, name)
	}
	element, call := elements.Rbrace, name+".Controller(),\n"
	if len(elements.Elts) == 0 {
		call = "\n" + call
	}
	for _, other := range slices.Backward(elements.Elts) {
		if packageOf(other) > name {
			element = other.Pos()
		}
	}
	path := strconv.Quote(module + "/hooks/" + name)
	at, text := newImport(parsed, path)
	offset := files.Position(element).Offset // it comes last, and is inserted first
	all := slices.Insert(slices.Clone(l), offset, []byte(call)...)
	all = slices.Insert(all, files.Position(at).Offset, []byte(text)...)
	formatted, err := format.Source(all)
	if err != nil {
		return nil, fmt.Errorf("adding %s to %s: %w", name, listPath, err)
	}
	return formatted, nil
}

// elementsOfAll returns the literal that the function All returns, or nil.
func elementsOfAll(parsed *ast.File) *ast.CompositeLit {
	for _, declaration := range parsed.Decls {
		all, isFunction := declaration.(*ast.FuncDecl)
		if !isFunction || all.Name.Name != "All" || all.Recv != nil || all.Body == nil || len(all.Body.List) != 1 {
			continue
		}
		if answer, ok := all.Body.List[0].(*ast.ReturnStmt); ok && len(answer.Results) == 1 {
			literal, _ := answer.Results[0].(*ast.CompositeLit)
			return literal
		}
	}
	return nil
}

// packageOf returns the package of an element such as modelbox.Controller().
func packageOf(element ast.Expr) string {
	call, _ := element.(*ast.CallExpr)
	if call == nil {
		return ""
	}
	if selector, ok := call.Fun.(*ast.SelectorExpr); ok {
		if name, ok := selector.X.(*ast.Ident); ok {
			return name.Name
		}
	}
	return ""
}

// newImport returns the text of an import, and where it goes: to those of its folder.
func newImport(parsed *ast.File, path string) (token.Pos, string) {
	folder := path[:strings.LastIndex(path, "/")+1]
	for _, other := range parsed.Imports {
		if strings.HasPrefix(other.Path.Value, folder) {
			return other.Pos(), path + "\n"
		}
	}
	for _, declaration := range parsed.Decls {
		if imports, ok := declaration.(*ast.GenDecl); ok && imports.Tok == token.IMPORT && imports.Lparen.IsValid() {
			return imports.Lparen + 1, "\n" + path + "\n\n"
		}
	}
	return parsed.Name.End(), "\n\nimport " + path + "\n"
}
