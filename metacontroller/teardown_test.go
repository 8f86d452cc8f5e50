package metacontroller

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// readsAll is an operator whose finalize hook decodes all Pods and related
// ConfigMaps, and keeps the Pods.
func readsAll() Controller {
	c := controllerOf(func(_ *greeting, seen Observed) (greetingResult, error) {
		pods, err := List[corev1.Pod](seen.Children, "v1", "Pod")
		if err != nil {
			return greetingResult{}, err
		}
		related, err := List[corev1.ConfigMap](seen.Related, "v1", "ConfigMap")
		result := greetingResult{Status: map[string]any{"pods": len(pods), "related": len(related)}}
		for _, pod := range seen.Children.All("v1", "Pod") {
			result.Children = append(result.Children, Keep(pod))
		}
		return result, err
	})
	c.Related = []Related{{Resource: Resource{"v1", "ConfigMap", "configmaps"}}}
	return c
}

// TestFinalizeDeletesAllAfterAnError: what is damaged stops no teardown.
func TestFinalizeDeletesAllAfterAnError(t *testing.T) {
	related := `"related":{"ConfigMap.v1":{` + observed("ConfigMap", "x", `,"generation":"damaged"`) + `}}`
	for name, pods := range map[string]string{
		"a child": observed("Pod", "a", "") + "," + observed("Pod", "b", `,"generation":"damaged"`), "a related object": observed("Pod", "a", ""),
	} {
		t.Run(name, func(t *testing.T) {
			request := strings.Replace(string(ask(true, "", pods)), `"related":{}`, related, 1)
			answer, err := readsAll().Call(FinalizeHook, noon, []byte(request))
			require.NoError(t, err)
			require.JSONEq(t, `{"status":{"old":true},"children":[],"finalized":false}`, string(answer.Body))
		})
	}
}

// TestFinalizeGetsWhatCanBeDecodedOfItsParent damages one part of a parent at a
// time.
func TestFinalizeGetsWhatCanBeDecodedOfItsParent(t *testing.T) {
	for change, want := range map[string]string{
		`"text":"hello"` + ` => "text":"bye"`:      "bye hi 3 u true spec",
		`"text":"hello"` + ` => "text":7`:          " hi 3 u true damaged",
		`"spec":{` + ` => "spec":[],"x":{`:         " hi 3 u true damaged",
		`"spec":{` + ` => "other":{`:               " hi 3 u true spec",
		`"status":{"old":true}` + ` => "status":7`: "hello hi 3 u <nil> spec",
		`"uid":"u"` + ` => "uid":"u","labels":7`:   "hello hi 0 u true spec",
	} {
		t.Run(change, func(t *testing.T) {
			got := ""
			c := controllerOf(func(g *greeting, seen Observed) (greetingResult, error) {
				spec := "spec"
				if seen.SpecDamaged {
					spec = "damaged"
				}
				got = strings.Join([]string{g.Spec.Text, g.Name, printed(g.Generation), string(g.UID), printed(g.Status["old"]), spec}, " ")
				return greetingResult{Status: map[string]any{}}, nil
			})
			from, to, _ := strings.Cut(change, " => ")
			request := strings.Replace(string(ask(true, "", "")), from, to, 1)
			require.NotEqual(t, string(ask(true, "", "")), request)
			_, err := c.Call(FinalizeHook, noon, []byte(request))
			require.NoError(t, err)
			require.Equal(t, want, got)
		})
	}
}

func printed(value any) string {
	if value == nil {
		return "<nil>"
	}
	text, _ := json.Marshal(value)
	return string(text)
}

