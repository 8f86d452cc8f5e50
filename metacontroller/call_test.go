package metacontroller

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// greeting is a parent.
type greeting struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Text     string `json:"text"`
		Replicas int64  `json:"replicas"`
	} `json:"spec"`
	Status map[string]any `json:"status"`
}

type greetingResult = Result[map[string]any]

// controllerOf returns an operator whose sync and finalize hook is a function.
func controllerOf(hook func(*greeting, Observed) (greetingResult, error)) Controller {
	return Controller{
		Parent: Resource{APIVersion: "example.com/v1", Kind: "Greeting", Plural: "greetings"},
		Children: []Child{
			{Resource: Resource{"v1", "ConfigMap", "configmaps"}, Update: InPlace},
			{Resource: Resource{"v1", "Pod", "pods"}, Update: OnDelete},
		},
		Sync: Sync(hook), Finalize: Finalize(hook),
	}
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// ask returns a request with config maps and Pods, each given in JSON by name.
func ask(finalizing bool, configMaps, pods string) []byte {
	return fmt.Appendf(nil, `{"parent":{"apiVersion":"example.com/v1","kind":"Greeting",
		"metadata":{"name":"hi","namespace":"ns","uid":"u","generation":3},"spec":{"text":"hello","replicas":9007199254740993},"status":{"old":true}},
		"children":{"ConfigMap.v1":{%s},"Pod.v1":{%s}},"related":{},"finalizing":%t,"unknown":1}`, configMaps, pods, finalizing)
}

// beingDeleted is what an object has that is being deleted.
const beingDeleted = `,"deletionTimestamp":"2026-01-01T00:00:00Z"`

func observed(kind, name, more string) string {
	return fmt.Sprintf(`"ns/%s":{"apiVersion":"v1","kind":%q,"metadata":{"name":%q,"namespace":"ns"%s}}`, name, kind, name, more)
}

func TestCallRefusesWrongAnswers(t *testing.T) {
	with := func(change func(*corev1.ConfigMap)) []Object {
		child := configMap("a")
		change(child)
		return []Object{child}
	}
	for reason, result := range map[string]greetingResult{
		`child Secret/s: greeting does not declare the kind Secret of apiVersion "v1"`: {Children: []Object{&corev1.Secret{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}, ObjectMeta: metav1.ObjectMeta{Name: "s"}}}},
		`child ConfigMap/a: greeting does not declare the kind ConfigMap of apiVersion "v2"`: {Children: with(func(c *corev1.ConfigMap) { c.APIVersion = "v2" })},
		"child ConfigMap/: it has no metadata.name":                                          {Children: with(func(c *corev1.ConfigMap) { c.Name = "" })},
		"child ConfigMap/A_b: its name is not a DNS name":                                    {Children: with(func(c *corev1.ConfigMap) { c.Name = "A_b" })},
		"child ConfigMap/a: it is not in the parent's namespace":                             {Children: with(func(c *corev1.ConfigMap) { c.Namespace = "other" })},
		"child ConfigMap/a: a hook must not set metadata.generateName of a child":            {Children: with(func(c *corev1.ConfigMap) { c.GenerateName = "a-" })},
		"child ConfigMap/a: a hook must not set metadata.ownerReferences of a child":         {Children: with(func(c *corev1.ConfigMap) { c.OwnerReferences = []metav1.OwnerReference{{UID: "u"}} })},
		"child ConfigMap/a: a hook must not set metadata.finalizers of a child":              {Children: with(func(c *corev1.ConfigMap) { c.Finalizers = []string{"a/b"} })},
		"child ConfigMap/a: a hook must not set metadata.resourceVersion of a child":         {Children: with(func(c *corev1.ConfigMap) { c.ResourceVersion = "1" })},
		"child ConfigMap/a: a hook must not set metadata.uid of a child":                     {Children: with(func(c *corev1.ConfigMap) { c.UID = "1" })},
		"child ConfigMap/a: a hook must not set metadata.managedFields of a child":           {Children: with(func(c *corev1.ConfigMap) { c.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "m"}} })},
		"child ConfigMap/a: a hook must not set the label controller-uid of a child":         {Children: with(func(c *corev1.ConfigMap) { c.Labels = map[string]string{"controller-uid": "x"} })},
		"child Pod/b: it is kept and was not observed":                                       {Children: []Object{Keep(Snapshot{APIVersion: "v1", Kind: "Pod", Name: "b"})}},
		"child ConfigMap/b: it is kept and was not observed":                                 {Children: []Object{Keep(Snapshot{APIVersion: "v1", Kind: "ConfigMap", Name: "b"})}},
		"child ConfigMap/a: a hook must not set the annotation metacontroller.k8s.io/last-applied-configuration of a child": {
			Children: with(func(c *corev1.ConfigMap) { c.Annotations = map[string]string{LastAppliedAnnotation: "{}"} })},
		"child /a: set apiVersion and kind, which are only known of the types of Kubernetes: this is a *unstructured.Unstructured": {
			Children: []Object{&unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "a"}}}}},
		"child Secret/a: set apiVersion and kind, which are only known of the types of Kubernetes: this is a *v1.ConfigMap": {
			Children: with(func(c *corev1.ConfigMap) { c.APIVersion, c.Kind = "", "Secret" })},
		"child ConfigMap/a: data: k: a json.RawMessage is not one value in JSON: check a text before it becomes one": {
			Children: []Object{&unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"},
				"data": map[string]any{"k": json.RawMessage(`""}},{"apiVersion":"v1","kind":"Secret","metadata":{"name":"b","namespace":"other"},"data":{"k":""`)}}}}},
		"child /: it is nil":                       {Children: []Object{nil}},
		"child ConfigMap/a: it is asked for twice": {Children: []Object{configMap("a"), configMap("a")}},
		"child ConfigMap/a: the 256166 bytes of annotations that it is applied with are more than the 256000 that Metacontroller can apply": {
			Children: with(func(c *corev1.ConfigMap) { c.Data = map[string]string{"k": strings.Repeat("x", 256000)} })},
		"a hook that is not finalizing answers finalized: true": {Finalized: true},
	} {
		t.Run(reason, func(t *testing.T) {
			result.Status = map[string]any{}
			answer, err := controllerOf(func(*greeting, Observed) (greetingResult, error) { return result, nil }).
				Call(SyncHook, noon, ask(false, "", ""))
			require.EqualError(t, err, reason)
			require.False(t, IsRequestError(err), "it is the hook's fault")
			require.Nil(t, answer.Body)
			require.Equal(t, "hi", answer.Parent.Name)
		})
	}
}

