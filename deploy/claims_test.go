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
	claimed = regexp.MustCompile("`(Test[A-Za-z]+)`")
	// law is what a subtest of every operator is named, which the page names with a colon.
	law = regexp.MustCompile("`TestOperators`: ([a-z][^,|`]*[a-z])")
	// declared is a test, or one of those that TestModes runs in e2e/live.
	declared = regexp.MustCompile(`(?m)^func [Tt](est[A-Za-z]+)\(`)
)

// TestClaimsAreShown wants a test for each name by which the page on security
// backs a claim.
func TestClaimsAreShown(t *testing.T) {
	tests := map[string]bool{}
	require.NoError(t, filepath.WalkDir("..", func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, match := range declared.FindAllStringSubmatch(string(text), -1) {
			tests["T"+match[1]] = true
		}
		return err
	}))
	page, err := os.ReadFile("../docs/security.md")
	require.NoError(t, err)
	names := claimed.FindAllStringSubmatch(string(page), -1)
	require.NotEmpty(t, names)
	for _, name := range names {
		require.True(t, tests[name[1]], "docs/security.md names %s, and there is no such test", name[1])
	}
	var kit strings.Builder
	paths, err := filepath.Glob("../operettatest/*.go")
	require.NoError(t, err)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		kit.Write(text)
	}
	laws := law.FindAllStringSubmatch(string(page), -1)
	require.NotEmpty(t, laws)
	for _, name := range laws {
		require.Contains(t, kit.String(), strconv.Quote(name[1]), "docs/security.md names the subtest %q of TestOperators, and there is none", name[1])
	}
}
