package metacontroller

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestChanges holds what an answer says that it changes: an operator that asks for the
// ConfigMaps a and b and keeps the Pod p.
func TestChanges(t *testing.T) {
	asks := func(hash string) string { return `,"annotations":{"operetta.dev/hash":"` + hash + `"}` }
	a, b := configMap("a"), configMap("b")
	require.NoError(t, Stamp(a))
	require.NoError(t, Stamp(b))
	settled := observed("ConfigMap", "a", asks(a.Annotations[HashAnnotation])) + "," + observed("ConfigMap", "b", asks(b.Annotations[HashAnnotation]))
	const going = `,"deletionTimestamp":"2026-01-01T00:00:00Z"`
	for name, test := range map[string]struct {
		configMaps, pods string
		status           map[string]any
		finalizing       bool
		want             Changes
	}{
		"all is there":                        {configMaps: settled, pods: observed("Pod", "p", ""), want: Changes{}},
		"nothing is there":                    {want: Changes{Created: 2}},
		"one has another hash":                {configMaps: observed("ConfigMap", "a", asks("x")) + "," + observed("ConfigMap", "b", ""), want: Changes{Updated: 2}},
		"one is not asked for":                {configMaps: settled + "," + observed("ConfigMap", "c", ""), want: Changes{Removed: 1}},
		"what is not asked for is going":      {configMaps: settled + "," + observed("ConfigMap", "c", going), want: Changes{}},
		"what is asked for is going":          {configMaps: observed("ConfigMap", "a", going) + "," + observed("ConfigMap", "b", going), want: Changes{}},
		"the status is another":               {configMaps: settled, status: map[string]any{"old": false}, want: Changes{Status: true}},
		"a teardown asks for what is not":     {finalizing: true, want: Changes{}},
		"a teardown keeps and removes":        {configMaps: settled + "," + observed("ConfigMap", "c", ""), pods: observed("Pod", "p", ""), finalizing: true, want: Changes{Removed: 1}},
		"a kind that is never updated":        {configMaps: settled, pods: observed("Pod", "p", asks("old")), want: Changes{}},
		"all is removed, created and changed": {configMaps: observed("ConfigMap", "a", "") + "," + observed("ConfigMap", "c", ""), status: map[string]any{}, want: Changes{Created: 1, Updated: 1, Removed: 1, Status: true}},
	} {
		t.Run(name, func(t *testing.T) {
			hook := SyncHook
			if test.finalizing {
				hook = FinalizeHook
			}
			if test.status == nil {
				test.status = map[string]any{"old": true}
			}
			answer, err := controllerOf(func(_ *greeting, seen Observed) (greetingResult, error) {
				children := []Object{configMap("a"), configMap("b")}
				for _, pod := range seen.Children.All("v1", "Pod") {
					children = append(children, Keep(pod))
				}
				return greetingResult{Children: children, Status: test.status}, nil
			}).Call(hook, noon, ask(test.finalizing, test.configMaps, test.pods))
			require.NoError(t, err)
			require.Equal(t, test.want, answer.Changes)
			require.Equal(t, test.want != Changes{}, answer.Changes.Any())
		})
	}
}

// TestKeptFieldChanges: what is kept but for one field is updated where the field has
// another value.
func TestKeptFieldChanges(t *testing.T) {
	for value, want := range map[string]int{"old": 0, "new": 1} {
		answer, err := controllerOf(func(_ *greeting, seen Observed) (greetingResult, error) {
			a, _ := seen.Children.Find("v1", "ConfigMap", "a")
			return greetingResult{Children: []Object{KeepWith(a, value, "data", "key")}, Status: map[string]any{"old": true}}, nil
		}).Call(SyncHook, noon, ask(false, `"ns/a":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"ns"},"data":{"key":"old"}}`, ""))
		require.NoError(t, err)
		require.Equal(t, Changes{Updated: want}, answer.Changes, value)
	}
	for replicas, want := range map[int64]int{5: 0, 0: 1} {
		controller := deployments()
		controller.Sync = Sync(func(_ *greeting, seen Observed) (greetingResult, error) {
			web, _ := seen.Children.Find("apps/v1", "Deployment", "web")
			return greetingResult{Children: []Object{KeepWith(web, replicas, "spec", "replicas")}}, nil
		})
		answer, err := controller.Call(SyncHook, noon, keepRequest(t, false, false, live(`{"spec":{"replicas":5}}`)))
		require.NoError(t, err)
		require.Equal(t, want, answer.Changes.Updated, replicas)
	}
}

func TestWithheldChildrenAreCounted(t *testing.T) {
	var found Difference
	answer, err := contesting(&found).Call(SyncHook, noon, askBeside("", observed("ConfigMap", "a", controlledBy("v", "Greeting", "other"))))
	require.NoError(t, err)
	require.Equal(t, Changes{Created: 1, Withheld: 1, Status: true}, answer.Changes)
}

func TestAnswerSaysWhetherItsParentIsReady(t *testing.T) {
	condition := func(kind, status, reason string) map[string]any {
		return map[string]any{"type": kind, "status": status, "reason": reason}
	}
	for _, test := range []struct {
		conditions any
		want       ReadyCondition
	}{
		{nil, ReadyCondition{}},
		{"Ready", ReadyCondition{}},
		{[]any{condition("Other", "True", "A")}, ReadyCondition{}},
		{[]any{7, condition("Other", "True", "A"), condition("Ready", "False", "B"), condition("Ready", "True", "C")}, ReadyCondition{"False", "B"}},
	} {
		answer, err := controllerOf(func(*greeting, Observed) (greetingResult, error) {
			return greetingResult{Status: map[string]any{"conditions": test.conditions}, Finalized: true}, nil
		}).Call(FinalizeHook, noon, ask(true, "", ""))
		require.NoError(t, err)
		require.Equal(t, test.want, answer.Ready)
		require.True(t, answer.Finalized)
	}
}

func TestSameStatus(t *testing.T) {
	for _, test := range []struct {
		told, answered string
		same           bool
	}{
		{`{}`, `{}`, true},
		{``, `{}`, false},
		{`null`, `{}`, false},
		{`{"a":1}`, `{}`, false},
		{`{}`, `{"a":1}`, false},
		{`{"a":1,"b":[1,2,{"c":"d"}]}`, `{"a":1,"b":[1,2,{"c":"d"}]}`, true},
		{`{"a":1,"b":[1,2]}`, `{"a":1,"b":[1,2,3]}`, false},
		{`{"a":1,"b":[1,2,3]}`, `{"a":1,"b":[1,2]}`, false},
		{`{"b":[]}`, `{"b":{}}`, false},
		{`{"b":[1]}`, `{"b":[2]}`, false},
		{`{"b":{"c":1}}`, `{"b":{"c":1,"d":2}}`, false},
		{`{"a":"\u003e"}`, `{"a":"<"}`, false},
		{`{"a":1,"observedGeneration":3}`, `{"a":1}`, true},
		{`{"a":1,"observedGeneration":3,"z":1}`, `{"a":1,"z":1}`, true},
		{`{"observedGeneration":3,"z":1}`, `{"z":1}`, true},
		{`{"a":1,"observedGeneration":3}`, `{"a":1,"observedGeneration":3}`, true},
		{`{"a":{"observedGeneration":3}}`, `{"a":{"observedGeneration":4}}`, false},
	} {
		require.Equal(t, test.same, sameStatus([]byte(test.told), []byte(test.answered)), "%s %s", test.told, test.answered)
	}
}