// TestNoClusterScopedChildOfANamespacedParent: it would outlive its parent, for the garbage
// collector does not delete what has an owner in a namespace.
func TestNoClusterScopedChildOfANamespacedParent(t *testing.T) {
	controller := controllerOf(func(*greeting, Observed) (greetingResult, error) {
		return greetingResult{Status: map[string]any{}, Children: []Object{&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "a"}}}}, nil
	})
	controller.Children = []Child{{Resource: ClusterRole, Update: InPlace}}
	body := func(namespace string) []byte {
		return fmt.Appendf(nil, `{"parent":{"apiVersion":"example.com/v1","kind":"Greeting","metadata":{"name":"hi"%s,"uid":"u"},"spec":{"text":"hello"}},
			"children":{"ClusterRole.rbac.authorization.k8s.io/v1":{}},"related":{},"finalizing":false}`, namespace)
	}
	_, err := controller.Call(SyncHook, noon, body(`,"namespace":"ns"`))
	require.EqualError(t, err, "child ClusterRole/a: it is cluster-scoped and the parent is not")
	answer, err := controller.Call(SyncHook, noon, body(""))
	require.NoError(t, err)
	require.Len(t, answer.Children, 1)
}

func TestCallRefusesAStatusThatIsNoObject(t *testing.T) {
	for _, status := range []any{nil, 1, "x", []string{"x"}} {
		controller := controllerOf(nil)
		controller.Sync = Sync(func(*greeting, Observed) (Result[any], error) { return Result[any]{Status: status}, nil })
		_, err := controller.Call(SyncHook, noon, ask(false, "", ""))
		require.EqualError(t, err, "the status is no object")
	}
}

