package deploy_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	claimed = regexp.MustCompile("`(Test[A-Za-z]+)((?:/[^`]*)?)`")
	// law is what a subtest of every operator is named, which the page names with a colon.
	law = regexp.MustCompile("`TestOperators`: ([a-z][^,|`]*[a-z])")
	// declared is a test that go test -run finds.
	declared = regexp.MustCompile(`(?m)^func (Test[A-Za-z]+)\(`)
	// goDoc is a package that go doc is to show.
	goDoc = regexp.MustCompile(`go doc (?:github.com/operetta-dev/operetta|\.)/([a-z/]+)`)
)

// TestClaimsAreShown wants a test for each name by which a page backs a claim, one that -run finds, and
// a package for each that go doc is to show.
func TestClaimsAreShown(t *testing.T) {
	tests, sources := map[string]bool{}, strings.Builder{}
	require.NoError(t, filepath.WalkDir("..", func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, match := range declared.FindAllStringSubmatch(string(text), -1) {
			tests[match[1]] = true
		}
		sources.Write(text)
		return err
	}))
	pages, err := filepath.Glob("../docs/*.md")
	require.NoError(t, err)
	for _, path := range append(pages, "../README.md", "../CONTRIBUTING.md", "../SECURITY.md") {
		text := page(t, path)
		for _, name := range claimed.FindAllStringSubmatch(text, -1) {
			require.True(t, tests[name[1]], "%s names %s, and there is no such test", path, name[1])
			if name[2] != "" {
				require.Contains(t, sources.String(), strconv.Quote(name[2][strings.LastIndexByte(name[2], '/')+1:]), "%s names %s", path, name[0])
			}
		}
		for _, name := range goDoc.FindAllStringSubmatch(text, -1) {
			require.DirExists(t, filepath.Join("..", strings.TrimSuffix(name[1], "/")), "%s: %s", path, name[0])
		}
	}
	security := page(t, "../docs/security.md")
	require.NotEmpty(t, claimed.FindAllString(security, -1))
	var kit strings.Builder
	paths, err := filepath.Glob("../operettatest/*.go")
	require.NoError(t, err)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		kit.Write(text)
	}
	laws := law.FindAllStringSubmatch(security, -1)
	require.NotEmpty(t, laws)
	for _, name := range laws {
		require.Contains(t, kit.String(), strconv.Quote(name[1]), "docs/security.md names the subtest %q of TestOperators, and there is none", name[1])
	}
}
