package player

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/internal/lab/cluster/apiserver"
	"github.com/operetta-dev/operetta/internal/lab/write/manifests"
	"github.com/operetta-dev/operetta/metacontroller"
)

func TestRequestHasWhatMetacontrollerSends(t *testing.T) {
	for version, key := range map[string]string{"v1": "c", "v2": "default/c"} {
		y := newToy(configMaps, services)
		y.sync = func(request) any { return answer(true, configMap("c", "1")) }
		w := y.world(t, func(o *Options) { o.HookVersion = version })
		require.NoError(t, w.Play())

		var body map[string]any
		_, last, _ := strings.Cut(y.bodies[len(y.bodies)-1], " ")
		require.NoError(t, json.Unmarshal([]byte(last), &body))
		require.ElementsMatch(t, []string{"controller", "parent", "children", "related", "finalizing"}, slices.Sorted(maps.Keys(body)))
		require.Equal(t, false, body["finalizing"])
		require.Equal(t, map[string]any{}, body["related"])
		children := body["children"].(map[string]any)
		require.ElementsMatch(t, []string{"ConfigMap.v1", "Service.v1"}, slices.Sorted(maps.Keys(children)))
		require.Equal(t, map[string]any{}, children["Service.v1"], "a kind without objects has its key all the same")
		require.Equal(t, []string{key}, slices.Sorted(maps.Keys(children["ConfigMap.v1"].(map[string]any))))
		require.Equal(t, "operetta-toy", body["controller"].(map[string]any)["metadata"].(map[string]any)["name"])
		watched := body["controller"].(map[string]any)["spec"].(map[string]any)["parentResource"].(map[string]any)
		require.Equal(t, true, watched["ignoreStatusChanges"], "as the CompositeControllers of deploy/ have it")
	}
}

func TestAnswersAreReadStrictly(t *testing.T) {
	for answer, want := range map[string]string{
		`{"status":{},"children":[],"Children":[]}`:                                       `unknown field "Children"`,
		`{"status":{},"children":[],"children":[]}`:                                       `duplicate field "children"`,
		`{"status":{},"children":[null]}`:                                                 "children[0] is null",
		`{"status":{},"children":[{"apiVersion":"v1","metadata":{"name":"x"}}]}`:          "Kind",
		`{"status":{},"children":[{"apiVersion":"v1","kind":"ConfigMap","metadata":{}}]}`: "has no name",
		`{"status":[],"children":[]}`:                                                     "cannot be read",
		`{"status":{},"children":[]} x`:                                                   "cannot be read",
		``:                                                                                "cannot be read",
		`{"children":[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","labels":{"controller-uid":"z"}}}]}`: "don't match parent selector",
	} {
		y := newToy(configMaps)
		y.sync = func(request) any { return answer }
		w := y.world(t)
		require.NoError(t, w.Play())
		require.Contains(t, w.Outcomes()[0].Failure, want, answer)
		require.Nil(t, w.Get(ref("v1", "ConfigMap", "x")))
	}
}

func TestUnknownFieldsPassInHookVersionV1(t *testing.T) {
	y := newToy(configMaps)
	y.sync = func(request) any { return `{"status":{},"children":[],"extra":1}` }
	w := y.world(t, func(o *Options) { o.HookVersion = "v1" })
	require.NoError(t, w.Play())
	require.Empty(t, w.Outcomes()[0].Failure)
}

func TestFailureOfAHookFreezesTheParent(t *testing.T) {
	y := newToy(configMaps)
	y.sync = func(r request) any {
		if r.generation() > 1 {
			return errors.New("cannot compute")
		}
		return answer(true, configMap("c", "1"))
	}
	w := y.world(t)
	require.NoError(t, w.Play())
	before := text(t, w.Get(toyRef), "status")
	apply(t, w, `{apiVersion: toys.example.com/v1, kind: Toy, metadata: {name: t}, spec: {x: 1}}`)
	require.NoError(t, w.Play())
	require.Equal(t, "sync hook: 500: cannot compute", w.Outcomes()[0].Failure)
	require.NotNil(t, w.Get(ref("v1", "ConfigMap", "c")))
	require.Equal(t, before, text(t, w.Get(toyRef), "status"))
	failures := 0
	for _, line := range story(w) {
		if strings.Contains(line, "failed") {
			failures++
		}
	}
	require.Equal(t, 1, failures, "the same failure is told once: %s", story(w))
}