func TestCallAnswersWhole(t *testing.T) {
	controller := controllerOf(func(g *greeting, seen Observed) (greetingResult, error) {
		require.Equal(t, int64(9007199254740993), g.Spec.Replicas, "integers stay integers")
		require.Equal(t, noon, seen.Now)
		pods, err := List[struct {
			Snapshot `json:"-"`
			Metadata struct {
				Labels map[string]string `json:"labels"`
			} `json:"metadata"`
		}](seen.Children, "v1", "Pod")
		require.NoError(t, err)
		require.Len(t, pods, 2)
		require.Equal(t, "Pod/a", pods[0].Ref(), "in the order of names")
		require.Equal(t, "1", pods[1].Metadata.Labels["n"])
		require.True(t, pods[1].Terminating)
		absent, err := Get[corev1.Pod](seen.Children, "v1", "Pod", "c")
		require.NoError(t, err)
		require.Nil(t, absent)
		return greetingResult{Status: map[string]any{}, Children: []Object{configMap("m"), Keep(pods[0].Snapshot)}, ResyncAfter: 1500 * time.Millisecond}, nil
	})
	answer, err := controller.Call(SyncHook, noon.Add(time.Millisecond), ask(false, "",
		observed("Pod", "b", `,"labels":{"n":"1"},"deletionTimestamp":"2026-01-01T00:00:00Z"`)+","+observed("Pod", "a", "")))
	require.NoError(t, err)
	hash := stampOf(t, configMap("m"))
	require.JSONEq(t, `{"status":{},"children":[
		{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m","annotations":{"operetta.dev/hash":"`+hash+`"}}},
		{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}],"resyncAfterSeconds":2}`, string(answer.Body))
	require.Equal(t, 2, answer.Observed)
	require.Equal(t, []AnsweredChild{{"v1", "ConfigMap", "m", false}, {"v1", "Pod", "a", true}}, answer.Children)
	require.Equal(t, Identity{Namespace: "ns", Name: "hi", UID: "u", Generation: 3}, answer.Parent)
}

func TestFinalizeNeverRefuses(t *testing.T) {
	pod := observed("Pod", "a", "")
	broken := strings.Replace(string(ask(true, "", pod)), `"text":"hello"`, `"text":[]`, 1)
	fails := controllerOf(func(*greeting, Observed) (greetingResult, error) { return greetingResult{}, errors.New("no") })
	creates := controllerOf(func(_ *greeting, seen Observed) (greetingResult, error) {
		snapshot, _ := seen.Children.Find("v1", "Pod", "a")
		return greetingResult{Status: map[string]any{}, Children: []Object{configMap("new"), Keep(snapshot)}}, nil
	})
	byDefault := Controller{Parent: fails.Parent, Children: fails.Children, Sync: fails.Sync}
	for name, test := range map[string]struct {
		controller Controller
		request    string
		want       string
	}{
		"what does not exist is left out":      {creates, string(ask(true, "", pod)), `{"status":{},"children":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}],"finalized":false}`},
		"a failing hook lets everything go":    {fails, string(ask(true, "", pod)), `{"status":{"old":true},"children":[],"finalized":false}`},
		"a failing hook is done without any":   {fails, string(ask(true, "", "")), `{"status":{"old":true},"children":[],"finalized":true}`},
		"a broken spec is the hook's to judge": {creates, broken, `{"status":{},"children":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}],"finalized":false}`},
		"the default lets everything go":       {byDefault, string(ask(true, "", pod)), `{"status":{"old":true},"children":[],"finalized":false}`},
		"the default reads no spec":            {byDefault, broken, `{"status":{"old":true},"children":[],"finalized":false}`},
		"the default is done when all is gone": {byDefault, string(ask(true, "", "")), `{"status":{"old":true},"children":[],"finalized":true}`},
	} {
		t.Run(name, func(t *testing.T) {
			answer, err := test.controller.Call(FinalizeHook, noon, []byte(test.request))
			require.NoError(t, err)
			require.JSONEq(t, test.want, string(answer.Body))
		})
	}
}

