package explore

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/lru"

	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// rest is the state of a custom resource when nothing changes any more, in a
// form that can be compared between worlds.
type rest struct {
	ready, stalled string
	words          string                    // of Ready
	children       map[string]map[string]any // by kind and name
	leading        map[string]bool           // the Services among them that lead to a ready Pod
	isBad          bool                      // it does not come to rest, or something is refused
	taken          []string                  // children whose names others use, by kind and name
}

// hasEnded reports whether nothing is waited for: it is Ready, or needs a
// person.
func (r *rest) hasEnded() bool { return r.ready == "True" || r.stalled == "True" }

// restOf returns the state of a custom resource.
func (s *Scenario) restOf(world *player.World, parent kube.Object) *rest {
	ready := kube.ConditionOf(parent, operator.ConditionReady)
	r := &rest{
		ready: ready.Status, words: ready.Reason + ": " + ready.Message, children: map[string]map[string]any{}, leading: map[string]bool{},
		stalled: kube.ConditionOf(parent, operator.ConditionStalled).Status,
	}
	for _, child := range world.Owned(parent) {
		declared, isDeclared := s.controllerOf(parent).Child(child.GetAPIVersion(), child.GetKind())
		if isDeclared && child.GetDeletionTimestamp() == nil {
			content := comparable(child, parent, declared.Update)
			if len(autoscalersOf(world, kube.RefOf(child))) > 0 {
				unstructured.RemoveNestedField(content, "spec", "replicas") // it is the autoscaler's
			}
			r.children[kube.RefOf(child).String()] = content
			r.leading[kube.RefOf(child).String()] = kube.RefOf(child).Is(metacontroller.Service) && leads(world, child)
		}
	}
	return r
}

// comparable returns the part of a child that is the same in each world with
// the same spec.
func comparable(child, parent kube.Object, update metacontroller.UpdateMethod) map[string]any {
	object := child.DeepCopy()
	delete(object.Object, "status")
	metadata := map[string]any{}
	if update == metacontroller.InPlace { // of other kinds, changes by people stay
		labels := object.GetLabels()
		for key, value := range labels {
			labels[key] = strings.ReplaceAll(value, string(parent.GetUID()), "UID")
		}
		_ = unstructured.SetNestedStringMap(metadata, labels, "labels") // it is new
		annotations := object.GetAnnotations()
		delete(annotations, metacontroller.LastAppliedAnnotation)
		delete(annotations, "deployment.kubernetes.io/revision")
		delete(annotations, "deprecated.daemonset.template.generation")
		if len(annotations) > 0 {
			_ = unstructured.SetNestedStringMap(metadata, annotations, "annotations") // as are they
		}
	}
	object.Object["metadata"] = metadata
	fields, _ := object.Object["spec"].(map[string]any)
	for _, chosen := range []string{"nodeName", "clusterIP", "clusterIPs", "healthCheckNodePort", "volumeName"} {
		if text, isText := fields[chosen].(string); isText && text == "None" {
			continue
		}
		delete(fields, chosen)
	}
	forgetPullPolicies(object.Object, parent.Object["spec"])
	switch ref := kube.RefOf(child); {
	case ref.Is(metacontroller.Service):
		forgetChosenPorts(fields, encode(parent.Object))
	case ref.Is(metacontroller.Pod):
		forgetTokenVolume(object.Object)
	case ref.Is(metacontroller.Job):
		unstructured.RemoveNestedField(object.Object, "spec", "selector")
		unstructured.RemoveNestedField(object.Object, "spec", "template", "metadata", "labels", "controller-uid")
		unstructured.RemoveNestedField(object.Object, "spec", "template", "metadata", "labels", "batch.kubernetes.io/controller-uid")
	}
	return object.Object
}

// forgetChosenPorts removes the node ports that the API server has chosen.
func forgetChosenPorts(spec map[string]any, parent string) {
	ports, _ := spec["ports"].([]any)
	for _, item := range ports {
		if port, ok := item.(map[string]any); ok && !strings.Contains(parent, fmt.Sprintf(`"nodePort":%v`, port["nodePort"])) {
			delete(port, "nodePort")
		}
	}
}

