package operettatest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/internal/testenv"
	"github.com/operetta-dev/operetta/metacontroller"
)

const (
	// forged marks what a user wrote onto an object. It may be in an answer
	// only in a kept child, at the same place.
	forged = "forged"
	// stolen marks what a user wrote into a forged annotation. It must never be
	// in an answer.
	stolen = "stolen"
)

// nothingForged lets a user who may edit every child write anything onto them: no hook
// may pass any of it on.
func (k kind) nothingForged(t *testing.T) {
	var targets []corpus.Case
	for _, c := range k.cases {
		if c.Hook != metacontroller.CustomizeHook && len(observedIn(parsed(t, c.Request), "children")) > 0 {
			targets = append(targets, c)
		}
	}
	next := advise(t, "")
	tried, answered := len(targets)*11, 0
	switch {
	case testenv.Thorough():
		tried *= 20
	case testing.Short():
		tried /= 3
	}
	for seed := range tried {
		if requireNothingForged(t, next, targets, uint64(seed)) {
			answered++
		}
	}
	if tried > 30 {
		next("decode of a child only what the answer needs, so that an edit of the rest is no error")
		require.Greater(t, answered, tried/2, "most forged requests are refused, so that little was tested")
	}
}

// requireNothingForged sends one forged request, and reports whether it was
// answered.
func requireNothingForged(t testing.TB, next func(remedy string), targets []corpus.Case, seed uint64) bool {
	random := rand.New(rand.NewPCG(seed, 1)) // the seed decides
	var request object
	target := changed(t, targets[random.IntN(len(targets))], func(whole object) {
		request = whole
		forger := forger{random: random}
		for range 1 + random.IntN(4) {
			forger.forge(request)
		}
		rekey(request)
	})
	where := fmt.Sprintf("%s, seed %d", target.Name, seed)
	answer, err := target.Call()
	next("name a child in an error, and quote nothing of it")
	if err != nil {
		require.NotContains(t, err.Error(), stolen, where)
		return false
	}
	observed := byRef(observedIn(request, "children"))
	next("restate an observed child with metacontroller.Keep, and copy no text from one")
	requireSafe(t, target.Controller, target.Hook, answer.Body)
	for i, child := range childrenOf(t, answer.Body) {
		where, kept := where+": "+corpus.Ref(child), answer.Children[i].Kept
		metadata := child["metadata"].(object)
		if own := metadata["namespace"]; own != nil {
			require.Equal(t, namespaceOf(request), own, where)
		}
		labels, _ := metadata["labels"].(object)
		require.NotContains(t, labels, "controller-uid", where)
		require.NotContains(t, annotationsOf(child), metacontroller.LastAppliedAnnotation, where)
		require.True(t, !kept || observed[corpus.Ref(child)] != nil, where)
		requireUnforged(t, where, child, observed[corpus.Ref(child)], kept)
	}
	return true
}