func TestStatusIsReplacedWithObservedGeneration(t *testing.T) {
	y := newToy()
	y.sync = func(r request) any {
		return map[string]any{"status": map[string]any{fmt.Sprintf("field%d", r.generation()): 1}, "children": []any{}}
	}
	w := y.world(t)
	require.NoError(t, w.Play())
	apply(t, w, `{apiVersion: toys.example.com/v1, kind: Toy, metadata: {name: t}, spec: {x: 1}}`)
	require.NoError(t, w.Play())
	require.Equal(t, `{"field2":1,"observedGeneration":2}`, text(t, w.Get(toyRef), "status"))
}

func TestChildrenThatAreNotReturnedGo(t *testing.T) {
	y := newToy(configMaps)
	y.sync = func(r request) any {
		if r.generation() > 1 {
			return answer(true, configMap("b", "1"))
		}
		return answer(true, configMap("a", "1"), configMap("b", "1"))
	}
	w := y.world(t)
	require.NoError(t, w.Play())
	apply(t, w, `{apiVersion: toys.example.com/v1, kind: Toy, metadata: {name: t}, spec: {x: 1}}`)
	require.NoError(t, w.Play())
	require.Nil(t, w.Get(ref("v1", "ConfigMap", "a")))
	require.NotNil(t, w.Get(ref("v1", "ConfigMap", "b")))
}

func TestUpdateMethods(t *testing.T) {
	onDelete := configMaps
	onDelete.Update = metacontroller.OnDelete
	for _, strategy := range []Strategy{DynamicApply, ServerSideApply} {
		for want, kind := range map[string]metacontroller.Child{`"2"`: configMaps, `"1"`: onDelete} {
			y := newToy(kind)
			y.sync = func(r request) any { return answer(true, configMap("c", fmt.Sprint(r.generation()))) }
			w := y.world(t, func(o *Options) { o.Apply = strategy })
			require.NoError(t, w.Play())
			apply(t, w, `{apiVersion: toys.example.com/v1, kind: Toy, metadata: {name: t}, spec: {x: 1}}`)
			require.NoError(t, w.Play())
			require.Equal(t, want, text(t, w.Get(ref("v1", "ConfigMap", "c")), "data", "key"), "%s, %s", strategy, kind.Update)
		}
	}
}

func TestDriftIsMendedAndForeignFieldsStay(t *testing.T) {
	for _, strategy := range []Strategy{DynamicApply, ServerSideApply} {
		y := newToy(configMaps)
		y.sync = func(request) any { return answer(true, configMap("c", "1")) }
		w := y.world(t, func(o *Options) { o.Apply = strategy })
		require.NoError(t, w.Play())
		edited := w.Get(ref("v1", "ConfigMap", "c")).DeepCopy()
		edited.Object["data"] = map[string]any{"key": "wrong", "foreign": "x"}
		edited.SetManagedFields(nil)
		_, err := w.server.Update(apiserver.ByUser, edited)
		require.NoError(t, err)
		require.NoError(t, w.Play())
		require.Equal(t, `{"foreign":"x","key":"1"}`, text(t, w.Get(ref("v1", "ConfigMap", "c")), "data"), strategy)
	}
}

func TestForeignObjectBlocksUnderDynamicApplyAndIsTakenOverOnTheServer(t *testing.T) {
	for strategy, want := range map[Strategy]string{
		DynamicApply: `{"key":"theirs","more":"x"}`, ServerSideApply: `{"key":"1","more":"x"}`,
	} {
		y := newToy(configMaps)
		y.sync = func(r request) any { return answer(r.child("ConfigMap.v1", "c") != nil, configMap("c", "1")) }
		options := Options{Controllers: []metacontroller.Controller{y.Controller}, Call: y.call, Apply: strategy}
		w := New(options)
		apply(t, w, `{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {key: theirs, more: x}}`)
		apply(t, w, `{apiVersion: toys.example.com/v1, kind: Toy, metadata: {name: t}, spec: {}}`)
		require.NoError(t, w.Play())
		object := w.Get(ref("v1", "ConfigMap", "c"))
		require.Equal(t, want, text(t, object, "data"), strategy)
		require.Equal(t, strategy == ServerSideApply, w.IsChild(object))
		require.True(t, w.IsForeign(object))
	}
}

