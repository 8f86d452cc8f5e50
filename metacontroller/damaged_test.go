package metacontroller

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDamagedRequestIsNeverAnswered cuts a request, and puts values of other types in
// the place of everything that tells which objects it is about: an answer would be
// about a world that is not there.
func TestDamagedRequestIsNeverAnswered(t *testing.T) {
	controller := controllerOf(func(*greeting, Observed) (greetingResult, error) {
		return greetingResult{Status: map[string]any{}, Children: []Object{configMap("a")}}, nil
	})
	for _, hook := range []HookName{SyncHook, FinalizeHook} {
		whole := ask(hook == FinalizeHook, observed("ConfigMap", "a", ""), observed("Pod", "b", "")+","+observed("Pod", "c", ""))
		_, err := controller.Call(hook, noon, whole)
		require.NoError(t, err, "what is not damaged is answered")
		refuse := func(how string, request []byte) {
			answer, err := controller.Call(hook, noon, request)
			require.Error(t, err, "%s: %s", hook, how)
			require.True(t, IsRequestError(err), "%s: %s: %s", hook, how, err)
			require.Nil(t, answer.Body, how)
			require.NotContains(t, err.Error(), "\n", how)
		}
		for cut := range len(whole) {
			refuse(fmt.Sprintf("cut after %d bytes", cut), whole[:cut])
		}
		refuse("trailing bytes", append(slices.Clone(whole), '}'))
		for _, body := range []string{"null", "{}", "[]", `""`, "1", `{"parent":null}`, `{"parent":[]}`} {
			refuse(body, []byte(body))
		}
		for _, path := range damagedPaths(hook) {
			for _, value := range []any{nil, 1.0, "damaged", []any{}, map[string]any{}} {
				var request map[string]any
				require.NoError(t, json.Unmarshal(whole, &request))
				if !damage(request, strings.Split(path, " "), value) {
					continue
				}
				body, err := json.Marshal(request)
				require.NoError(t, err)
				refuse(fmt.Sprintf("%s is %v", path, value), body)
			}
		}
	}
}

// damagedPaths returns the places without which a request is not understood: what
// tells which object is meant and, but for a teardown, what a hook reads of it.
func damagedPaths(hook HookName) []string {
	paths := []string{"parent", "parent apiVersion", "parent kind", "parent metadata", "children", "related", "children ConfigMap.v1", "children Pod.v1"}
	for _, object := range []string{"children ConfigMap.v1 ns/a", "children Pod.v1 ns/b"} {
		members := []string{"apiVersion", "kind", "metadata", "metadata name", "metadata namespace"}
		if hook == SyncHook {
			members = append(members, "spec", "status", "metadata labels", "metadata annotations")
		}
		paths = append(paths, object)
		for _, member := range members {
			paths = append(paths, object+" "+member)
		}
	}
	return paths
}

// damage puts a value at a place, and reports whether it is wrong there.
func damage(request map[string]any, path []string, value any) bool {
	last := path[len(path)-1]
	at := request
	for _, name := range path[:len(path)-1] {
		at = at[name].(map[string]any)
	}
	_, isObject := value.(map[string]any)
	_, isText := value.(string)
	switch last {
	case "ConfigMap.v1", "Pod.v1": // there are none of a kind
		if isObject {
			return false
		}
	case "related", "spec", "status", "labels", "annotations": // may be absent or empty
		if isObject || value == nil {
			return false
		}
	case "name":
		if isText {
			return false
		}
	}
	at[last] = value
	return true
}
