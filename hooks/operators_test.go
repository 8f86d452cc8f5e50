package hooks_test

import (
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/hooks/invariants"
	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/internal/documents"
	"github.com/operetta-dev/operetta/internal/testenv"
	"github.com/operetta-dev/operetta/operettatest"
)

// TestOperators runs what every operator is held to: go test ./hooks -run TestOperators/podset
func TestOperators(t *testing.T) { operettatest.RunWith(t, "..", invariants.All(), hooks.All()...) }

// FuzzHooks fuzzes the hooks of all operators, or with OPERETTA_TEST_KIND those of one.
func FuzzHooks(f *testing.F) { operettatest.Fuzz(f, "..", hooks.All()...) }

// TestOperatorsAreSorted keeps the list in the order in which the documentation and
// the generated manifests have it.
func TestOperatorsAreSorted(t *testing.T) {
	var last string
	for _, controller := range hooks.All() {
		require.Less(t, last, controller.Name())
		last = controller.Name()
	}
}

// TestKindsOweNothingHere tells what a kind lacks that this repository wants of each,
// besides what operettatest wants of all.
func TestKindsOweNothingHere(t *testing.T) {
	for _, controller := range hooks.All() {
		name, kind := controller.Name(), controller.Parent.Kind
		if !testenv.Selected(name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			for file, what := range map[string]string{
				"testdata/explore/" + name + ".yaml": "a small " + kind + " to be explored",
				name + "/testdata/rules.yaml":        "a bad and a good object for each rule of its CRD",
				"../docs/" + name + ".md":            "a page for its users",
				name + "/invariants/invariants.go":   "what it promises, whatever is late or lost",
			} {
				if _, err := os.Stat(file); err != nil {
					t.Errorf("%s still owes %s: write %s", kind, what, path.Join("hooks", file))
				}
			}
			if promised := invariants.All()[name]; promised.Watch == nil && promised.History == nil {
				t.Errorf("%s promises nothing: write a line into hooks/invariants/invariants.go", kind)
			}
		})
	}
}

// TestInvariantsKnowTheirOwnKindAlone is what the linter cannot say.
func TestInvariantsKnowTheirOwnKindAlone(t *testing.T) {
	const folder = "github.com/operetta-dev/operetta/hooks/"
	files, err := filepath.Glob("*/invariants/*.go")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		require.NoError(t, err)
		kind, _, _ := strings.Cut(file, "/")
		for _, imported := range parsed.Imports {
			if other, isKind := strings.CutPrefix(imported.Path.Value, `"`+folder); isKind {
				require.Equal(t, kind+`"`, other, file)
			}
		}
	}
}

// cases returns the cases of the selected operators.
func cases(t testing.TB) []corpus.Case {
	var list []corpus.Case
	for _, controller := range hooks.All() {
		if !testenv.Selected(controller.Name()) {
			continue
		}
		read, err := corpus.ReadKind("../testdata", controller)
		require.NoError(t, err)
		require.NotEmpty(t, read, controller.Name())
		list = append(list, read...)
	}
	return list
}

// samples returns the samples of the selected operators.
func samples(t testing.TB) []corpus.Sample {
	read, err := corpus.Samples("../deploy/samples", hooks.All())
	require.NoError(t, err)
	var list []corpus.Sample
	for _, sample := range read {
		if testenv.Selected(sample.Controller.Name()) {
			list = append(list, sample)
		}
	}
	require.NotEmpty(t, list, "no samples of %q", testenv.Kind())
	return list
}

// readDocuments reads the documents of a YAML stream.
func readDocuments(t testing.TB, path string) [][]byte {
	text, err := documents.ReadFile(filepath.FromSlash(path))
	require.NoError(t, err)
	parts, err := documents.Split(text)
	require.NoError(t, err)
	objects := make([][]byte, len(parts))
	for i, part := range parts {
		objects[i], err = documents.ToJSON(part)
		require.NoError(t, err)
	}
	return objects
}