func TestOrphansAreAdoptedAndStraysReleased(t *testing.T) {
	y := newToy(configMaps)
	y.sync = func(request) any { return answer(true, configMap("c", "1"), configMap("orphan", "1")) }
	w := y.world(t)
	uid := string(w.Get(toyRef).GetUID())
	apply(t, w, fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {name: orphan, labels: {controller-uid: %q}}}`, uid))
	require.NoError(t, w.Play())
	require.True(t, w.IsChild(w.Get(ref("v1", "ConfigMap", "orphan"))))

	apply(t, w, fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {name: owned, labels: {controller-uid: %q},
		ownerReferences: [{apiVersion: %s, kind: %s, name: %s, uid: %q}]}}`, uid, toyRef.APIVersion, toyRef.Kind, toyRef.Name, uid))
	y.sync = func(request) any {
		return answer(true, configMap("c", "1"), configMap("orphan", "1"), configMap("owned", "1"))
	}
	require.NoError(t, w.Play())
	require.True(t, w.IsChild(w.Get(ref("v1", "ConfigMap", "owned"))), "it was owned, and not controlled")

	stray := w.Get(ref("v1", "ConfigMap", "c")).DeepCopy()
	stray.SetLabels(nil)
	_, err := w.server.Update(apiserver.ByUser, stray)
	require.NoError(t, err)
	require.NoError(t, w.Play())
	require.False(t, w.IsChild(w.Get(ref("v1", "ConfigMap", "c"))), "it has lost the label, so it is let go")
}

func TestOrderedTeardown(t *testing.T) {
	y := newToy(configMaps)
	y.OrderedTeardown = true
	y.sync = func(request) any { return answer(true, configMap("a", "1"), configMap("b", "1")) }
	y.finalize = func(r request) any {
		left := answer(false)
		if r.child("ConfigMap.v1", "b") != nil { // b goes first
			left["children"] = []any{configMap("a", "1")}
		}
		left["finalized"] = len(r.Children["ConfigMap.v1"]) == 0
		return left
	}
	w := y.world(t)
	require.NoError(t, w.Play())
	require.Equal(t, []string{"metacontroller.io/compositecontroller-operetta-toy"}, w.Get(toyRef).GetFinalizers())
	from := len(w.Steps)
	w.DeleteParents()
	require.NoError(t, w.Play())
	require.Nil(t, w.Get(toyRef))
	require.Empty(t, w.Outcomes())
	require.Equal(t, []string{
		fmt.Sprintf("%d ConfigMap/b deleted by the hook", from+1),
		fmt.Sprintf("%d ConfigMap/a deleted by the hook", from+2),
	}, story(w)[3:])
	require.Contains(t, y.bodies[len(y.bodies)-1], `"finalizing":true`)
}

// TestTheCompositeControllerIsTheInstalledOne wants requests to show the manifest that
// is printed for a cluster, and its name in the finalizer.
func TestTheCompositeControllerIsTheInstalledOne(t *testing.T) {
	acme := manifests.Installation{Prefix: "acme-", Namespace: "acme", Service: "operators", Port: 8080}
	y := newToy(configMaps)
	y.OrderedTeardown = true
	var seen map[string]any
	y.sync = func(r request) any { seen = r.Controller; return answer(true) }
	w := y.world(t, func(o *Options) { o.Installation = acme })
	require.NoError(t, w.Play())
	require.Equal(t, []string{"metacontroller.io/compositecontroller-acme-toy"}, w.Get(toyRef).GetFinalizers())

	printed, err := acme.CompositeController(y.Controller, "")
	require.NoError(t, err)
	want := map[string]any{}
	require.NoError(t, yaml.Unmarshal(printed, &want))
	require.Equal(t, want["spec"], seen["spec"])
	require.Equal(t, "acme-toy", seen["metadata"].(map[string]any)["name"])
}

func TestTeardownThatNeverEndsIsAnError(t *testing.T) {
	y := newToy(configMaps)
	y.OrderedTeardown = true
	y.sync = func(request) any { return answer(true) }
	y.finalize = func(request) any { return answer(false) }
	w := y.world(t)
	require.NoError(t, w.Play())
	w.DeleteParents()
	require.ErrorContains(t, w.Play(), "Toy default/t is being deleted and does not go: the finalizers metacontroller.io/")
}