// TestCustomizeAnswersForWhatSyncRefuses: Metacontroller asks customize before
// finalize, and remembers no error. It asks again at every event of every related
// object then, about each such parent of the cluster.
func TestCustomizeAnswersForWhatSyncRefuses(t *testing.T) {
	c := validated(func(*greeting, Observed) (greetingResult, error) { return greetingResult{}, nil })
	c.Customize = Customize(func(g *greeting) ([]Rule, error) {
		return ByName(Resource{"v1", "ConfigMap", "configmaps"}, g.Namespace, g.Name+g.Spec.Text), nil
	})
	for spec, selected := range map[string]string{
		`{"text":7}`: "hi", `{"text":"toolongforitsschema"}`: "hitoolongforitsschema", `[]`: "hi", `null`: "hi", `7`: "hi",
	} {
		for _, metadata := range []string{``, `"deletionTimestamp":"2026-01-01T00:00:00Z",`} {
			parent := `{"apiVersion":"example.com/v1","kind":"Greeting","metadata":{` + metadata + `"name":"hi","namespace":"ns"},"spec":` + spec + `}`
			_, err := c.Call(SyncHook, noon, []byte(strings.Replace(string(ask(false, "", "")), `"parent":{`, `"parent":`+parent+`,"old":{`, 1)))
			require.True(t, IsRequestError(err), "%.50s: %v", spec, err)
			answer, err := c.Call(CustomizeHook, noon, []byte(`{"parent":`+parent+`}`))
			require.NoError(t, err, "%.50s", spec)
			require.JSONEq(t, `{"relatedResources":[{"apiVersion":"v1","resource":"configmaps","namespace":"ns","names":["`+selected+`"]}]}`, string(answer.Body), "%.50s", spec)
		}
	}
}

func TestOrphaningIsSeenBesideWhatIsDamaged(t *testing.T) {
	request := strings.Replace(string(ask(true, "", observed("Pod", "a", ""))), `"uid":"u"`, `"uid":"u","finalizers":[7,"orphan"]`, 1)
	answer, err := readsAll().Call(FinalizeHook, noon, []byte(strings.Replace(request, `"related":{}`, `"related":{"ConfigMap.v1":{}}`, 1)))
	require.NoError(t, err)
	require.JSONEq(t, `{"status":{"old":true},"children":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}],"finalized":true}`, string(answer.Body))
}

// amongOthers returns a request with a Deployment between two others.
func amongOthers(t *testing.T, finalizing, orphaning bool, middle string) []byte {
	first, last := strings.Replace(live(""), `"name": "web"`, `"name": "a"`, 1), strings.Replace(live(""), `"name": "web"`, `"name": "z"`, 1)
	request := string(keepRequest(t, finalizing, orphaning, middle))
	return []byte(strings.Replace(request, `"Deployment.apps/v1":{`, `"Deployment.apps/v1":{"ns/a":`+first+`,"ns/z":`+last+`,`, 1))
}

// TestLargeChildIsKept is an attack: whoever may edit a child can make it restate
// more than Metacontroller can store beside it. That stops at most a write to this
// child, which is to stay as it is anyway.
func TestLargeChildIsKept(t *testing.T) {
	long := strings.Repeat("x", MaxAppliedBytes)
	for name, large := range map[string]string{
		"spec":       strings.Replace(live(`{"spec":{"note":""}}`), `"replicas": 5`, `"note": "`+long+`"`, 1),
		"annotation": strings.Replace(live(`{"metadata":{"annotations":{"operetta.dev/hash":""}}}`), "0123456789abcdef", long, 1),
	} {
		t.Run(name, func(t *testing.T) {
			for hook, request := range map[HookName][]byte{SyncHook: amongOthers(t, false, false, large), FinalizeHook: amongOthers(t, true, false, large)} {
				answer, err := deployments().Call(hook, noon, request)
				require.NoError(t, err)
				require.Len(t, answer.Children, 3)
				require.Contains(t, string(answer.Body), long)
			}
			_, err := deployments().Call(FinalizeHook, noon, amongOthers(t, true, true, large))
			require.NoError(t, err)
		})
	}
}

// TestFinalizeLetsGoWhatCannotBeKept has a child that cannot be read. A sync
// refuses it, and says so; a teardown goes on.
func TestFinalizeLetsGoWhatCannotBeKept(t *testing.T) {
	damaged := strings.Replace(live(""), `"replicas": 5`, `"replicas": 1e999`, 1)
	const unreadable = "child Deployment/web: cannot keep Deployment/web"
	_, err := deployments().Call(SyncHook, noon, amongOthers(t, false, false, damaged))
	require.ErrorContains(t, err, unreadable)
	_, err = deployments().Call(FinalizeHook, noon, amongOthers(t, true, true, damaged))
	require.ErrorContains(t, err, unreadable, "an orphaned child must stay as it is")
	answer, err := deployments().Call(FinalizeHook, noon, amongOthers(t, true, false, damaged))
	require.NoError(t, err)
	require.JSONEq(t, `{"status":{},"finalized":false,"children":[
		{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"}},{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"z"}}]}`, string(answer.Body))
}