// TestFinalizeOfAParentThatIsNotDeletedKeepsAll: Metacontroller calls finalize for a
// parent that has moved to another CompositeController, too, and that one has the same
// children.
func TestFinalizeOfAParentThatIsNotDeletedKeepsAll(t *testing.T) {
	asked := controllerOf(func(*greeting, Observed) (greetingResult, error) {
		require.Fail(t, "the hook is asked")
		return greetingResult{}, nil
	})
	byDefault := asked
	byDefault.Finalize = Hook{}
	leaving := func(configMaps, pods string) string {
		return strings.Replace(string(ask(true, configMaps, pods)), "{", `{"controller":{"spec":{"parentResource":{"labelSelector":{}}}},`, 1)
	}
	pod := observed("Pod", "a", `,"generation":"damaged"`)
	kept := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}`
	going := observed("Pod", "a", beingDeleted)
	for name, test := range map[string]struct{ request, children string }{
		"a child":                     {leaving("", pod), kept},
		"one that is being deleted":   {leaving("", going), kept},
		"no child":                    {leaving("", ""), ""},
		"null is no time":             {strings.Replace(leaving("", pod), `"generation":3`, `"generation":3,"deletionTimestamp":null`, 1), kept},
		"a spec that cannot be read":  {strings.Replace(leaving("", pod), `"text":"hello"`, `"text":7`, 1), kept},
		"what is updated in place":    {leaving(observed("ConfigMap", "b", ""), pod), `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"}},` + kept},
		"while its children are kept": {strings.Replace(leaving("", pod), `"generation":3`, `"generation":3,"finalizers":["orphan"]`, 1), kept},
	} {
		t.Run(name, func(t *testing.T) {
			for _, controller := range []Controller{asked, byDefault} {
				answer, err := controller.Call(FinalizeHook, noon, []byte(test.request))
				require.NoError(t, err)
				require.JSONEq(t, `{"status":{"old":true},"children":[`+test.children+`],"finalized":true}`, string(answer.Body))
				require.False(t, answer.Changes.Any())
				require.False(t, answer.Finalized, "others will be asked about it")
			}
		})
	}
}

func TestFinalizedIsNotAnsweredWhileChildrenExist(t *testing.T) {
	early := controllerOf(func(*greeting, Observed) (greetingResult, error) {
		return greetingResult{Status: map[string]any{}, Finalized: true}, nil
	})
	_, err := early.Call(FinalizeHook, noon, ask(true, "", observed("Pod", "a", "")))
	require.EqualError(t, err, "finalized: true is answered while children exist")
}

func TestCompare(t *testing.T) {
	controller := controllerOf(func(_ *greeting, seen Observed) (greetingResult, error) {
		kept, _ := seen.Children.Find("v1", "Pod", "kept")
		wanted := []Object{configMap("missing"), configMap("same"), configMap("old"), configMap("going"), configMap("unseen"), configMap("odd"), Keep(kept)}
		diff, err := seen.Compare(wanted)
		require.NoError(t, err)
		require.Equal(t, Difference{
			Missing:    []string{"ConfigMap/missing"},
			Outdated:   []string{"ConfigMap/old", "ConfigMap/going", "ConfigMap/unseen"},
			Deleting:   []string{"ConfigMap/going"},
			NotUpdated: []string{"ConfigMap/old"},
			EventFlags: "-n ns --for greetings.example.com/hi",
		}, diff)
		return greetingResult{Status: map[string]any{}, Children: wanted}, nil
	})
	hash := func(name string) string {
		return `,"generation":2,"annotations":{"operetta.dev/hash":"` + stampOf(t, configMap(name)) + `"}`
	}
	status := func(child, status string) string { return strings.TrimSuffix(child, "}") + `,"status":` + status + "}" }
	children := strings.Join([]string{
		status(observed("ConfigMap", "same", hash("same")), `{"observedGeneration":2}`),
		observed("ConfigMap", "old", `,"annotations":{"operetta.dev/hash":"0"}`),
		observed("ConfigMap", "going", hash("going")+`,"deletionTimestamp":"2026-01-01T00:00:00Z"`),
		status(observed("ConfigMap", "unseen", hash("unseen")), `{"observedGeneration":1}`),
		status(observed("ConfigMap", "odd", hash("odd")), `{"observedGeneration":"x"}`),
	}, ",")
	_, err := controller.Call(SyncHook, noon, ask(false, children, observed("Pod", "kept", "")))
	require.NoError(t, err)
}

