package laws

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/operetta-dev/operetta/metacontroller"
)

// forger changes objects as a user may.
type forger struct{ random *rand.Rand }

func (f forger) pick(words ...string) string { return words[f.random.IntN(len(words))] }

// forge changes one object of a request. Related objects keep their names,
// because a hook may have to pass them on.
func (f forger) forge(request map[string]any) {
	children, related := ObservedIn(request, "children"), ObservedIn(request, "related")
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

// claim returns a forged last-applied annotation: the object itself with other
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
		claimed["spec"] = replaceLeaves(claimed["spec"], func(leaf any) any {
			if _, isText := leaf.(string); isText {
				return stolen
			}
			return leaf
		})
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
	// The contents of a Role and a RoleBinding, which are not below spec.
	claimed["rules"] = []any{map[string]any{"apiGroups": []any{"*"}, "resources": []any{"*", stolen}, "verbs": []any{"*", stolen}, "resourceNames": []any{stolen}}}
	claimed["roleRef"] = map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": stolen}
	claimed["subjects"] = []any{map[string]any{"kind": "User", "name": stolen}}
	text, err := json.Marshal(claimed)
	if err != nil {
		return "{"
	}
	return string(text)
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

// rekey puts the objects of a request under the keys that go with their names.
// Of two with one name the later stays.
func rekey(request map[string]any) {
	groups, _ := request["children"].(map[string]any)
	for kind, group := range groups {
		rekeyed := map[string]any{}
		objects := group.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(objects)) {
			rekeyed[keyOf(request, objects[key].(map[string]any))] = objects[key]
		}
		groups[kind] = rekeyed
	}
}
