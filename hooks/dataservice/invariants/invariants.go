// Package invariants is what a DataService keeps to whatever is late or lost. Exploration checks it, and no
// image has it.
package invariants

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/operator"
	"github.com/operetta-dev/operetta/simulation"
)

// Invariants are the invariants of a DataService under late caches and lost
// writes.
func Invariants() simulation.Invariants {
	all := simulation.Invariants{
		History: []simulation.History{
			{Kind: "Deployment", Fields: []string{"spec.replicas"}, Reason: "where the spec has no number of replicas any more, the one it had stays"},
			{Kind: "StatefulSet", Fields: []string{"spec.replicas", "spec.volumeClaimTemplates"}, Reason: "the number stays, and claims cannot be changed"},
			{Kind: "DataService", If: isStalledFor("ImmutableStorage"), Reason: "a new one would have the storage that it requests"},
		},
		Watch: func() func(simulation.Write) string {
			return (&keeper{ready: map[string]bool{}, started: map[string]bool{}}).watch
		},
	}
	for _, kind := range append([]string{"Service", "ConfigMap"}, workloadKinds...) {
		all.History = append(all.History,
			simulation.History{Kind: kind, More: true, If: isStalledFor("InvalidField", "UnknownName", "TooLarge"), Reason: "what was started stays where one before it cannot be applied"},
			simulation.History{Kind: kind, More: true, Fewer: true, Fields: []string{"spec", "data"}, If: isStalledFor("ImmutableStorage"), Reason: "what has other storage stays as it is, and so does what is updated after it"},
		)
	}
	return all
}

// isStalledFor returns whether a DataService is Stalled for one of some reasons.
func isStalledFor(reasons ...string) func(parent *unstructured.Unstructured) bool {
	return func(parent *unstructured.Unstructured) bool {
		conditions, _, _ := unstructured.NestedSlice(parent.Object, "status", "conditions")
		return slices.ContainsFunc(conditions, func(c any) bool {
			condition, _ := c.(map[string]any)
			reason, _ := condition["reason"].(string)
			return condition["type"] == operator.ConditionStalled && slices.Contains(reasons, reason)
		})
	}
}

var workloadKinds = []string{"Deployment", "StatefulSet", "DaemonSet"}

// componentLabel of a workload and its Pods is the name of their component in the spec.
const componentLabel = "d3os-product.com.d3os/component"

// middleware are what all services and gateways wait for.
var middleware = []string{"mysql", "uuc", "eureka"}

// waitsFor are the components, each with those that it waits for if they are in the spec, as
// docs/dataservice.md has them: not the hook's own table, which may be wrong.
var waitsFor = map[string][]string{
	"mysql": nil, "uuc": nil, "eureka": {"mysql", "uuc"},
	"api-manager": middleware, "auth": middleware, "ds-adapter": middleware,
	"es-adapter": middleware, "trd-adapter": middleware, "proxy": middleware,
	"gateway-master": slices.Concat(middleware, []string{"ds-adapter", "es-adapter", "trd-adapter", "proxy"}),
	"gateway-web":    slices.Concat(middleware, []string{"api-manager", "auth", "ds-adapter", "es-adapter", "trd-adapter", "proxy"}),
	"web":            {"gateway-master", "gateway-web"},
}

// keeper checks the order of the components, that there is one database behind
// a Service, and that no volume is lost.
type keeper struct {
	ready   map[string]bool // components that have ever been ready, by owner
	started map[string]bool // those of which there was ever an object: it is not taken away, and the others follow
	mayGo   bool            // whether a workload went that the DataService in the cache let take its volumes along
}

func (k *keeper) watch(w simulation.Write) string {
	switch w.Object().GetKind() {
	case "Deployment", "StatefulSet", "DaemonSet":
		return k.workload(w)
	case "Service", "ConfigMap":
		return k.begin(w, parentOf(w, ownerOf(w.Object())))
	case "PersistentVolumeClaim":
		parents := w.List("d3os-product.com.d3os/v1", "DataService")
		isLeft := len(parents) == 0 && len(w.Object().GetOwnerReferences()) > 0
		if w.After != nil || w.By == "a person" || k.mayGo || isLeft || slices.ContainsFunc(parents, deletesVolumes) {
			return ""
		}
		return fmt.Sprintf("the volume %s is lost", w.Before.GetName())
	}
	return ""
}

// begin checks the order in which components begin, each with its first object. A component that was ready
// may have failed since: a gate holds back the first creation only.
func (k *keeper) begin(w simulation.Write, parent *unstructured.Unstructured) (broken string) {
	name, owner := w.Object().GetLabels()[componentLabel], ownerOf(w.Object())
	after, isComponent := waitsFor[name]
	if w.Before != nil || owner == "" || !isComponent || k.started[owner+name] || parent == nil {
		return ""
	}
	if heard := k.heard(w, parent); heard != nil {
		parent = heard // the spec that it was made for
	}
	for _, before := range after {
		if isWanted(parent, before) && !k.ready[owner+before] {
			broken = fmt.Sprintf("%s begins before %s is ready", name, before)
		}
	}
	k.started[owner+name] = true
	return broken
}

