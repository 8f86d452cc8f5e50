package record

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// Forms are compiled when they are first used, which must not be in a server.
func TestEachFormCompiles(t *testing.T) {
	paths, err := filepath.Glob("*.go")
	require.NoError(t, err)
	found := 0
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(node ast.Node) bool {
			call, isCall := node.(*ast.CallExpr)
			if !isCall {
				return true
			}
			name, isName := call.Fun.(*ast.Ident)
			if !isName || name.Name != "newForm" {
				return true
			}
			literal, isLiteral := call.Args[0].(*ast.BasicLit)
			require.True(t, isLiteral, "%s: write the expression here", path)
			text, err := strconv.Unquote(literal.Value)
			require.NoError(t, err)
			_, err = regexp.Compile(text)
			require.NoError(t, err, path)
			found++
			return true
		})
	}
	require.Greater(t, found, 30)
}