func TestWithoutOrderTheGarbageCollectorTakesTheChildren(t *testing.T) {
	y := newToy(configMaps, deployments)
	y.sync = func(request) any { return answer(true, configMap("c", "1"), deployment("d", "x:1", 2)) }
	w := y.world(t)
	require.NoError(t, w.Play())
	w.DeleteParents()
	require.NoError(t, w.Play())
	for _, object := range w.Objects() {
		require.True(t, w.IsForeign(object), kube.RefOf(object))
	}
}

func TestCustomizeIsAskedOncePerGenerationAndItsObjectsTrigger(t *testing.T) {
	y := newToy(configMaps)
	y.Related = []metacontroller.Related{{Resource: named("v1", "Secret", "secrets")}}
	y.RelatedInAllNamespaces = true
	y.Customize = metacontroller.Customize(func(*struct{}) ([]metacontroller.Rule, error) { return nil, nil })
	y.customize = func(r request) any {
		require.Nil(t, r.Finalizing, "a customize request has the parent and the controller only")
		return map[string]any{"relatedResources": []any{
			map[string]any{"apiVersion": "v1", "resource": "secrets", "labelSelector": map[string]any{"matchLabels": map[string]any{"pick": "me"}}, "namespace": "default"},
			map[string]any{"apiVersion": "v1", "resource": "secrets", "names": []any{"named"}},
		}}
	}
	y.sync = func(r request) any {
		return answer(true, configMap("c", strings.Join(keysOfNested(r.Related["Secret.v1"]), " ")))
	}
	w := y.world(t)
	apply(t, w, `{apiVersion: v1, kind: Secret, metadata: {name: picked, labels: {pick: me}}}`)
	apply(t, w, `{apiVersion: v1, kind: Secret, metadata: {name: other}}`)
	require.NoError(t, w.Play())
	require.Equal(t, `"default/picked"`, text(t, w.Get(ref("v1", "ConfigMap", "c")), "data", "key"))

	apply(t, w, `{apiVersion: v1, kind: Secret, metadata: {name: named, namespace: elsewhere}}`)
	require.NoError(t, w.Play())
	require.Equal(t, `"default/picked elsewhere/named"`, text(t, w.Get(ref("v1", "ConfigMap", "c")), "data", "key"))
	asked := 0
	for _, body := range y.bodies {
		if strings.HasPrefix(body, "customize ") {
			asked++
		}
	}
	require.Equal(t, 1, asked)
}

func TestRulesStayInTheNamespaceOfTheParent(t *testing.T) {
	y := newToy(configMaps)
	y.Related = []metacontroller.Related{{Resource: named("v1", "Secret", "secrets")}}
	y.Customize = metacontroller.Customize(func(*struct{}) ([]metacontroller.Rule, error) { return nil, nil })
	rule := map[string]any{"apiVersion": "v1", "resource": "secrets", "names": []any{"named"}}
	y.customize = func(request) any { return map[string]any{"relatedResources": []any{rule}} }
	y.sync = func(r request) any {
		return answer(true, configMap("c", strings.Join(keysOfNested(r.Related["Secret.v1"]), " ")))
	}
	w := y.world(t)
	apply(t, w, `{apiVersion: v1, kind: Secret, metadata: {name: named}}`)
	apply(t, w, `{apiVersion: v1, kind: Secret, metadata: {name: named, namespace: elsewhere}}`)
	require.NoError(t, w.Play())
	require.Equal(t, `"default/named"`, text(t, w.Get(ref("v1", "ConfigMap", "c")), "data", "key"))

	rule["namespace"] = "elsewhere"
	w = y.world(t)
	w.Step()
	require.Contains(t, w.Outcomes()[0].Failure, "requested related object namespace elsewhere differs from parent object namespace default")
}

func keysOfNested(m map[string]map[string]any) []string {
	keys := map[string]any{}
	for key := range m {
		keys[key] = nil
	}
	return slices.Sorted(maps.Keys(keys))
}

func TestStatusAloneIsNoTrigger(t *testing.T) {
	y := newToy()
	y.sync = func(request) any { return answer(true) }
	w := y.world(t)
	require.NoError(t, w.Play())
	require.Equal(t, 1, w.Outcomes()[0].Calls)
}
