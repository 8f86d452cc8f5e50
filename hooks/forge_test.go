package hooks_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/operetta-dev/operetta/metacontroller"
)

// forgeries is how many requests TestForgedChildren asks about:
// go test ./hooks -run TestForgedChildren -forgeries 1000000
var forgeries = flag.Int("forgeries", 3000, "how many forged requests to try")

const (
	// forged marks what a user wrote onto an object. It may come back only in a
	// kept child, where the object has it.
	forged = "forged"
	// stolen marks what a user wrote into a text that claims to be an object. It
	// may never come back.
	stolen = "stolen"
)

// TestForgedChildren lets a user who may edit every child write what he wants
// onto them: no hook may pass any of it on.
func TestForgedChildren(t *testing.T) {
	targets := forgeTargets(t)
	answered := 0
	for seed := range uint64(*forgeries) {
		if requireNothingForged(t, targets, seed) {
			answered++
		}
	}
	require.Greater(t, answered, *forgeries/2, "most forged requests are refused, so that little was tested")
}

// FuzzForgedChildren looks for a seed of TestForgedChildren that fails.
func FuzzForgedChildren(f *testing.F) {
	targets := forgeTargets(f)
	for seed := range uint64(100) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) { requireNothingForged(t, targets, seed) })
}

// forgeTarget is a case with observed children.
type forgeTarget struct {
	exchange

	request map[string]any
}

func forgeTargets(t testing.TB) []forgeTarget {
	var targets []forgeTarget
	for _, e := range cases(t) {
		request := parsed(t, e.request)
		if e.hook != metacontroller.CustomizeHook && len(observedIn(request, "children")) > 0 {
			targets = append(targets, forgeTarget{e, request})
		}
	}
	require.NotEmpty(t, targets)
	return targets
}

// observedIn returns the objects of a request's map of maps, in a fixed order.
func observedIn(request map[string]any, field string) []map[string]any {
	var objects []map[string]any
	groups, _ := request[field].(map[string]any)
	for _, kind := range slices.Sorted(maps.Keys(groups)) {
		group, _ := groups[kind].(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(group)) {
			objects = append(objects, group[key].(map[string]any))
		}
	}
	return objects
}

// requireNothingForged asks about one forged request, and reports whether it was
// answered.
func requireNothingForged(t testing.TB, targets []forgeTarget, seed uint64) bool {
	random := rand.New(rand.NewPCG(seed, 1))
	target := targets[random.IntN(len(targets))]
	request := runtime.DeepCopyJSON(target.request)
	forger := forger{random: random}
	for range 1 + random.IntN(4) {
		forger.forge(request)
	}
	rekey(request)
	answer, err := target.controller.Call(target.hook, target.now, encoded(t, request))
	if err != nil {
		require.NotContains(t, err.Error(), stolen, "%s, seed %d", target.name, seed)
		return false
	}
	observed := map[string]map[string]any{}
	for _, child := range observedIn(request, "children") {
		observed[refOf(child)] = child
	}
	namespace, _ := request["parent"].(map[string]any)["metadata"].(map[string]any)["namespace"].(string)
	requireSafe(t, target.controller, target.hook, answer.Body)
	for i, child := range childrenOf(t, answer.Body) {
		where := fmt.Sprintf("%s, seed %d: %s", target.name, seed, refOf(child))
		requireOwnMetadata(t, where, namespace, child)
		if answer.Children[i].Kept {
			require.Contains(t, observed, refOf(child), where)
		}
		requireUnforged(t, where, child, observed[refOf(child)], answer.Children[i].Kept)
	}
	return true
}

// requireOwnMetadata checks what decides where a child goes and whose it is.
func requireOwnMetadata(t testing.TB, where, namespace string, child map[string]any) {
	metadata, _ := child["metadata"].(map[string]any)
	for name := range metadata {
		require.Contains(t, []string{"name", "namespace", "labels", "annotations"}, name, where)
	}
	if own := metadata["namespace"]; own != nil {
		require.Equal(t, namespace, own, where)
	}
	labels, _ := metadata["labels"].(map[string]any)
	require.NotContains(t, labels, "controller-uid", where)
	require.NotContains(t, annotationsOf(child), metacontroller.LastAppliedAnnotation, where)
	require.NotContains(t, child, "status", where)
}

