package hooks_test

import (
	"encoding/json"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/metacontroller"
)

const (
	corpusDir  = "../testdata"
	samplesDir = "../deploy/samples"
)

// onlyKind returns the one kind to test, for `make unit KIND=podset`, or nothing
// for all. It asks each time: go test knows of no variable that is read before
// the tests begin, and would take the result of one kind for that of another.
func onlyKind() string { return os.Getenv("OPERETTA_TEST_KIND") }

// thorough asks for every repetition, as `make test` does. Without it each case
// is repeated often enough to find nearly always what chance decides.
func thorough() bool { return os.Getenv("OPERETTA_TEST_THOROUGH") != "" }

// sampled reports whether one of many alike is tried: all of them by the thorough
// tests, and one of so many without, the same in every run.
func sampled(name string, oneOf uint32) bool {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(name))
	return thorough() || hash.Sum32()%oneOf == 0
}

// often is sampled for tests of cases: with `make unit KIND=...` all of them.
func often(name string, oneOf uint32) bool {
	return !testing.Short() || onlyKind() != "" || sampled(name, oneOf)
}

// standardNow is the time of a case that names no other.
var standardNow = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// inner reports whether this is the inner loop of all kinds, which repeats least: each
// case is under each law once, and what chance decides is tried less often.
func inner() bool { return testing.Short() && onlyKind() == "" && !thorough() }

// exchange is a request with the hook that it is for.
type exchange struct {
	name       string // podset/sync/scale-down-keeps-oldest, or a sample's path
	controller metacontroller.Controller
	hook       metacontroller.HookName
	now        time.Time
	request    []byte   // JSON, complete
	company    [][]byte // objects that stand beside a sample
}

// call answers the request.
func (e exchange) call() (metacontroller.Answer, error) {
	return e.controller.Call(e.hook, e.now, e.request)
}

// selected tells whether a kind is to be tested.
func selected(kind string) bool { return onlyKind() == "" || onlyKind() == kind }

// cases returns the selected cases below testdata, whose paths mirror the URLs:
// testdata/<kind>/<hook>/<case>.in.yaml. The requests are shared by all tests:
// whoever damages one damages a copy.
func cases(t testing.TB) []exchange {
	list, err := readCases()
	require.NoError(t, err)
	require.NotEmpty(t, list, "no cases below %s/%s", corpusDir, onlyKind())
	return slices.Clone(list)
}

// readCases reads the files once for all tests.
var readCases = sync.OnceValues(func() ([]exchange, error) {
	read, err := corpus.Read(corpusDir, hooks.All())
	var list []exchange
	for _, c := range read {
		if selected(c.Controller.Name()) {
			list = append(list, exchange{name: c.Name, controller: c.Controller, hook: c.Hook, now: c.Now, request: c.Request})
			remember(c.Request)
		}
	}
	return list, err
})

// samples returns a sync request without children for every selected custom
// resource below deploy/samples, which is the first document of its file.
func samples(t testing.TB) []exchange {
	var list []exchange
	require.NoError(t, filepath.WalkDir(samplesDir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".yaml" || entry.Name() == "kustomization.yaml" {
			return err
		}
		documents := readDocuments(t, path)
		controller := controllerFor(t, documents[0])
		if !selected(controller.Name()) {
			return nil
		}
		request, err := controller.Complete(metacontroller.SyncHook, documents[0])
		if err != nil {
			return err
		}
		list = append(list, exchange{
			name: path, controller: controller, hook: metacontroller.SyncHook, now: standardNow,
			request: request, company: documents[1:],
		})
		return nil
	}))
	require.NotEmpty(t, list, "no samples of %q below %s", onlyKind(), samplesDir)
	return list
}

func controllerOf(t testing.TB, name string) metacontroller.Controller {
	i := slices.IndexFunc(hooks.All(), func(c metacontroller.Controller) bool { return c.Name() == name })
	require.GreaterOrEqual(t, i, 0, "testdata/%s: there is no operator of that name", name)
	return hooks.All()[i]
}

func controllerFor(t testing.TB, parent []byte) metacontroller.Controller {
	var id struct{ APIVersion, Kind string }
	require.NoError(t, json.Unmarshal(parent, &id))
	controller := controllerOf(t, strings.ToLower(id.Kind))
	require.Equal(t, controller.Parent.APIVersion, id.APIVersion)
	return controller
}

// readDocuments reads the documents of a YAML stream.
func readDocuments(t testing.TB, path string) [][]byte {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var documents [][]byte
	for _, document := range strings.Split(string(text), "\n---\n") {
		source, err := yaml.YAMLToJSON([]byte(document))
		require.NoError(t, err, path)
		documents = append(documents, source)
	}
	return documents
}

// childrenOf returns the children of a response.
func childrenOf(t testing.TB, body []byte) []map[string]any {
	var response struct {
		Children []map[string]any `json:"children"`
	}
	require.NoError(t, json.Unmarshal(body, &response))
	return response.Children
}

// refOf returns what tells a child from the others.
func refOf(child map[string]any) string {
	metadata, _ := child["metadata"].(map[string]any)
	apiVersion, _ := child["apiVersion"].(string)
	kind, _ := child["kind"].(string)
	name, _ := metadata["name"].(string)
	return kind + "." + apiVersion + "/" + name
}

// annotationsOf returns a child's annotations, which may be nil.
func annotationsOf(child map[string]any) map[string]any {
	metadata, _ := child["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	return annotations
}
