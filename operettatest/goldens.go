package operettatest

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/metacontroller"
)

// The endings of the two files of a case.
const (
	inEnding  = ".in.yaml"
	outEnding = ".out.yaml"
)

// update is the flag -update, which other golden packages define, too.
var update = func() func() bool {
	const name = "update"
	if flag.Lookup(name) == nil {
		flag.Bool(name, false, "write the expected answers to the cases below testdata")
	}
	return func() bool { return flag.Lookup(name).Value.String() == "true" }
}()

// path returns the path of a file of a case.
func (k kind) path(c corpus.Case, ending string) string {
	return filepath.Join(k.dir, "testdata", filepath.FromSlash(c.Name)+ending)
}

// goldens compares the answer to every case with the file beside it.
func (k kind) goldens(t *testing.T) {
	k.each(t, k.cases, func(t *testing.T, c corpus.Case) {
		path := k.path(c, outEnding)
		got, err := c.Print()
		require.NoError(t, err)
		if update() {
			require.NoError(t, os.WriteFile(path, got, 0o644)) // everyone may read it
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err, "the case has no answer yet: run go test with -update, and read what it writes")
		require.Equal(t, string(want), string(got), "run go test with -update if this is meant, and read the diff of %s", path)
	})
}

// filesArePairs fails on an answer without a case and on any other file.
func (k kind) filesArePairs(t *testing.T) {
	known := map[string]bool{}
	for _, c := range k.cases {
		known[k.path(c, "")] = true
	}
	root := filepath.Join(k.dir, "testdata", k.Name())
	_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil // a missing folder has no files
		}
		if name := strings.TrimSuffix(strings.TrimSuffix(path, inEnding), outEnding); !known[name] {
			t.Errorf("%s belongs to no case: there is no %s%s; remove it, or write the case", path, filepath.Base(name), inEnding)
		}
		return nil
	})
}

// casesTellTheirReason requires the first line of every case to be a comment
// with its reason.
func (k kind) casesTellTheirReason(t *testing.T) {
	for _, c := range k.cases {
		path := k.path(c, inEnding)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		if !bytes.HasPrefix(text, []byte("# ")) {
			t.Errorf("%s does not begin with a comment: write why the case is there in its first line", path)
		}
	}
}

// owesNothing fails with what a kind still lacks to be tested, and the file to
// write.
func (k kind) owesNothing(t *testing.T) {
	if owed := k.owed(); len(owed) > 0 {
		t.Errorf("%s still owes:\n- %s", k.Parent.Kind, strings.Join(owed, "\n- "))
	}
}

// owed returns what is missing, each with what to write where.
func (k kind) owed() []string {
	var owed []string
	if k.CRD == nil {
		owed = append(owed, "a CustomResourceDefinition: set Controller.CRD, so that nobody asks the hooks about what it refuses")
	}
	for _, hook := range k.ownHooks() {
		if !slices.ContainsFunc(k.cases, func(c corpus.Case) bool { return c.Hook == hook }) {
			owed = append(owed, fmt.Sprintf("a case of its %s hook: write testdata/%s/%[1]s/<what-it-shows>.in.yaml,"+
				" which begins with a comment that tells its reason and holds a %s, and run go test with -update", hook, k.Name(), k.Parent.Kind))
		}
	}
	if len(k.Children) > 0 && len(k.cases) > 0 && !slices.ContainsFunc(k.cases, observesChildren) {
		owed = append(owed, fmt.Sprintf("a case with observed children: write testdata/%s/sync/<what-it-shows>.in.yaml with parent:"+
			" and children:, as `simulate` and `serve --record` show them", k.Name()))
	}
	if len(k.samples) == 0 {
		owed = append(owed, fmt.Sprintf("a sample: write deploy/samples/%s.yaml, a %s as a user would write it", k.Name(), k.Parent.Kind))
	}
	return owed
}

// ownHooks returns the hooks that the operator's author has written, without
// the default finalize hook.
func (k kind) ownHooks() []metacontroller.HookName {
	return slices.DeleteFunc(k.Hooks(), func(hook metacontroller.HookName) bool {
		return hook == metacontroller.FinalizeHook && reflect.ValueOf(k.Finalize).IsZero()
	})
}

// observesChildren reports whether a case has observed children and is answered
// without an error.
func observesChildren(c corpus.Case) bool {
	answer, err := c.Call()
	return err == nil && answer.Observed > 0
}