// forgetPullPolicies removes policies that the API server has defaulted from
// the first tag of an image: they do not change with the tag. Policies that the
// user has written, by the names of the containers, are compared.
func forgetPullPolicies(child, spec any) {
	written := map[string]bool{}
	eachObject(spec, func(container map[string]any) {
		if name, isText := container["name"].(string); isText && container["imagePullPolicy"] != nil {
			written[name] = true
		}
	})
	eachObject(child, func(container map[string]any) {
		if name, _ := container["name"].(string); !written[name] {
			delete(container, "imagePullPolicy")
		}
	})
}

// forgetTokenVolume renames the volume of the token, whose name the API server
// generates.
func forgetTokenVolume(pod any) {
	const prefix = "kube-api-access"
	eachObject(pod, func(object map[string]any) {
		if name, _ := object["name"].(string); strings.HasPrefix(name, prefix) {
			object["name"] = prefix
		}
	})
}

// eachObject visits all objects in a value.
func eachObject(value any, visit func(map[string]any)) {
	switch value := value.(type) {
	case map[string]any:
		visit(value)
		for _, inner := range value {
			eachObject(inner, visit)
		}
	case []any:
		for _, inner := range value {
			eachObject(inner, visit)
		}
	}
}

// freshRest returns the state of a new custom resource of the same spec in a
// new world with the same objects, or nil if the API server would refuse it.
func (s *Scenario) freshRest(world *player.World, parent kube.Object) *rest {
	objects := s.written(world, parent)
	key := string(s.Apply) + strings.Join(objects, "\n")
	if s.fresh == nil {
		s.fresh = lru.New(mostFresh)
	}
	if known, found := s.fresh.Get(key); found {
		return known.(*rest)
	}
	r := s.playFresh(kube.RefOf(parent), objects)
	s.fresh.Add(key, r)
	return r
}

// written returns a custom resource and its other objects as users wrote them.
func (s *Scenario) written(world *player.World, parent kube.Object) []string {
	var objects []string
	for _, object := range world.Objects() {
		if world.IsForeign(object) && object.GetKind() != "Namespace" && object.GetDeletionTimestamp() == nil {
			objects = append(objects, encode(asWritten(object)))
		}
	}
	return append(objects, encode(asWritten(parent)))
}

func (s *Scenario) playFresh(parent kube.Ref, objects []string) *rest {
	world := s.newWorld(false)
	for _, object := range objects {
		if world.Apply([]byte(object)) != nil {
			return nil
		}
	}
	taken := map[string]bool{}
	world.Watch(nil, nil, func(refusal player.Refusal) {
		if world.Get(refusal.Child) != nil && world.IsForeign(world.Get(refusal.Child)) {
			taken[refusal.Child.String()] = true
		}
	})
	err := world.Play()
	object := world.Get(parent)
	if object == nil {
		return nil
	}
	r := s.restOf(world, object)
	r.taken = slices.Sorted(maps.Keys(taken))
	for _, outcome := range world.Outcomes() {
		r.isBad = r.isBad || err != nil || outcome.Failure != ""
	}
	return r
}

// asWritten returns an object as a user wrote it.
func asWritten(object kube.Object) map[string]any {
	content := object.DeepCopy().Object
	delete(content, "status")
	metadata := map[string]any{"name": object.GetName()}
	for _, field := range []string{"namespace", "labels", "annotations", "ownerReferences"} {
		if value, found := content["metadata"].(map[string]any)[field]; found {
			metadata[field] = value
		}
	}
	content["metadata"] = metadata
	if kube.RefOf(object).Is(metacontroller.Deployment) {
		unstructured.RemoveNestedField(content, "metadata", "annotations")
	}
	if spec, _ := content["spec"].(map[string]any); kube.RefOf(object).Is(metacontroller.Pod) { // a custom resource may have such fields
		delete(spec, "ephemeralContainers")
		delete(spec, "nodeName")
	}
	return content
}

// sortedKeys returns the names of all these children.
func sortedKeys(children ...map[string]map[string]any) []string {
	all := map[string]map[string]any{}
	for _, some := range children {
		maps.Copy(all, some)
	}
	return slices.Sorted(maps.Keys(all))
}
