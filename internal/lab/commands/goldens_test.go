package commands

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the expected outputs")

// TestGoldens runs the command in the second line of each testdata/COMMAND/CLAIM.in.yaml with that
// file as its standard input, and compares all that it prints with CLAIM.out.txt.
func TestGoldens(t *testing.T) {
	for _, command := range []string{"why", "diff"} {
		inputs, err := filepath.Glob("testdata/" + command + "/*.in.yaml")
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(inputs), 30)
		for _, path := range inputs {
			t.Run(strings.TrimSuffix(filepath.Base(path), ".in.yaml"), func(t *testing.T) {
				input, err := os.ReadFile(path)
				require.NoError(t, err)
				lines := strings.SplitN(string(input), "\n", 3)
				args, found := strings.CutPrefix(lines[1], "# operetta "+command+" ")
				require.True(t, found && strings.HasPrefix(lines[0], "# "), "line 1 says why there is this case, and line 2 the command")
				expected := strings.TrimSuffix(filepath.Base(path), ".in.yaml") + ".out.txt"

				t.Chdir(filepath.Dir(path))
				code, stdout, stderr := operetta(t, string(input), append([]string{command}, strings.Fields(args)...)...)
				printed := fmt.Appendf(nil, "%s%sexit code %d\n", stdout, stderr, code)
				if *update {
					require.NoError(t, os.WriteFile(expected, printed, 0o644))
				}
				kept, err := os.ReadFile(expected)
				require.NoError(t, err, "run make golden, and read what it writes")
				if !bytes.Equal(kept, printed) {
					require.Equal(t, string(kept), string(printed), "if that is right, run make golden")
				}
			})
		}
	}
}

// verbs are what fmt replaces.
var verbs = regexp.MustCompile(`%[-+# 0-9.]*[a-zA-Z]`)

// TestEverySentenceIsInAGolden: whoever changes one sees it. Errors are wrapped by commands, whose tests
// have them.
func TestEverySentenceIsInAGolden(t *testing.T) {
	var printed strings.Builder
	outputs, err := filepath.Glob("testdata/*/*.out.txt")
	require.NoError(t, err)
	for _, path := range outputs {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		printed.Write(text)
	}
	for _, pattern := range []string{"../why/*.go", "../diff/*.go"} {
		sources, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, path := range sources {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			for _, sentence := range sentencesOf(t, path) {
				for _, part := range verbs.Split(sentence, -1) {
					if part = strings.TrimSpace(part); strings.Contains(part, " ") && !strings.Contains(printed.String(), part) && !slices.Contains(elsewhere, part) {
						t.Errorf("%s: no golden has %q: add one, and read it", path, part)
					}
				}
			}
		}
	}
}

// sentencesOf returns the texts of a file that have a space, but for those of errors.
func sentencesOf(t *testing.T, path string) (sentences []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	require.NoError(t, err)
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.CallExpr:
			if called, ok := node.Fun.(*ast.SelectorExpr); ok && (called.Sel.Name == "Errorf" || called.Sel.Name == "New") {
				return false
			}
		case *ast.ImportSpec, *ast.Field:
			return false
		case *ast.BasicLit:
			if text, err := strconv.Unquote(node.Value); err == nil && node.Kind == token.STRING && strings.Contains(strings.TrimSpace(text), " ") {
				sentences = append(sentences, text)
			}
		}
		return true
	})
	return sentences
}

// elsewhere are parts of sentences that no input brings about here.
var elsewhere = []string{
	// what Metacontroller's events begin with
	"can't reconcile children", "Sync error:",
	// how others of them begin, which TestRefusalsAreTakenApart has, and what kubelet and scheduler say
	"Internal error occurred:", "Operation cannot be fulfilled on", "Startup probe", "unbound immediate PersistentVolumeClaims",
	// columns: the table has spaces
	"VERDICT\tKIND\tOBJECTS\tCUSTOM RESOURCES",
	// of a status that is older than the objects, or of objects that the samples do not have
	"condition ChildrenUpdated", "condition Progressing", "ephemeral container status", "no node takes its Pods",
	"it has no status: no operator has seen it yet", "it is being deleted; then the child is created",
	"the load balancer has no address", "the API server's rules", "Metacontroller asks again, with exponential back-off", "(not seen)",
	// TestMarkdownHasABound, TestBaseTellsDriftApart, TestSecretsAreNotPrinted, TestRefusals and TestReplay have them
	"| | and", "more | |", "left out, as there is no room: see `operetta diff`.", "as the base says, too", ", and another",
	"it is refused; the reason may quote a value", "! failed:", "with another answer",
}