// requireUnforged walks through what is answered beside what was observed. A
// list is compared with all items of the observed one.
func requireUnforged(t testing.TB, where string, answered, observed any, kept bool) {
	switch answered := answered.(type) {
	case map[string]any:
		object, _ := observed.(map[string]any)
		for name, member := range answered {
			requireText(t, where, name, has(object, name), kept)
			requireUnforged(t, where+"."+name, member, object[name], kept)
		}
	case []any:
		list, _ := observed.([]any)
		for _, item := range answered {
			var like any
			for _, other := range list {
				if matches(item, other) {
					like = other
				}
			}
			requireUnforged(t, where+"[]", item, like, kept)
		}
	case string:
		requireText(t, where, answered, observed == answered, kept)
	}
}

func has(object map[string]any, name string) bool { _, found := object[name]; return found }

// matches reports whether an answered item can be the observed one.
func matches(answered, observed any) bool {
	object, isObject := answered.(map[string]any)
	other, _ := observed.(map[string]any)
	if !isObject {
		return answered == observed
	}
	for _, key := range []string{"name", "key", "containerPort", "port", "mountPath"} {
		if object[key] != other[key] && object[key] != nil {
			return false
		}
	}
	return true
}

// requireText fails on a text that a user wrote, unless it is where the user
// wrote it, on a child that stays as it is.
func requireText(t testing.TB, where, text string, isObserved, kept bool) {
	require.NotContains(t, text, stolen, where)
	if strings.Contains(text, forged) {
		require.True(t, kept && isObserved, "%s passes on %q", where, text)
	}
}

// forger writes onto objects what a user may write.
type forger struct{ random *rand.Rand }

func (f forger) pick(words ...string) string { return words[f.random.IntN(len(words))] }

// forge changes one object of a request. Related objects keep their names: a
// tool that is to debug a Pod has to say which.
func (f forger) forge(request map[string]any) {
	children, related := observedIn(request, "children"), observedIn(request, "related")
	all := append(slices.Clone(children), related...)
	i := f.random.IntN(len(all))
	object := all[i]
	metadata, ok := object["metadata"].(map[string]any)
	if !ok {
		return
	}
	switch f.random.IntN(8) {
	case 0, 1, 2:
		f.member(metadata, "annotations")[metacontroller.LastAppliedAnnotation] = f.claim(object)
	case 3:
		labels := f.member(metadata, "labels")
		labels[f.pick(append(slices.Sorted(maps.Keys(labels)), forged+"-label", "controller-uid")...)] = f.text()
	case 4:
		annotations := f.member(metadata, "annotations")
		annotations[f.pick(append(slices.Sorted(maps.Keys(annotations)), forged+"-annotation", metacontroller.HashAnnotation)...)] = f.text()
	case 5:
		metadata["ownerReferences"] = []any{map[string]any{
			"apiVersion": f.pick("v1", "apps/v1"), "kind": f.pick("Namespace", "Deployment"), "name": f.text(), "uid": f.text(), "controller": true,
		}}
	case 6:
		metadata["managedFields"] = f.managedFields()
	case 7:
		if i < len(children) {
			metadata["name"] = f.pick(forged+"-name", forged+"-other")
		}
		metadata["generateName"], metadata["finalizers"] = forged, []any{forged + "/x"}
	}
}

func (f forger) member(object map[string]any, name string) map[string]any {
	if _, ok := object[name].(map[string]any); !ok {
		object[name] = map[string]any{}
	}
	return object[name].(map[string]any)
}

func (f forger) text() string {
	return f.pick(forged, forged+"-mysql", "mysql", "eureka", "0", "")
}

