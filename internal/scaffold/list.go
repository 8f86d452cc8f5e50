package scaffold

import (
	"bytes"
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

// list is the file with the list of operators.
type list struct{ text []byte }

func readList(root string) (list, error) {
	text, err := documents.ReadBelow(root, listPath)
	if errors.Is(err, fs.ErrNotExist) {
		return list{}, fmt.Errorf("%s has no %s with a function All that lists the operators: run this in the root of such a project, or start one with --module", root, listPath)
	}
	if err != nil {
		return list{}, fmt.Errorf("reading the list of operators: %w", err)
	}
	if formatted, err := format.Source(text); err != nil || !bytes.Equal(formatted, text) {
		return list{}, fmt.Errorf("%s is not as gofmt has it: run gofmt -w %[1]s first", listPath)
	}
	return list{text}, nil
}

// insertion is text that goes into the file at an offset.
type insertion struct {
	offset int
	text   string
}

// with returns the file with one more operator: an import and an element, each
// in alphabetical order.
func (l list) with(module, name string) ([]byte, error) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, listPath, l.text, parser.ParseComments)
	if err != nil {
		return nil, fmt.Errorf("reading the list of operators: %w", err)
	}
	elements := elementsOfAll(parsed)
	if elements == nil {
		return nil, fmt.Errorf("%s has no function All that returns a literal []metacontroller.Controller{...}: add hooks/%s by hand, or write it so", listPath, name)
	}
	offset := func(at token.Pos) int { return files.Position(at).Offset }
	text := slices.Clone(l.text)
	for _, in := range []insertion{newElement(elements, name, files), newImport(parsed, module+"/hooks/"+name, offset)} {
		text = slices.Insert(text, in.offset, []byte(in.text)...) // later insertions come first
	}
	formatted, err := format.Source(text)
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

// newElement returns the insertion of a call of the operator's Controller.
func newElement(list *ast.CompositeLit, name string, files *token.FileSet) insertion {
	call := name + ".Controller()"
	for _, element := range list.Elts {
		if packageOf(element) > name {
			return insertion{files.Position(element.Pos()).Offset, call + ",\n"}
		}
	}
	end := files.Position(list.Rbrace)
	if n := len(list.Elts); n > 0 && files.Position(list.Elts[n-1].End()).Line == end.Line {
		return insertion{files.Position(list.Elts[n-1].End()).Offset, ", " + call}
	}
	if files.Position(list.Lbrace).Line == end.Line {
		return insertion{end.Offset, "\n" + call + ",\n"}
	}
	return insertion{end.Offset, call + ",\n"}
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

// newImport returns the insertion of an import next to those of its folder.
func newImport(parsed *ast.File, path string, offset func(token.Pos) int) insertion {
	quoted := strconv.Quote(path)
	folder := quoted[:strings.LastIndex(quoted, "/")+1]
	for _, declaration := range parsed.Decls {
		imports, ok := declaration.(*ast.GenDecl)
		if !ok || imports.Tok != token.IMPORT || !imports.Lparen.IsValid() {
			continue
		}
		at := insertion{offset(imports.Lparen) + 1, "\n" + quoted + "\n\n"}
		for _, spec := range imports.Specs {
			other := spec.(*ast.ImportSpec)
			switch {
			case !strings.HasPrefix(other.Path.Value, folder):
			case other.Path.Value > quoted:
				return insertion{offset(other.Pos()), quoted + "\n"}
			default:
				at = insertion{offset(other.End()), "\n" + quoted}
			}
		}
		return at
	}
	return insertion{offset(parsed.Name.End()), "\n\nimport " + quoted + "\n"}
}