func TestCustomize(t *testing.T) {
	controller := controllerOf(nil)
	controller.Related = []Related{{Resource: Resource{"v1", "Pod", "pods"}}}
	rules := []Rule{{APIVersion: "v1", Resource: "pods", LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}}}
	controller.Customize = Customize(func(g *greeting) ([]Rule, error) {
		if g.Spec.Text == "fail" {
			return nil, errors.New("no")
		}
		return rules, nil
	})
	require.Equal(t, []HookName{SyncHook, FinalizeHook, CustomizeHook}, controller.Hooks())
	request := func(text string) []byte {
		return []byte(`{"parent":{"apiVersion":"example.com/v1","kind":"Greeting","metadata":{"name":"hi"},"spec":{"text":` + text + `}}}`)
	}
	answer, err := controller.Call(CustomizeHook, noon, request(`"x"`))
	require.NoError(t, err)
	require.JSONEq(t, `{"relatedResources":[{"apiVersion":"v1","resource":"pods","labelSelector":{"matchLabels":{"a":"b"}}}]}`, string(answer.Body))

	_, err = controller.Call(CustomizeHook, noon, request(`"fail"`))
	require.EqualError(t, err, "no")
	rules = nil
	_, err = controller.Call(CustomizeHook, noon, request(`"x"`))
	require.EqualError(t, err, "no rule selects pods: add one, or declare that they only inform (Related.Informs)")
	_, err = controllerOf(nil).Call(CustomizeHook, noon, request(`"x"`))
	require.EqualError(t, err, "there is no customize hook")
	_, err = controller.Call(SyncHook, noon, ask(false, "", ""))
	require.EqualError(t, err, `the request has no related objects of kind "Pod.v1": its CompositeController has no customize hook`)

	controller.Related[0].Informs = true
	answer, err = controller.Call(CustomizeHook, noon, request(`"x"`))
	require.NoError(t, err)
	require.JSONEq(t, `{"relatedResources":[]}`, string(answer.Body))
	req, err := controller.readRequest(SyncHook, ask(false, "", ""))
	require.NoError(t, err)
	require.False(t, req.related.Includes(Pod))
}

func TestRequestErrorsAreShortAndSilent(t *testing.T) {
	good := string(ask(false, observed("ConfigMap", "a", ""), ""))
	for name, test := range map[string]struct{ request, reason string }{
		"other namespace":   {strings.Replace(good, `"name":"a","namespace":"ns"`, `"name":"a","namespace":"secret"`, 1), `children["ConfigMap.v1"]: "a" is not in the parent's namespace`},
		"twice":             {strings.Replace(good, `"Pod.v1":{}`, `"Pod.v1":{},"Pod.v1":{}`, 1), `children["Pod.v1"] stands twice`},
		"same name twice":   {strings.Replace(good, `"ConfigMap.v1":{`, `"ConfigMap.v1":{`+strings.Replace(observed("ConfigMap", "a", ""), "ns/a", "a", 1)+",", 1), `children["ConfigMap.v1"]: "a" stands twice`},
		"not watched":       {strings.Replace(good, `,"Pod.v1":{}`, "", 1), `the request has no children of kind "Pod.v1": its CompositeController does not watch them`},
		"not declared":      {strings.Replace(good, `"Pod.v1":{}`, `"Pod.v1":{},"Secret.v1":{`+observed("Secret", "s", "")+`}`, 1), `the request has children of kind "Secret.v1", which greeting does not declare`},
		"children a list":   {strings.Replace(good, `"children":{`, `"children":[],"x":{`, 1), "children is not an object of objects by kind"},
		"a kind a list":     {strings.Replace(good, `"Pod.v1":{}`, `"Pod.v1":[]`, 1), `children["Pod.v1"]: is not an object of objects by name`},
		"related a list":    {strings.Replace(good, `"related":{}`, `"related":[]`, 1), "related is not an object of objects by kind"},
		"generation a text": {strings.Replace(good, `"generation":3`, `"generation":"3"`, 1), "the parent cannot be decoded: metadata.generation is no valid int64"},
		"finalizing":        {strings.Replace(good, `"finalizing":false`, `"finalizing":true`, 1), `the sync hook was called with "finalizing": true`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := controllerOf(nil).Call(SyncHook, noon, []byte(test.request))
			require.EqualError(t, err, test.reason)
			require.True(t, IsRequestError(err))
			require.NotContains(t, err.Error(), "secret")
		})
	}
	var into struct {
		At metav1.Time `json:"at"`
	}
	require.EqualError(t, decode([]byte(`{"at":"secret"}`), &into), "at is no valid v1.Time")
	var deep struct {
		metav1.TypeMeta `json:",inline"`
		Spec            struct {
			Steps []struct {
				Waits map[string]*metav1.Duration `json:"waits"`
			} `json:"steps"`
		} `json:"spec"`
	}
	require.EqualError(t, decode([]byte(`{"spec":{"steps":[{"waits":{"a":null,"b":"1s"}},{"waits":{"secret":"secret"}}]}}`), &deep), "spec.steps.1.waits.secret is no valid v1.Duration")
}

func TestControllerNames(t *testing.T) {
	controller := controllerOf(nil)
	require.Equal(t, "greeting", controller.Name())
	require.Equal(t, "greeting", controller.ParentType().Name())
	require.Equal(t, "", controller.Children[0].Group())
	require.Equal(t, "example.com", controller.Parent.Group())
	require.Equal(t, "Greeting.example.com/v1", controller.Parent.Key())
}
