package operettatest

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/internal/declaration"
	"github.com/operetta-dev/operetta/internal/testenv"
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/simulation"
)

// Run tests the operators of a project, each in subtests of its name: the
// answers to its cases are the expected ones, each case and each sample obeys
// the invariants of all operators, cases converge, and samples become Ready,
// recover when a child is deleted, leave nothing behind when they are deleted,
// and keep the operator's invariants under late caches and lost writes. One
// subtest reports what a kind still lacks.
//
// The folder is the root of the project, the controllers are all of its
// operators. With the flag -update the subtests "goldens" write the expected
// answers.
func Run(t *testing.T, dir string, controllers ...metacontroller.Controller) {
	t.Helper()
	RunWith(t, dir, nil, controllers...)
}

// RunWith is [Run] for operators that are also held to invariants of their own.
func RunWith(t *testing.T, dir string, kinds simulation.Kinds, controllers ...metacontroller.Controller) {
	t.Helper()
	require.NoError(t, declaration.Check(controllers...))
	for name := range kinds {
		isOne := slices.ContainsFunc(controllers, func(c metacontroller.Controller) bool { return c.Name() == name })
		require.True(t, isOne, "invariants of %s, which is none of the %d operators: write a kind in lower case", name, len(controllers))
	}
	samples, err := corpus.Samples(filepath.Join(dir, "deploy", "samples"), controllers)
	require.NoError(t, err)
	if testenv.Kind() == "" {
		t.Run("testdata", func(t *testing.T) { belongsToAnOperator(t, dir, controllers) })
	}
	p, tested := project{dir, controllers, kinds, samples}, 0
	if testenv.Kind() == "" {
		t.Run("faults", func(t *testing.T) {
			t.Parallel()
			p.faultsTable(t)
		})
	}
	for _, controller := range controllers {
		if !testenv.Selected(controller.Name()) {
			continue
		}
		tested++
		t.Run(controller.Name(), func(t *testing.T) { newKind(t, controller, p).run(t) })
	}
	if tested == 0 {
		t.Fatalf("OPERETTA_TEST_KIND is %q, which is none of the %d operators: write a kind in lower case", testenv.Kind(), len(controllers))
	}
}

// run runs all checks of a kind. Slow ones have parallel subtests.
func (k kind) run(t *testing.T) {
	for _, part := range []struct {
		name   string
		test   func(kind, *testing.T)
		remedy string
	}{
		{"owes nothing", kind.owesNothing, ""},
		{"goldens", kind.goldens, ""},
		{"files are pairs", kind.filesArePairs, ""},
		{"cases tell their reason", kind.casesTellTheirReason, ""},
		{"definition can be stored", kind.definitionCanBeStored, "change the marker, or the type, and write make generate"},
		{"parents can be stored", kind.parentsCanBeStored, ""},
		{"calls share nothing", kind.callsShareNothing, "keep no variable between calls, and change no value of the declaration"},
		{"invariants", kind.invariants, ""},
		{"customize answers", kind.customizeAnswers, ""},
		{"nothing forged is passed on", kind.nothingForged, ""},
		{"cases converge", kind.casesConverge, ""},
		{"samples become Ready", kind.samplesBecomeReady, ""},
		{"samples tell what is wrong", kind.faultsAreTold, ""},
		{"what belongs together is taken together", kind.whatBelongsTogether,
			"compare a Service or ConfigMap along with its workload, declare it with SharedName, and select it in the customize hook"},
		{"samples survive what is late", kind.samplesSurviveWhatIsLate,
			"operetta explore with the sample and the seed tells it again"},
	} {
		t.Run(part.name, func(t *testing.T) {
			t.Parallel()
			advise(t, part.remedy)
			part.test(k, t)
		})
	}
}

// belongsToAnOperator fails on a file in a folder of no operator.
func belongsToAnOperator(t *testing.T, dir string, controllers []metacontroller.Controller) {
	var names []string
	for _, controller := range controllers {
		names = append(names, controller.Name())
	}
	files, err := fs.Glob(os.DirFS(dir), "testdata/*/*/*.yaml")
	require.NoError(t, err)
	for _, file := range files {
		isOfCase := strings.HasSuffix(file, inEnding) || strings.HasSuffix(file, outEnding)
		if folder := strings.Split(file, "/")[1]; isOfCase && !slices.Contains(names, folder) {
			t.Errorf("%s belongs to no operator: its folder is testdata/<kind>/<hook>, of the kinds %s", file, strings.Join(names, ", "))
		}
	}
}
