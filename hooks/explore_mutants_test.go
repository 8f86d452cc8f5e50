package hooks_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/internal/lab/explore"
	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/internal/testenv"
)

// mutants are ways to break an answer, each of which a law is there to find.
var mutants = []struct {
	name, scenario, law string
	change              func(request, answer map[string]any) int
}{
	{"a child twice", "modelbox", "no answer names a child twice", func(_, answer map[string]any) int {
		children := answer["children"].([]any)
		answer["children"] = append(children, children...)
		return http.StatusOK
	}},
	{"no answer to an edit", "podset", "a hook answers whatever its CRD admits", func(request, _ map[string]any) int {
		if generation(request) > 1 {
			return http.StatusInternalServerError
		}
		return http.StatusOK
	}},
	{"an edit deletes all", "modelbox", "what the old and the new spec want is never deleted", func(request, answer map[string]any) int {
		if observed, _ := statusOf(request)["observedGeneration"].(float64); observed > 0 && int64(observed) < generation(request) {
			answer["children"] = []any{}
		}
		return http.StatusOK
	}},
	{"Ready as soon as there is a child", "modelbox", "Ready is True only while it is", func(request, answer map[string]any) int {
		for _, condition := range answer["status"].(map[string]any)["conditions"].([]any) {
			if c := condition.(map[string]any); c["type"] == "Ready" && len(request["children"].(map[string]any)["Deployment.apps/v1"].(map[string]any)) > 0 {
				c["status"], c["lastTransitionTime"] = "True", "2026-01-01T00:00:00Z"
			}
		}
		return http.StatusOK
	}},
	{"never Ready after an edit", "modelbox", "it ends as a new one would", func(request, answer map[string]any) int {
		for _, condition := range answer["status"].(map[string]any)["conditions"].([]any) {
			if c := condition.(map[string]any); c["type"] == "Ready" && generation(request) > 1 {
				c["status"], c["lastTransitionTime"] = "False", "2026-01-01T00:00:00Z"
			}
		}
		return http.StatusOK
	}},
	{"a status that counts", "podset", "it converges", func(request, answer map[string]any) int {
		n, _ := statusOf(request)["replicas"].(float64)
		answer["status"].(map[string]any)["replicas"] = n + 1
		answer["resyncAfterSeconds"] = 1
		return http.StatusOK
	}},
	{"a child whose name is taken is not told", "modelbox", "a child that is refused is told", func(_, answer map[string]any) int {
		for _, condition := range answer["status"].(map[string]any)["conditions"].([]any) {
			if c := condition.(map[string]any); c["type"] == "Ready" {
				c["message"] = "it is under way"
			}
		}
		return http.StatusOK
	}},
	{"a Service selects the Pods of the newest template only", "modelbox", "an edit leaves no Service without a ready Pod", followTheHash},
	{"a Pod that is let go with the status that tells its end", "myjob", "the invariants of MyJob", func(_, answer map[string]any) int {
		if answer["status"].(map[string]any)["result"] != nil {
			answer["children"] = []any{}
		}
		return http.StatusOK
	}},
}

// followTheHash adds a label that changes with each edit to the Pods, and to what the Services select.
func followTheHash(_, answer map[string]any) int {
	hash := any(nil)
	for _, item := range answer["children"].([]any) {
		child := item.(map[string]any)
		spec := child["spec"].(map[string]any)
		switch child["kind"] {
		case "Deployment":
			hash = child["metadata"].(map[string]any)["annotations"].(map[string]any)["operetta.dev/hash"]
			spec["template"].(map[string]any)["metadata"].(map[string]any)["labels"].(map[string]any)["hash"] = hash
		case "Service":
			spec["selector"].(map[string]any)["hash"] = hash
		}
	}
	return http.StatusOK
}

// TestExploreFindsMutants breaks hooks on their way out, and wants the law to be
// found that is broken.
func TestExploreFindsMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long: make cover")
	}
	for _, mutant := range mutants {
		if !testenv.Selected(mutant.scenario) {
			continue
		}
		t.Run(mutant.name, func(t *testing.T) {
			t.Parallel()
			s := scenario(t, mutant.scenario, player.DynamicApply)
			s.Call = mutated(t, mutant.change)
			var findings []explore.Finding
			seed := uint64(1)
			for ; len(findings) == 0 && seed <= 60; seed++ {
				var err error
				findings, _, err = s.Find(t.Context(), explore.Search{First: seed, Schedules: 1})
				require.NoError(t, err)
			}
			require.Len(t, findings, 1, "nothing in %d schedules", seed-1)
			require.Equal(t, mutant.law, findings[0].Law, findings[0].Text())
			t.Logf("after %d schedules, with %d actions", seed-1, len(findings[0].Schedule))
		})
	}
}

// mutated returns a way to the hooks on which sync answers are changed.
func mutated(t *testing.T, change func(request, answer map[string]any) int) player.Call {
	call := player.Direct(hooks.All()...)
	return func(now time.Time, path string, body []byte) (int, []byte, error) {
		code, text, err := call(now, path, body)
		if err != nil || code != http.StatusOK || !strings.HasSuffix(path, "/sync") {
			return code, text, err
		}
		var request, answer map[string]any
		require.NoError(t, json.Unmarshal(body, &request))
		require.NoError(t, json.Unmarshal(text, &answer))
		code = change(request, answer)
		text, err = json.Marshal(answer)
		return code, text, err
	}
}

func generation(request map[string]any) int64 {
	n, _ := request["parent"].(map[string]any)["metadata"].(map[string]any)["generation"].(float64)
	return int64(n)
}

func statusOf(request map[string]any) map[string]any {
	status, _ := request["parent"].(map[string]any)["status"].(map[string]any)
	return status
}

// TestEditsAreAdmitted wants valid values of most fields of each kind's spec.
func TestEditsAreAdmitted(t *testing.T) {
	if testing.Short() && testenv.Kind() == "" {
		t.Skip("it takes long: make cover")
	}
	for _, name := range scenarioNames(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scenario(t, name, player.DynamicApply)
			edits, err := s.Edits(t.Context())
			require.NoError(t, err)
			var fields, admitted []string
			for _, edit := range edits {
				top := strings.Join(strings.Split(edit.Path, ".")[:2], ".")
				if !slices.Contains(fields, top) {
					fields = append(fields, top)
				}
				if !slices.Contains(admitted, top) && s.Admits(edit.Object()) {
					admitted = append(admitted, top)
				}
			}
			for _, field := range fields {
				if !slices.Contains(admitted, field) {
					t.Logf("no value of %s was admitted", field)
				}
			}
			require.Greater(t, 10*len(admitted), 8*len(fields))
		})
	}
}
