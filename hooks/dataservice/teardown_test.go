package dataservice_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks/dataservice"
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operettatest"
)

// TestTeardownOfWhatCannotBeDecoded sees a DataService whose spec no hook can
// read go in the same order as any other, and its volumes stay: what the spec
// says of them cannot be told.
func TestTeardownOfWhatCannotBeDecoded(t *testing.T) {
	for _, options := range strategies() {
		for i, damage := range []struct {
			name string
			edit func(map[string]any)
		}{
			{"a component that is no object", set("web", []any{"damaged"})},
			{"a number that is a text", set("mysql.port", "damaged")},
		} {
			if inner() && i > 0 {
				continue
			}
			t.Run(damage.name, func(t *testing.T) {
				options.SkipValidation = true // as an older schema may have
				s := tell(t, options)
				s.whole = true
				s.edit(set("mysql.storage.onDelete", "Delete"))
				damaged := s.sample(set("mysql.storage.onDelete", "Delete"), damage.edit)
				s.apply(damaged)
				s.world.Delete(product)
				require.Equal(t, slices.Concat(stages[4], inOrder(stages[3]), inOrder(stages[2]), stages[1], stages[0]), s.order())
				require.Empty(t, s.world.Parents(), "the DataService is gone")
				require.NotNil(t, s.world.Get("PersistentVolumeClaim/data-mysql-dataservice-0"))
			})
		}
	}
}

func inOrder(names []string) []string { return slices.Sorted(slices.Values(names)) }

// order plays to the end and returns the workloads in the order in which they
// went, those of one step by their names.
func (s *story) order() []string {
	var gone []string
	for range 100 {
		before := s.workloads()
		s.world.Step()
		for _, name := range before {
			if !slices.Contains(s.workloads(), name) {
				gone = append(gone, name)
			}
		}
	}
	s.world.Play()
	// Those of one stage may take more than one step.
	for _, stage := range stages {
		for i := range gone {
			if end := i + len(stage); end <= len(gone) && slices.Equal(inOrder(gone[i:end]), inOrder(stage)) {
				slices.Sort(gone[i:end])
			}
		}
	}
	return gone
}

// TestVolumesStayWhereTheirSetCannotBeUpdated has each update of a StatefulSet fail, as an
// admission webhook might. The teardown waits and says what to do.
func TestVolumesStayWhereTheirSetCannotBeUpdated(t *testing.T) {
	t.Parallel()
	s := tell(t, operettatest.Options{})
	s.edit(set("mysql.storage.onDelete", "Delete"))
	mysql := s.world.Get("StatefulSet/mysql-dataservice").DeepCopy()
	mysql.SetAnnotations(map[string]string{metacontroller.LastAppliedAnnotation: `{`})
	s.apply(mysql.Object)
	s.world.Delete(product)
	for range 100 {
		s.world.Step()
	}
	require.Equal(t, []string{"mysql-dataservice"}, s.workloads())
	require.Contains(t, s.condition("VolumesDeleted"), "False Requested: has to learn first what becomes of its volumes: StatefulSet/mysql-dataservice; where it cannot be updated, set storage.onDelete to Retain")
	s.apply(s.sample(set("mysql.storage.onDelete", "Retain")))
	s.world.Play()
	require.Empty(t, s.world.Parents(), "the DataService is gone")
	require.NotNil(t, s.world.Get("PersistentVolumeClaim/data-mysql-dataservice-0"))
}

// TestVolumesStayWhereSomebodyThinksBetterOfIt has a StatefulSet that knows already that its
// volumes go with it: it has to learn that they stay.
func TestVolumesStayWhereSomebodyThinksBetterOfIt(t *testing.T) {
	cases := operettatest.Cases(t, "../..", dataservice.Controller())
	i := slices.IndexFunc(cases, func(c operettatest.Case) bool { return c.Name == "dataservice/finalize/set-goes-when-it-knows" })
	require.GreaterOrEqual(t, i, 0)
	request := strings.Replace(string(cases[i].Request), `"onDelete":"Delete"`, `"onDelete":"Retain"`, 1)
	answer, err := dataservice.Controller().Call(metacontroller.FinalizeHook, cases[i].Now, []byte(request))
	require.NoError(t, err)
	require.Contains(t, string(answer.Body), `"whenDeleted":"Retain"`)
}

// TestStatusOfATeardownIsBounded whatever labels strangers write onto their Pods.
func TestStatusOfATeardownIsBounded(t *testing.T) {
	var request map[string]any
	body, now := converged(t)
	require.NoError(t, json.Unmarshal(body, &request))
	request["finalizing"] = true
	pods := map[string]any{}
	for i := range 5000 {
		name := fmt.Sprintf("stranger-%d", i)
		pods["default/"+name] = map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{
			"name": name, "namespace": "default", "uid": name,
			"labels":          map[string]any{componentLabel: fmt.Sprintf("%060d", i)},
			"ownerReferences": []any{map[string]any{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "x", "uid": "x", "controller": true}},
		}}
	}
	request["related"].(map[string]any)["Pod.v1"] = pods
	changed, err := json.Marshal(request)
	require.NoError(t, err)
	answer, err := dataservice.Controller().Call(metacontroller.FinalizeHook, now, changed)
	require.NoError(t, err)
	var response struct{ Status json.RawMessage }
	require.NoError(t, json.Unmarshal(answer.Body, &response))
	require.Less(t, len(response.Status), 64<<10)
	require.NotContains(t, string(response.Status), "stranger")
}
