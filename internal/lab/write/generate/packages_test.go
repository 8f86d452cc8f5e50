package generate

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPackagesAreListedByTheirComments(t *testing.T) {
	const begin, end = "<!-- packages:begin -->\n", "<!-- packages:end -->\n"
	files := map[string]string{
		"go.mod":          "module example.com/m\n\ngo 1.26.0\n",
		"main.go":         "// Command m does it all. The rest says how.\npackage main\n",
		"a/b/b.go":        "// Package b is the second\n// of two.\n//\n// More.\npackage b\n",
		"nested/go.mod":   "module example.com/m/nested\n",
		"nested/n.go":     "// Package nested is of another module.\npackage nested\n",
		"CONTRIBUTING.md": "a\n" + begin + "old\n" + end + "b\n",
	}
	tree := Tree{}
	require.NoError(t, tree.addPackages(t.Context(), place(t, files)))
	require.Equal(t, Tree{"CONTRIBUTING.md": []byte("a\n" + begin + "| package | what |\n| --- | --- |\n| `.` | does it all |\n| `a/b` | the second of two |\n" + end + "b\n")}, tree)

	files["a/a.go"] = "package a\n"
	require.ErrorContains(t, tree.addPackages(t.Context(), place(t, files)), "a has no comment that begins with Package and its name")
	files["a/a.go"] = "package\n"
	require.ErrorContains(t, tree.addPackages(t.Context(), place(t, files)), "listing the packages: ")

	files["CONTRIBUTING.md"], tree = "a\n", Tree{}
	require.NoError(t, tree.addPackages(t.Context(), place(t, files)), "nobody asks for a table")
	delete(files, "CONTRIBUTING.md")
	require.NoError(t, tree.addPackages(t.Context(), place(t, files)))
	require.Empty(t, tree)
}
