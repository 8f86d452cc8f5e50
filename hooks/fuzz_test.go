package hooks_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/metacontroller"
)

// One target for each hook of each kind, as the fuzzer takes one at a time:
// go test ./hooks -run '^$' -fuzz '^FuzzModelBoxSync$' -fuzztime 1m

func FuzzBuildSync(f *testing.F)            { fuzz(f, "build", metacontroller.SyncHook) }
func FuzzBuildFinalize(f *testing.F)        { fuzz(f, "build", metacontroller.FinalizeHook) }
func FuzzBuildCustomize(f *testing.F)       { fuzz(f, "build", metacontroller.CustomizeHook) }
func FuzzDataServiceSync(f *testing.F)      { fuzz(f, "dataservice", metacontroller.SyncHook) }
func FuzzDataServiceFinalize(f *testing.F)  { fuzz(f, "dataservice", metacontroller.FinalizeHook) }
func FuzzDataServiceCustomize(f *testing.F) { fuzz(f, "dataservice", metacontroller.CustomizeHook) }
func FuzzModelBoxSync(f *testing.F)         { fuzz(f, "modelbox", metacontroller.SyncHook) }
func FuzzModelBoxFinalize(f *testing.F)     { fuzz(f, "modelbox", metacontroller.FinalizeHook) }
func FuzzModelBoxCustomize(f *testing.F)    { fuzz(f, "modelbox", metacontroller.CustomizeHook) }
func FuzzMyJobSync(f *testing.F)            { fuzz(f, "myjob", metacontroller.SyncHook) }
func FuzzMyJobFinalize(f *testing.F)        { fuzz(f, "myjob", metacontroller.FinalizeHook) }
func FuzzPodSetSync(f *testing.F)           { fuzz(f, "podset", metacontroller.SyncHook) }
func FuzzPodSetFinalize(f *testing.F)       { fuzz(f, "podset", metacontroller.FinalizeHook) }

func FuzzPodBuggerToolSync(f *testing.F) { fuzz(f, "podbuggertool", metacontroller.SyncHook) }
func FuzzPodBuggerToolFinalize(f *testing.F) {
	fuzz(f, "podbuggertool", metacontroller.FinalizeHook)
}
func FuzzPodBuggerToolCustomize(f *testing.F) {
	fuzz(f, "podbuggertool", metacontroller.CustomizeHook)
}

// TestEveryHookIsFuzzed fails when a hook has no target above.
func TestEveryHookIsFuzzed(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "fuzz_test.go", nil, 0)
	require.NoError(t, err)
	targets := map[string]bool{}
	for _, declaration := range file.Decls {
		if function, ok := declaration.(*ast.FuncDecl); ok {
			targets[strings.ToLower(function.Name.Name)] = true
		}
	}
	for _, controller := range hooks.All() {
		for _, hook := range controller.Hooks() {
			require.True(t, targets["fuzz"+controller.Name()+string(hook)], "%s/%s has no fuzz target", controller.Name(), hook)
		}
	}
}

// fuzz starts from the cases of a hook, and from each of them with values of
// other types in places all over it: one that is replaced by chance as bytes is
// hardly ever JSON, and so hardly ever reaches the hook.
func fuzz(f *testing.F, kind string, hook metacontroller.HookName) {
	if !selected(kind) {
		f.Skipf("only %s is tested", onlyKind())
	}
	values := []string{`null`, `0`, `-1`, `1e99`, `"x"`, `""`, `[]`, `[null]`, `{}`, `{"a":null}`, `"99999999999"`, `true`}
	first, step := 0, 1
	for _, e := range cases(f) {
		if e.controller.Name() != kind || e.hook != hook {
			continue
		}
		f.Add(e.request, uint16(0), []byte{})
		// The cases of a hook resemble each other, so that they can share the
		// places among them.
		if !thorough() {
			step = 4
			if inner() {
				step = 11 // no divisor of the number of values, so that a case has all of them
			}
			first = (first + 1) % step
		}
		for i := first; i < min(countValues(parsed(f, e.request)), 300); i += step {
			f.Add(e.request, uint16(i+1), []byte(values[i%len(values)]))
		}
	}
	controller := controllerOf(f, kind)
	f.Fuzz(func(t *testing.T, request []byte, place uint16, value []byte) {
		t.Parallel()
		request = replaced(request, place, value)
		start := time.Now()
		answer, err := controller.Call(hook, standardNow, request)
		require.Less(t, time.Since(start), 5*time.Second+time.Duration(len(request))*time.Microsecond)
		if err != nil {
			require.Nil(t, answer.Body)
			require.NotContains(t, err.Error(), "\n")
			return
		}
		requireSafe(t, controller, hook, answer.Body)
	})
}

// requireSafe checks a response as Metacontroller would suffer from it, without
// any of the code that made it.
func requireSafe(t testing.TB, controller metacontroller.Controller, hook metacontroller.HookName, body []byte) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if hook == metacontroller.CustomizeHook {
		var response struct {
			RelatedResources []map[string]any `json:"relatedResources"`
		}
		require.NoError(t, decoder.Decode(&response))
		require.NotNil(t, response.RelatedResources)
		return
	}
	var response struct {
		Status             map[string]any   `json:"status"`
		Children           []map[string]any `json:"children"`
		ResyncAfterSeconds float64          `json:"resyncAfterSeconds"`
		Finalized          bool             `json:"finalized"`
	}
	require.NoError(t, decoder.Decode(&response))
	require.NotNil(t, response.Status)
	require.NotNil(t, response.Children)
	require.True(t, hook == metacontroller.FinalizeHook || !response.Finalized)
	refs := map[string]bool{}
	for _, child := range response.Children {
		require.NotNil(t, child)
		require.True(t, slices.ContainsFunc(controller.Children, func(declared metacontroller.Child) bool {
			return child["apiVersion"] == declared.APIVersion && child["kind"] == declared.Kind
		}))
		name, _ := child["metadata"].(map[string]any)["name"].(string)
		require.Empty(t, validation.IsDNS1123Subdomain(name))
		require.False(t, refs[refOf(child)], "%s stands twice", refOf(child))
		refs[refOf(child)] = true
	}
}

// replaced replaces the value at a place of a JSON text, counted in the order
// of the sorted names.
func replaced(request []byte, place uint16, value []byte) []byte {
	var root, replacement any
	if place == 0 || json.Unmarshal(request, &root) != nil || json.Unmarshal(value, &replacement) != nil {
		return request
	}
	left := int(place)
	changed, err := json.Marshal(replaceValue(root, &left, replacement))
	if err != nil {
		return request
	}
	return changed
}

func replaceValue(at any, left *int, replacement any) any {
	if *left--; *left == 0 {
		return replacement
	}
	switch at := at.(type) {
	case map[string]any:
		keys := make([]string, 0, len(at))
		for key := range at {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for _, key := range keys {
			at[key] = replaceValue(at[key], left, replacement)
		}
	case []any:
		for i := range at {
			at[i] = replaceValue(at[i], left, replacement)
		}
	}
	return at
}

func countValues(at any) int {
	count := 1
	switch at := at.(type) {
	case map[string]any:
		for _, member := range at {
			count += countValues(member)
		}
	case []any:
		for _, item := range at {
			count += countValues(item)
		}
	}
	return count
}
