package metacontroller

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// observedPods returns what a request with these Pods tells.
func observedPods(t *testing.T, pods string) Objects {
	t.Helper()
	req, err := controllerOf(nil).readRequest(SyncHook, ask(false, "", pods))
	require.NoError(t, err)
	return req.children
}

// wordless returns a child that has no form in JSON.
func wordless() *unstructured.Unstructured {
	child := &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"x": make(chan int)}}}
	child.SetAPIVersion("v1")
	child.SetKind("ConfigMap")
	child.SetName("a")
	return child
}

// The text of an error becomes an event, which more people may read than the
// object: it is one line and quotes no value.
func TestRequestThatIsNotUnderstood(t *testing.T) {
	good := string(ask(false, "", observed("Pod", "p", "")))
	instead := func(old, other string) string {
		require.Contains(t, good, old)
		return strings.Replace(good, old, other, 1)
	}
	for name, test := range map[string]struct{ body, text string }{
		"half":                 {`{"parent":`, "the request body is not valid JSON at byte 10: unexpected EOF"},
		"two texts":            {`{} {}`, "the request body is not valid JSON: a second value follows"},
		"null":                 {`null`, "the request has no parent object"},
		"parent is null":       {`{"parent":null}`, "the request has no parent object"},
		"no metadata":          {`{"parent":{"apiVersion":"v1","kind":"S3cret"}}`, "the parent is no object with apiVersion, kind and metadata"},
		"kind is a number":     {instead(`"Greeting"`, `73110000042`), "the parent is no object with apiVersion, kind and metadata"},
		"another kind":         {instead(`"Greeting"`, `"S3cret"`), "the parent is not a Greeting of example.com/v1"},
		"another version":      {instead(`com/v1`, `com/v2`), "the parent is not a Greeting of example.com/v1"},
		"name is an object":    {instead(`"name":"hi"`, `"name":{"s3cret":1}`), "the parent has no metadata.name, or an identity that is no string"},
		"uid is a number":      {instead(`"uid":"u"`, `"uid":73110000042`), "the parent has no metadata.name, or an identity that is no string"},
		"labels are a string":  {instead(`"uid":"u"`, `"labels":"s3cret"`), "the parent has labels or annotations that are no object"},
		"status is a string":   {instead(`{"old":true}`, `"s3cret"`), "the parent has a spec or status that is no object"},
		"string for a number":  {instead(`9007199254740993`, `"s3cret"`), "the parent cannot be decoded: spec.replicas is no valid int64"},
		"fraction":             {instead(`9007199254740993`, `73110000042.5`), "the parent cannot be decoded: spec.replicas is no valid int64"},
		"a child is null":      {instead(`"ConfigMap.v1":{}`, `"ConfigMap.v1":{"a":null}`), `children["ConfigMap.v1"]: "a" is no object with apiVersion, kind and metadata`},
		"a child has no name":  {instead(`"name":"p",`, ``), `children["Pod.v1"]: "ns/p" has no metadata.name, or an identity that is no string`},
		"another kind's child": {instead(`"kind":"Pod"`, `"kind":"S3cret"`), `children["Pod.v1"]: "p" is of another kind`},
	} {
		t.Run(name, func(t *testing.T) {
			controller := controllerOf(func(*greeting, Observed) (greetingResult, error) { return greetingResult{}, nil })
			answer, err := controller.Call(SyncHook, noon, []byte(test.body))
			require.EqualError(t, err, test.text)
			require.True(t, IsRequestError(err))
			require.Nil(t, answer.Body)
		})
	}
}

// What is damaged must not look as if it were not there.
func TestDamagedObjectIsAnErrorAndNotAbsent(t *testing.T) {
	spec := func(child, spec string) string { return strings.TrimSuffix(child, "}") + `,"spec":` + spec + `}` }
	objects := observedPods(t, observed("Pod", "a", "")+","+spec(observed("Pod", "p", ""), `{"containers":"s3cret"}`)+","+
		spec(observed("Pod", "q", ""), `{"containers":[{"resources":{"limits":{"cpu":"s3cret"}}}]}`))
	const text = "Pod/p cannot be decoded: spec.containers is no valid []v1.Container"
	_, err := List[corev1.Pod](objects, "v1", "Pod")
	require.EqualError(t, err, text)
	_, err = Get[corev1.Pod](objects, "v1", "Pod", "p")
	require.EqualError(t, err, text)
	_, err = Get[corev1.Pod](objects, "v1", "Pod", "q")
	require.ErrorContains(t, err, "Pod/q cannot be decoded: spec.containers.0.resources.limits.cpu is no valid resource.Quantity")
	require.NotContains(t, err.Error(), "s3cret")

	found, err := Get[corev1.Pod](objects, "v1", "Pod", "a")
	require.NoError(t, err)
	require.Equal(t, "a", found.Name)
	require.Empty(t, objects.All("v1", "Secret"))
}