// claim returns a text of what was last applied: the object itself with other
// values, or something quite different.
func (f forger) claim(object map[string]any) string {
	claimed := runtime.DeepCopyJSON(object)
	metadata := map[string]any{
		"name": f.pick(stolen, nameOf(object)), "namespace": f.pick("kube-system", stolen, "default"), "generateName": stolen,
		"labels": map[string]any{stolen: stolen, "controller-uid": stolen}, "annotations": map[string]any{stolen: stolen, metacontroller.HashAnnotation: stolen},
		"ownerReferences": []any{map[string]any{"apiVersion": "v1", "kind": "Namespace", "name": stolen, "uid": stolen}},
		"finalizers":      []any{stolen}, "resourceVersion": stolen, "uid": stolen, "managedFields": []any{map[string]any{"manager": stolen}},
	}
	switch f.random.IntN(5) {
	case 0:
		return f.pick("", "{", "[]", "null", "1", `"`+stolen+`"`, `{"metadata":[]}`, `{"spec":"`+stolen+`"}`)
	case 1:
		claimed["kind"], claimed["apiVersion"] = f.pick("Pod", "Secret", "Deployment", stolen), f.pick("v1", "apps/v1", stolen)
	case 2:
		claimed["spec"] = steal(claimed["spec"])
		claimed["data"] = map[string]any{stolen: stolen, "my.cnf": stolen}
	default:
		claimed["spec"] = map[string]any{"replicas": 7, "hostPID": true, "template": map[string]any{"spec": map[string]any{
			"hostPID": true, "nodeName": stolen, "volumes": []any{map[string]any{"name": stolen, "hostPath": map[string]any{"path": "/" + stolen}}},
			"containers": []any{map[string]any{"name": f.pick("main", "mysql", stolen), "image": stolen, "securityContext": map[string]any{"privileged": true}}},
		}}}
		claimed["status"] = map[string]any{stolen: stolen}
	}
	claimed["metadata"] = metadata
	for _, name := range []string{"binaryData", "stringData", "secrets", "imagePullSecrets"} {
		claimed[name] = map[string]any{stolen: stolen}
	}
	// What a Role and a RoleBinding are made of, which stands beside the metadata.
	claimed["rules"] = []any{map[string]any{"apiGroups": []any{"*"}, "resources": []any{"*", stolen}, "verbs": []any{"*", stolen}, "resourceNames": []any{stolen}}}
	claimed["roleRef"] = map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": stolen}
	claimed["subjects"] = []any{map[string]any{"kind": "User", "name": stolen}}
	text, err := json.Marshal(claimed)
	if err != nil {
		return "{"
	}
	return string(text)
}

// steal replaces every text in a value.
func steal(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name := range value {
			value[name] = steal(value[name])
		}
		return value
	case []any:
		for i := range value {
			value[i] = steal(value[i])
		}
		return value
	case string:
		return stolen
	default:
		return value
	}
}

func (f forger) managedFields() []any {
	fields := f.pick(`{"f:metadata":{"f:ownerReferences":{},"f:finalizers":{},"f:namespace":{},"f:generateName":{},"f:labels":{".":{}},"f:annotations":{}},"f:status":{},"f:spec":{}}`,
		`{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"stolen\"}":{".":{},"f:image":{}},"i:0":{},"v:\"stolen\"":{}}}}}}`,
		`{"f:stolen":{}}`, `{"f:rules":{},"f:roleRef":{},"f:subjects":{},"f:automountServiceAccountToken":{}}`, `{"f:data":{"f:stolen":{}}}`, `{".":{}}`, `{}`, `null`, `{"x":1}`)
	var set any
	_ = json.Unmarshal([]byte(fields), &set)
	return []any{map[string]any{
		"manager": f.pick("metacontroller", stolen), "operation": f.pick("Apply", "Apply", "Update"), "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": set,
	}}
}

func nameOf(object map[string]any) string {
	metadata, _ := object["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	return name
}

// rekey puts the objects of a request under the keys that go with their names.
// Of two with one name the later stays.
func rekey(request map[string]any) {
	groups, _ := request["children"].(map[string]any)
	for kind, group := range groups {
		rekeyed := map[string]any{}
		objects := group.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(objects)) {
			rekeyed["default/"+nameOf(objects[key].(map[string]any))] = objects[key]
		}
		groups[kind] = rekeyed
	}
}
