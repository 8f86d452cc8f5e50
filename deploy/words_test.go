package deploy_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// unclear are forms of sentences that readers had to read twice, with what to write instead.
var unclear = map[string]*regexp.Regexp{
	"repeat the noun instead of that of, those of":    regexp.MustCompile(`\b[Tt]h(at|ose) of\b`),
	"name the subject first: Of ... stands in front":  regexp.MustCompile(`(^|[.:;|] )Of (a|an|the|these|those|what|several|all|each|ready|one|its|some)\b`),
	"write because instead of , for":                  regexp.MustCompile(`, for (it|they|he|there|a|an|the|each|every|no|two|only|otherwise)( [a-z]+){1,3} (is|are|may|might|can|cannot|has|have|would|will|does|do|needs?|takes?)\b`),
	"repeat the noun instead of one that, one with":   regexp.MustCompile(`(^|[.:;|] )One (that|which|with|without|whose)\b|\bthat one (that|which)\b`),
	"write delete, block, create instead of let go":   regexp.MustCompile(`\b(lets?|letting) go\b|\bh[eo]lds? (back|up)\b|\bcomes? to rest\b`),
	"write are deleted instead of go":                 regexp.MustCompile(`\b([Jj]ob|[Pp]ods?|[Ss]ervice|volumes?|children|[Rr]ole|the old one) (goes|go|has gone|have gone)\b`),
	"write except, instead of but for":                regexp.MustCompile(`\bbut for\b`),
	"write again, anyone, whose instead of old words": regexp.MustCompile(`\banew\b|\bwhoever\b|\bthereof\b|\bof whose\b`),
	"say invariant, schedule: a term has one word":    regexp.MustCompile(`\b[Ll]aws?\b|\bstor(y|ies) of\b`),
}

// wording returns what is unclear in a sentence.
func wording(text string) []string {
	var found []string
	for _, instead := range slices.Sorted(maps.Keys(unclear)) {
		for _, match := range unclear[instead].FindAllString(text, -1) {
			found = append(found, strings.TrimSpace(match)+": "+instead)
		}
	}
	return found
}

// TestPagesAreReadOnce looks for the forms in the documentation, without what is code.
func TestPagesAreReadOnce(t *testing.T) {
	code := regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	for _, path := range matching(t, "../*.md", "../docs/*.md") {
		if filepath.Base(path) == "faults.md" || filepath.Base(path) == "CHANGELOG.md" {
			continue // made of messages, and of the past
		}
		text := code.ReplaceAllStringFunc(page(t, path), func(code string) string { return strings.Repeat("\n", strings.Count(code, "\n")) + "code" })
		for i, line := range strings.Split(text, "\n") {
			for _, found := range wording(line) {
				t.Errorf("%s:%d: %s", path, i+1, found)
			}
		}
	}
}

// TestMessagesAreReadOnce looks for the forms in the texts of the programs and in the descriptions of fields.
func TestMessagesAreReadOnce(t *testing.T) {
	files := token.NewFileSet()
	count := 0
	check := func(at token.Pos, text string) {
		count++
		for _, found := range wording(text) {
			t.Errorf("%s: %s", files.Position(at), found)
		}
	}
	require.NoError(t, filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{"node_modules", "testdata", ".git", "bin", "dist", "e2e", "web"}, entry.Name()):
			return filepath.SkipDir
		case filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(entry.Name(), "zz_"):
			return nil
		}
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				if text, err := strconv.Unquote(literal.Value); err == nil && strings.Count(text, " ") >= 3 {
					check(literal.Pos(), text)
				}
			}
			return true
		})
		if strings.Contains(filepath.Base(path), "types") && strings.Contains(path, "hooks") { // kubectl explain shows them
			for _, group := range file.Comments {
				check(group.Pos(), strings.ReplaceAll(group.Text(), "\n", " "))
			}
		}
		return nil
	}))
	require.Greater(t, count, 1000)
}