// workload checks the order, and that there is one database.
func (k *keeper) workload(w simulation.Write) string {
	object := w.Object()
	name, owner := object.GetLabels()[componentLabel], ownerOf(object)
	if _, isComponent := waitsFor[name]; owner == "" || !isComponent {
		return ""
	}
	parent := parentOf(w, owner)
	broken := k.begin(w, parent)
	if w.Before == nil && name == "mysql" && w.By == "the hook" { // which waits for none
		broken = secondDatabase(w)
	}
	if w.By == "the hook" && w.IsDeletion() && parent != nil && parent.GetDeletionTimestamp() != nil {
		broken = k.tooEarly(w, name, owner, func(string) bool { return true })
		heard := w.Cached(parent.GetAPIVersion(), parent.GetKind(), parent.GetNamespace(), parent.GetName())
		k.mayGo = k.mayGo || heard != nil && deletesVolumes(heard)
	}
	if heard := k.heard(w, parent); w.By == "the hook" && w.IsDeletion() && heard != nil && heard.GetDeletionTimestamp() == nil && !isNamed(heard, name) {
		broken = k.tooEarly(w, name, owner, func(other string) bool { return !isNamed(heard, other) })
	}
	available, _, _ := unstructured.NestedInt64(object.Object, "status", "readyReplicas")
	number, _, _ := unstructured.NestedInt64(object.Object, "status", "numberReady")
	replicas, found, _ := unstructured.NestedInt64(object.Object, "spec", "replicas")
	wantsNone := found && replicas == 0 || object.GetKind() == "DaemonSet" // of which there may be none on any node
	k.ready[owner+name] = k.ready[owner+name] || available+number > 0 || wantsNone
	return broken
}

// heard returns the DataService in Metacontroller's cache, or nil.
func (k *keeper) heard(w simulation.Write, parent *unstructured.Unstructured) *unstructured.Unstructured {
	if parent == nil {
		return nil
	}
	return w.Cached(parent.GetAPIVersion(), parent.GetKind(), parent.GetNamespace(), parent.GetName())
}

// isNamed reports whether a component is in a spec, wherever it runs.
func isNamed(parent *unstructured.Unstructured, name string) bool {
	_, found, _ := unstructured.NestedMap(parent.Object, "spec", name)
	return found
}

// tooEarly returns an error text if a component is deleted before one that
// depends on it and is a child of the DataService in Metacontroller's cache. A teardown
// does not wait for objects that are not yet, nor for long for a workload whose
// Metacontroller label was removed.
func (k *keeper) tooEarly(w simulation.Write, name, owner string, isMeant func(name string) bool) string {
	for _, kind := range workloadKinds {
		for _, other := range w.List("apps/v1", kind) {
			key := other.GetLabels()[componentLabel]
			heard := w.Cached("apps/v1", kind, other.GetNamespace(), other.GetName())
			isSent := heard != nil && heard.GetLabels()["controller-uid"] == owner && ownerOf(heard) == owner
			if isMeant(key) && isSent && ownerOf(other) == owner && slices.Contains(waitsFor[key], name) {
				return fmt.Sprintf("%s goes before %s", name, key)
			}
		}
	}
	return ""
}

// secondDatabase returns an error text if a database is created beside a running Pod of
// one of another kind, which the Service would select, too. One that is not in the cache
// yet cannot be waited for.
func secondDatabase(w simulation.Write) string {
	maker := w.After.GetKind()
	if maker == "Deployment" {
		maker = "ReplicaSet"
	}
	for _, pod := range w.List("v1", "Pod") {
		owners := pod.GetOwnerReferences()
		isOther := len(owners) > 0 && owners[0].Kind != maker
		isHeard := w.Cached("v1", "Pod", pod.GetNamespace(), pod.GetName()) != nil
		if isOther && isHeard && isRunningDatabase(pod) && pod.GetLabels()["dataservice"]+pod.GetLabels()["app"] == w.After.GetLabels()["dataservice"]+w.After.GetLabels()["app"] {
			return fmt.Sprintf("%s is begun beside %s", w.After.GetName(), pod.GetName())
		}
	}
	return ""
}

func isRunningDatabase(pod *unstructured.Unstructured) bool {
	if pod.GetDeletionTimestamp() != nil || pod.GetLabels()[componentLabel] != "mysql" {
		return false
	}
	phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase")
	return phase == "Running"
}

// isWanted reports whether a component is to run in the cluster.
func isWanted(parent *unstructured.Unstructured, name string) bool {
	settings, found, _ := unstructured.NestedMap(parent.Object, "spec", name)
	return found && settings["thirdParty"] == nil
}

func ownerOf(object *unstructured.Unstructured) string {
	for _, owner := range object.GetOwnerReferences() {
		if owner.Kind == "DataService" {
			return string(owner.UID)
		}
	}
	return ""
}

func parentOf(w simulation.Write, uid string) *unstructured.Unstructured {
	for _, parent := range w.List("d3os-product.com.d3os/v1", "DataService") {
		if string(parent.GetUID()) == uid {
			return parent
		}
	}
	return nil
}

// deletesVolumes reports whether the spec of a DataService asks for that.
func deletesVolumes(parent *unstructured.Unstructured) bool {
	return slices.ContainsFunc([]string{"mysql", "uuc"}, func(name string) bool {
		onDelete, _, _ := unstructured.NestedString(parent.Object, "spec", name, "storage", "onDelete")
		return onDelete == "Delete"
	})
}