// requireUnforged compares an answer with what was observed. A list is compared
// with all items of the observed one. A text that a user wrote may only be at the
// same place of a kept child.
func requireUnforged(t testing.TB, where string, answered, observed any, kept bool) {
	requireText := func(text string, isObserved bool) {
		require.NotContains(t, text, stolen, where)
		require.True(t, kept && isObserved || !strings.Contains(text, forged), "%s passes on %q", where, text)
	}
	switch answered := answered.(type) {
	case object:
		is, _ := observed.(object)
		for name, member := range answered {
			_, isObserved := is[name]
			requireText(name, isObserved)
			requireUnforged(t, where+"."+name, member, is[name], kept)
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
		requireText(answered, observed == answered)
	}
}

// matches reports whether an answered item can be the observed one.
func matches(answered, observed any) bool {
	one, isObject := answered.(object)
	other, _ := observed.(object)
	if !isObject {
		return answered == observed
	}
	for _, key := range []string{"name", "key", "containerPort", "port", "mountPath"} {
		if one[key] != other[key] && one[key] != nil {
			return false
		}
	}
	return true
}

// forger changes objects as a user may.
type forger struct{ random *rand.Rand }

func (f forger) pick(words ...string) string { return words[f.random.IntN(len(words))] }

// forge changes one object of a request. Related objects keep their names,
// because a hook may have to pass them on.
func (f forger) forge(request object) {
	children := observedIn(request, "children")
	all := append(children, observedIn(request, "related")...)
	i := f.random.IntN(len(all))
	metadata, ok := all[i]["metadata"].(object)
	if !ok {
		return
	}
	member := func(name string) object {
		if _, ok := metadata[name].(object); !ok {
			metadata[name] = object{}
		}
		return metadata[name].(object)
	}
	switch f.random.IntN(8) {
	case 0, 1, 2:
		member("annotations")[metacontroller.LastAppliedAnnotation] = f.claim(all[i])
	case 3:
		labels := member("labels")
		labels[f.pick(append(slices.Sorted(maps.Keys(labels)), forged+"-label", "controller-uid")...)] = f.text()
	case 4:
		annotations := member("annotations")
		annotations[f.pick(append(slices.Sorted(maps.Keys(annotations)), forged+"-annotation", metacontroller.HashAnnotation)...)] = f.text()
	case 5:
		metadata["ownerReferences"] = []any{object{
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

func (f forger) text() string {
	return f.pick(forged, forged+"-mysql", "mysql", "eureka", "0", "")
}

// claim returns a forged last-applied annotation: the object itself with other
// values, or something quite different.
func (f forger) claim(o object) string {
	claimed := runtime.DeepCopyJSON(o)
	switch f.random.IntN(5) {
	case 0:
		return f.pick("", "{", "[]", "null", "1", `"`+stolen+`"`, `{"metadata":[]}`, `{"spec":"`+stolen+`"}`)
	case 1:
		claimed["kind"], claimed["apiVersion"] = f.pick("Pod", "Secret", "Deployment", stolen), f.pick("v1", "apps/v1", stolen)
	case 2:
		eachObject(claimed["spec"], func(inner object) {
			for name, member := range inner {
				if _, isText := member.(string); isText {
					inner[name] = stolen
				}
			}
		})
		claimed["data"] = object{stolen: stolen, "my.cnf": stolen}
	default:
		claimed["spec"] = object{"replicas": 7, "hostPID": true, "template": object{"spec": object{
			"hostPID": true, "nodeName": stolen, "volumes": []any{object{"name": stolen, "hostPath": object{"path": "/" + stolen}}},
			"containers": []any{object{"name": f.pick("main", "mysql", stolen), "image": stolen, "securityContext": object{"privileged": true}}},
		}}}
		claimed["status"] = object{stolen: stolen}
	}
	claimed["metadata"] = object{
		"name": f.pick(stolen, nameOf(o)), "namespace": f.pick("kube-system", stolen, "default"), "generateName": stolen,
		"labels": object{stolen: stolen, "controller-uid": stolen}, "annotations": object{stolen: stolen, metacontroller.HashAnnotation: stolen},
		"ownerReferences": []any{object{"apiVersion": "v1", "kind": "Namespace", "name": stolen, "uid": stolen}},
		"finalizers":      []any{stolen}, "resourceVersion": stolen, "uid": stolen, "managedFields": []any{object{"manager": stolen}},
	}
	for _, name := range []string{"binaryData", "stringData", "secrets", "imagePullSecrets"} {
		claimed[name] = object{stolen: stolen}
	}
	// The contents of a Role and a RoleBinding, which are not below spec.
	claimed["rules"] = []any{object{"apiGroups": []any{"*"}, "resources": []any{"*", stolen}, "verbs": []any{"*", stolen}, "resourceNames": []any{stolen}}}
	claimed["roleRef"] = object{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": stolen}
	claimed["subjects"] = []any{object{"kind": "User", "name": stolen}}
	text, err := json.Marshal(claimed)
	if err != nil {
		panic(err) // it was JSON when it came
	}
	return string(text)
}

func (f forger) managedFields() []any {
	fields := f.pick(`{"f:metadata":{"f:ownerReferences":{},"f:finalizers":{},"f:namespace":{},"f:generateName":{},"f:labels":{".":{}},"f:annotations":{}},"f:status":{},"f:spec":{}}`,
		`{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"stolen\"}":{".":{},"f:image":{}},"i:0":{},"v:\"stolen\"":{}}}}}}`,
		`{"f:stolen":{}}`, `{"f:rules":{},"f:roleRef":{},"f:subjects":{},"f:automountServiceAccountToken":{}}`, `{"f:data":{"f:stolen":{}}}`, `{".":{}}`, `{}`, `null`, `{"x":1}`)
	var set any
	_ = json.Unmarshal([]byte(fields), &set)
	return []any{object{
		"manager": f.pick("metacontroller", stolen), "operation": f.pick("Apply", "Apply", "Update"), "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": set,
	}}
}

// rekey puts the objects of a request under the keys that go with their names.
// Of two with one name the later stays.
func rekey(request object) {
	groups, _ := request["children"].(object)
	for kind, group := range groups {
		rekeyed := object{}
		objects := group.(object)
		for _, key := range slices.Sorted(maps.Keys(objects)) {
			rekeyed[keyOf(request, objects[key].(object))] = objects[key]
		}
		groups[kind] = rekeyed
	}
}