// A child that is decoded with the request is refused with it, but for a teardown.
func TestDamagedChildIsRefusedWithItsRequest(t *testing.T) {
	controller := controllerOf(func(*greeting, Observed) (greetingResult, error) {
		return greetingResult{Status: map[string]any{}}, nil
	})
	controller.Children[1].DecodeAs = reflect.TypeFor[corev1.Pod]()
	damaged := observed("Pod", "p", `,"generation":"s3cret"`)
	answer, err := controller.Call(SyncHook, noon, ask(false, "", damaged))
	require.EqualError(t, err, "children.Pod.v1.ns~1p.metadata.generation is no valid int64")
	require.True(t, IsRequestError(err))
	require.Equal(t, "hi", answer.Parent.Name)
	_, err = controller.Call(FinalizeHook, noon, ask(true, "", damaged))
	require.NoError(t, err)
}

// The decoder quotes numbers in more than one way.
func TestNumbersAreNotQuoted(t *testing.T) {
	for name, test := range map[string]struct {
		raw  string
		into any
		text string
	}{
		"a field":               {`{"spec":{"replicas":73110000042.5}}`, new(greeting), "spec.replicas is no valid int64"},
		"no field":              {`73110000042`, new(int32), "it is no valid int32"},
		"beyond a float":        {`{"n":7311e999}`, new(map[string]any), "n is no valid interface {}"},
		"a port of either type": {`{"port":73110000042}`, new(corev1.HTTPGetAction), "port is no valid intstr.IntOrString"},
	} {
		require.EqualError(t, decode([]byte(test.raw), test.into), test.text, name)
	}
}

// Hook version v1 keys objects by name, v2 by namespace and name.
func TestKeysAreNotRead(t *testing.T) {
	v2 := ask(false, "", observed("Pod", "b", "")+","+observed("Pod", "a", ""))
	v1 := strings.ReplaceAll(string(v2), `"ns/`, `"`)
	require.NotEqual(t, string(v2), v1)
	keeps := controllerOf(func(_ *greeting, seen Observed) (greetingResult, error) {
		result := greetingResult{Status: map[string]any{}}
		for _, pod := range seen.Children.All("v1", "Pod") {
			result.Children = append(result.Children, Keep(pod))
		}
		return result, nil
	})
	first, err := keeps.Call(SyncHook, noon, v2)
	require.NoError(t, err)
	second, err := keeps.Call(SyncHook, noon, []byte(v1))
	require.NoError(t, err)
	require.Equal(t, string(first.Body), string(second.Body))
	require.Equal(t, "a", first.Children[0].Name)
}

func TestResyncIsRoundedUp(t *testing.T) {
	for after, want := range map[time.Duration]string{
		1: `,"resyncAfterSeconds":1`, time.Second: `,"resyncAfterSeconds":1`, time.Second + 1: `,"resyncAfterSeconds":2`, 0: "", -time.Second: "",
	} {
		controller := controllerOf(func(*greeting, Observed) (greetingResult, error) {
			return greetingResult{Status: map[string]any{}, ResyncAfter: after}, nil
		})
		answer, err := controller.Call(SyncHook, noon, ask(false, "", ""))
		require.NoError(t, err)
		require.Equal(t, `{"status":{},"children":[]`+want+`}`, string(answer.Body), "%s", after)
	}
}

func TestWhatHasNoFormInJSONIsRefused(t *testing.T) {
	const text = "child ConfigMap/a: data: x: a chan int has no form in JSON"
	_, err := Observed{}.Compare([]Object{wordless()})
	require.EqualError(t, err, text)
	controller := controllerOf(func(*greeting, Observed) (greetingResult, error) {
		return greetingResult{Status: map[string]any{}, Children: []Object{wordless()}}, nil
	})
	_, err = controller.Call(SyncHook, noon, ask(false, "", ""))
	require.EqualError(t, err, text)

	controller = controllerOf(func(*greeting, Observed) (greetingResult, error) {
		return greetingResult{Status: map[string]any{"c": make(chan int)}}, nil
	})
	_, err = controller.Call(SyncHook, noon, ask(false, "", ""))
	require.EqualError(t, err, "the status cannot be encoded: c: a chan int has no form in JSON")
}

// A hook stamps a child before it sets what another controller rules.
func TestStampOutlivesWhatIsSetAfterIt(t *testing.T) {
	child := configMap("a")
	require.NoError(t, Stamp(child))
	stamp := child.Annotations[HashAnnotation]
	child.Data = map[string]string{"ruled": "elsewhere"}
	controller := controllerOf(func(*greeting, Observed) (greetingResult, error) {
		return greetingResult{Status: map[string]any{}, Children: []Object{child}}, nil
	})
	answer, err := controller.Call(SyncHook, noon, ask(false, "", ""))
	require.NoError(t, err)
	require.Contains(t, string(answer.Body), `"operetta.dev/hash":"`+stamp+`"`)

	kept := Keep(Snapshot{APIVersion: "v1", Kind: "Pod", Name: "p"})
	require.NoError(t, Stamp(kept))
	require.Empty(t, kept.GetAnnotations(), "what is kept is not stamped")
}
