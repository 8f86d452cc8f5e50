package metacontroller

import (
	"encoding/json"
	"errors"
	"fmt"
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
	c.Related = []Resource{{"v1", "ConfigMap", "configmaps"}}
	return c
}

func TestFinalizeLetsTheDamagedGoFirst(t *testing.T) {
	kept := func(name string) string { return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"` + name + `"}}` }
	pods := observed("Pod", "a", "") + "," + observed("Pod", "b", `,"generation":"damaged"`) + "," + observed("Pod", "c", "")
	related := `"related":{"ConfigMap.v1":{` + observed("ConfigMap", "x", `,"generation":"damaged"`) + "," + observed("ConfigMap", "y", "") + `}}`
	for name, test := range map[string]struct{ pods, want string }{
		"a child": {pods, `{"status":{"old":true},"children":[` + kept("a") + `,` + kept("c") + `],"finalized":false}`},
		"a child without readable labels": {observed("Pod", "a", "") + "," + observed("Pod", "b", `,"labels":"damaged"`),
			`{"status":{"old":true},"children":[` + kept("a") + `],"finalized":false}`},
		"a related object is not there": {observed("Pod", "a", ""), `{"status":{"pods":1,"related":1},"children":[` + kept("a") + `],"finalized":false}`},
	} {
		t.Run(name, func(t *testing.T) {
			request := strings.Replace(string(ask(true, "", test.pods)), `"related":{}`, related, 1)
			answer, err := readsAll().Call(FinalizeHook, noon, []byte(request))
			require.NoError(t, err)
			require.JSONEq(t, test.want, string(answer.Body))
		})
	}
}

// damagedObjects returns so many observed objects, of which all but each tenth are damaged.
func damagedObjects(kind string, n int) string {
	var all []string
	for i := range n {
		damage := `,"generation":"damaged"`
		if i%10 == 0 {
			damage = ""
		}
		all = append(all, observed(kind, fmt.Sprintf("%s-%05d", strings.ToLower(kind), i), damage))
	}
	return strings.Join(all, ",")
}

// damagedTeardown returns a finalize request with damaged children, and one with
// damaged related objects.
func damagedTeardown(n int) map[string][]byte {
	related := `"related":{"ConfigMap.v1":{` + damagedObjects("ConfigMap", n) + `}}`
	return map[string][]byte{
		"children": []byte(strings.Replace(string(ask(true, "", damagedObjects("Pod", n))), `"related":{}`, `"related":{"ConfigMap.v1":{}}`, 1)),
		"related":  []byte(strings.Replace(string(ask(true, "", observed("Pod", "a", ""))), `"related":{}`, related, 1)),
		"both":     []byte(strings.Replace(string(ask(true, "", damagedObjects("Pod", n))), `"related":{}`, related, 1)),
	}
}

// TestAllDamagedGoAtOnce: a function is asked a few times, however many objects it
// cannot decode. Whoever may edit children could else hold a teardown up by hundreds.
func TestAllDamagedGoAtOnce(t *testing.T) {
	for name, kept := range map[string]int{"children": 20, "related": 0, "both": 20} {
		t.Run(name, func(t *testing.T) {
			times := 0
			c := readsAll()
			c.Finalize = Finalize(func(_ *greeting, seen Observed) (greetingResult, error) {
				times++
				if _, err := List[corev1.ConfigMap](seen.Related, "v1", "ConfigMap"); err != nil {
					return greetingResult{}, err
				}
				_, err := List[corev1.Pod](seen.Children, "v1", "Pod")
				return greetingResult{Status: map[string]any{}}, err
			})
			answer, err := c.Call(FinalizeHook, noon, damagedTeardown(200)[name])
			require.NoError(t, err)
			require.LessOrEqual(t, times, 3)
			require.Len(t, answer.Children, kept) // none is what the function answers without damaged children
		})
	}
}

// TestFinalizeGetsWhatCanBeDecodedOfItsParent damages one part of a parent at a
// time.
func TestFinalizeGetsWhatCanBeDecodedOfItsParent(t *testing.T) {
	for change, want := range map[string]string{
		`"text":"hello"` + ` => "text":"bye"`:         "bye hi 3 u true spec",
		`"text":"hello"` + ` => "text":7`:             " hi 3 u true damaged",
		`"spec":{` + ` => "spec":[],"x":{`:            " hi 3 u true damaged",
		`"spec":{` + ` => "other":{`:                  " hi 3 u true spec",
		`"generation":3` + ` => "generation":"three"`: "hello hi 0 u true spec",
		`"uid":"u"` + ` => "uid":"u","labels":7`:      "hello hi 3 u true spec",
		`"status":{"old":true}` + ` => "status":7`:    "hello hi 3 u <nil> spec",
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
		`{"text":"x","list":[0` + strings.Repeat(",0", maxParentValues) + `]}`:      "hi",
		`{"text":"x","list":[{}` + strings.Repeat(",{}", maxNestedObjects/2) + `]}`: "hi",
	} {
		for _, metadata := range []string{``, `"deletionTimestamp":"2026-01-01T00:00:00Z",`, `"generation":"one",`, `"labels":7,`} {
			parent := `{"apiVersion":"example.com/v1","kind":"Greeting","metadata":{` + metadata + `"name":"hi","namespace":"ns"},"spec":` + spec + `}`
			_, err := c.Call(SyncHook, noon, []byte(strings.Replace(string(ask(false, "", "")), `"parent":{`, `"parent":`+parent+`,"old":{`, 1)))
			require.True(t, IsRequestError(err), "%.50s: %v", spec, err)
			answer, err := c.Call(CustomizeHook, noon, []byte(`{"parent":`+parent+`}`))
			require.NoError(t, err, "%.50s", spec)
			require.JSONEq(t, `{"relatedResources":[{"apiVersion":"v1","resource":"configmaps","namespace":"ns","names":["`+selected+`"]}]}`, string(answer.Body), "%.50s", spec)
		}
	}
}

// TestCustomizeIsNotAnsweredForWantOfMemory: Metacontroller would remember the
// answer, though another time would do.
func TestCustomizeIsNotAnsweredForWantOfMemory(t *testing.T) {
	c := validated(func(*greeting, Observed) (greetingResult, error) { return greetingResult{}, nil })
	c.Customize = Customize(func(*greeting) ([]Rule, error) { return nil, nil })
	full := errors.New("full")
	for _, spec := range []string{`{"text":"hello"}`, `{"text":7}`} {
		for left := range 20 {
			body := []byte(`{"parent":{"apiVersion":"example.com/v1","kind":"Greeting","metadata":{"name":"hi","labels":{"a":"b"}},"spec":` + spec + `}}`)
			_, err := c.CallContext(t.Context(), CustomizeHook, noon, body, Limits{Reserve: func(int64) error {
				if left--; left < 0 {
					return full
				}
				return nil
			}})
			if left < 0 {
				require.ErrorIs(t, err, full)
			}
		}
	}
}

// TestLabelsCostCustomizeNothing: a megabyte of them would take more memory than one
// customize request may have in the server as it is shipped.
func TestLabelsCostCustomizeNothing(t *testing.T) {
	c := validated(func(*greeting, Observed) (greetingResult, error) { return greetingResult{}, nil })
	c.Customize = Customize(func(g *greeting) ([]Rule, error) {
		require.Empty(t, g.Labels)
		return ByName(Resource{"v1", "ConfigMap", "configmaps"}, g.Namespace, g.Name+g.Spec.Text), nil
	})
	labels := strings.Builder{}
	for i := range 150_000 {
		fmt.Fprintf(&labels, `,"%x":""`, i)
	}
	body := []byte(`{"parent":{"apiVersion":"example.com/v1","kind":"Greeting","metadata":{"labels":{` + labels.String()[1:] + `},"name":"hi","namespace":"ns"},"spec":{"text":"x"}}}`)
	var reserved int64
	answer, err := c.CallContext(t.Context(), CustomizeHook, noon, body, Limits{Reserve: func(bytes int64) error {
		reserved += bytes
		return nil
	}})
	require.NoError(t, err)
	require.JSONEq(t, `{"relatedResources":[{"apiVersion":"v1","resource":"configmaps","namespace":"ns","names":["hix"]}]}`, string(answer.Body))
	require.Less(t, reserved, 2*int64(len(body)))
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

// TestDenseChildHoldsUpNoTeardown is an attack: the API server stores a child of
// 450,000 values, which take more memory than one call may have. A sync keeps what
// it can afford, refuses what it cannot, and says so; a teardown goes on.
func TestDenseChildHoldsUpNoTeardown(t *testing.T) {
	dense := func(values int) string {
		return strings.Replace(live(""), `"replicas": 5`, `"args": [`+strings.Repeat(`"",`, values-1)+`""]`, 1)
	}
	afford := func(most int64) Limits {
		left := most
		return Limits{Reserve: func(n int64) error {
			if n > left {
				return fmt.Errorf("no: %w", ErrTooMuch)
			}
			left -= n
			return nil
		}}
	}
	const budget = 57 << 20 // of one call, with the flags of deploy/
	call := func(limits Limits, hook HookName, orphaning bool, child string) (Answer, error) {
		return deployments().CallContext(t.Context(), hook, noon, amongOthers(t, hook == FinalizeHook, orphaning, child), limits)
	}
	answer, err := call(afford(budget), SyncHook, false, dense(250_000))
	require.NoError(t, err)
	require.Len(t, answer.Children, 3)
	_, err = call(afford(budget), SyncHook, false, dense(450_000))
	require.ErrorContains(t, err, "child Deployment/web: cannot keep Deployment/web, which has too many values")
	answer, err = call(afford(budget), FinalizeHook, false, dense(450_000))
	require.NoError(t, err)
	require.Equal(t, []string{"a", "z"}, namesOf(answer.Children))
	busy := Limits{Reserve: func(n int64) error {
		if n > 1<<20 {
			return errors.New("not now")
		}
		return nil
	}}
	_, err = call(busy, FinalizeHook, false, dense(450_000))
	require.ErrorContains(t, err, "not now", "at another time there is room, and nothing goes too early")
}

func namesOf(children []AnsweredChild) []string {
	var names []string
	for _, child := range children {
		names = append(names, child.Name)
	}
	return names
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
