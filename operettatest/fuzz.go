package operettatest

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/internal/testenv"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Fuzz looks for a request that makes a hook of the operators panic, take long
// or return an answer that is harmful to Metacontroller. It starts from the
// cases of the project in dir, and from each of them with values replaced by
// those of other types: random changes of bytes are hardly ever JSON, and so
// hardly ever reach the hook. With OPERETTA_TEST_KIND only the hooks of that
// kind are called.
func Fuzz(f *testing.F, dir string, controllers ...metacontroller.Controller) {
	f.Helper()
	hooks := map[string]corpus.Case{} // by what is asked, as in podset/sync
	for _, controller := range controllers {
		if !testenv.Selected(controller.Name()) {
			continue
		}
		cases, err := corpus.ReadKind(filepath.Join(dir, "testdata"), controller)
		require.NoError(f, err)
		if len(cases) == 0 {
			f.Errorf("%s has no case to start from: write testdata/%s/sync/<what-it-shows>.in.yaml", controller.Parent.Kind, controller.Name())
		}
		for _, hook := range controller.Hooks() {
			name := controller.Name() + "/" + string(hook)
			hooks[name] = corpus.Case{Controller: controller, Hook: hook, Now: corpus.StandardNow}
			addSeeds(f, name, slices.DeleteFunc(slices.Clone(cases), func(c corpus.Case) bool { return !strings.HasPrefix(c.Name, name+"/") }))
		}
	}
	f.Fuzz(func(t *testing.T, name string, request []byte, place uint16, value []byte) {
		t.Parallel()
		c, known := hooks[name]
		if !known {
			t.Skip("there is no such hook")
		}
		c.Request = replaced(request, place, value)
		start := time.Now()
		answer, err := c.Call()
		require.Less(t, time.Since(start), time.Minute, "the hook hangs")
		if err != nil {
			require.Nil(t, answer.Body)
			require.NotContains(t, err.Error(), "\n")
			return
		}
		requireSafe(t, c.Controller, c.Hook, answer.Body)
	})
}

// addSeeds adds the cases of a hook. They resemble each other, so the places to
// replace are divided among them.
func addSeeds(f *testing.F, name string, cases []corpus.Case) {
	first, step := 0, 1
	for _, c := range cases {
		f.Add(name, c.Request, uint16(0), []byte{})
		if !testenv.Thorough() {
			step = 4
			if testenv.Inner() {
				step = 23 // no divisor of the number of values, so that each case gets all of them
			}
			first = (first + 1) % step
		}
		for i := first; i < min(countValues(parsed(f, c.Request)), 300); i += step {
			value, err := json.Marshal(oddValues[i%len(oddValues)])
			require.NoError(f, err)
			f.Add(name, c.Request, uint16(i+1), value)
		}
	}
}

// requireSafe checks that a response does not harm Metacontroller, with code of
// its own.
func requireSafe(t testing.TB, controller metacontroller.Controller, hook metacontroller.HookName, body []byte) {
	var response struct {
		Status             object                 `json:"status"`
		Children           []object               `json:"children"`
		ResyncAfterSeconds float64                `json:"resyncAfterSeconds"`
		Finalized          bool                   `json:"finalized"`
		RelatedResources   *[]metacontroller.Rule `json:"relatedResources"`
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&response))
	if hook == metacontroller.CustomizeHook {
		require.NotNil(t, response.RelatedResources)
		return
	}
	require.NotNil(t, response.Status)
	require.NotNil(t, response.Children)
	require.True(t, hook == metacontroller.FinalizeHook || !response.Finalized)
	refs := map[string]bool{}
	for _, child := range response.Children {
		require.True(t, slices.ContainsFunc(controller.Children, func(declared metacontroller.Child) bool {
			return child["apiVersion"] == declared.APIVersion && child["kind"] == declared.Kind
		}))
		require.Empty(t, validation.IsDNS1123Subdomain(nameOf(child)))
		require.False(t, refs[corpus.Ref(child)], "%s stands twice", corpus.Ref(child))
		require.NotContains(t, child, "status")
		for member := range child["metadata"].(object) {
			require.Contains(t, []string{"name", "namespace", "labels", "annotations"}, member)
		}
		refs[corpus.Ref(child)] = true
	}
}
