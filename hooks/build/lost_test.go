package build_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
)

// afterwards returns the request that follows an answer of which the status was
// lost: the Jobs are as the answer left them. Whether those that were made are
// observed yet is another matter.
func afterwards(t testing.TB, g golden, isObserved bool) object {
	request := decoded(t, g.Case)
	kept := g.answer.kept()
	for key, job := range group(request, "children", jobs) {
		if !slices.Contains(kept, job.(object)["metadata"].(object)["name"].(string)) {
			delete(group(request, "children", jobs), key)
		}
	}
	for _, name := range g.answer.made() {
		if isObserved {
			put(request, "children", jobs, object{
				"apiVersion": "batch/v1", "kind": "Job", "spec": object{},
				"metadata": object{"name": name, "namespace": "default", "uid": "made"},
			})
		}
	}
	return request
}

// running returns the names of the Jobs of a request that have not ended.
func running(request object) (names []string) {
	for _, entry := range group(request, "children", jobs) {
		job := entry.(object)
		status, _ := job["status"].(object)
		conditions, _ := status["conditions"].([]any)
		isOver := slices.ContainsFunc(conditions, func(c any) bool {
			kind := c.(object)["type"]
			return kind == "Complete" || kind == "Failed"
		})
		if !isOver {
			names = append(names, job["metadata"].(object)["name"].(string))
		}
	}
	return names
}

// TestLostStatusOfACase loses the status that answers each case, and asks again:
// with the same spec, and after an edit. What was told is told again, and no
// second build begins.
func TestLostStatusOfACase(t *testing.T) {
	made := 0
	for _, g := range goldens(t) {
		allows := decoded(t, g.Case)["parent"].(object)["spec"].(object)["concurrencyPolicy"] == "Allow"
		for _, isObserved := range []bool{true, false} {
			request := afterwards(t, g, isObserved)
			again, err := ask(t, g.Case, request)
			require.NoError(t, err, g.Name)
			require.Subset(t, again.results(), g.answer.results(), g.Name)
			require.Subset(t, g.answer.made(), again.made(), g.Name)

			runs := append(running(request), g.answer.made()...)
			edited := runtime.DeepCopyJSON(request)
			parent := edited["parent"].(object)
			parent["spec"].(object)["source"].(object)["git"].(object)["revision"] = "edited"
			generation, _ := parent["metadata"].(object)["generation"].(float64)
			parent["metadata"].(object)["generation"] = max(1, generation) + 1
			after, err := ask(t, g.Case, edited)
			require.NoError(t, err, g.Name)
			if len(runs) > 0 && !allows {
				require.Empty(t, after.made(), "%s: beside %v", g.Name, runs)
				made += len(g.answer.made())
			}
		}
	}
	require.Positive(t, made)
}
