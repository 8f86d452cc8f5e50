package explore

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/operetta-dev/operetta/internal/lab/kube"
	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

const lawServing = "an edit leaves no Service without a ready Pod"

// harmless are the actions that cost no Pod: lateness, and what befalls Metacontroller.
var harmless = []string{
	"calm", "deliver", "relist", "restart", "sync", "late-cache", "crash", "lose-status", "step", "hear", "collect", "wait", "mend",
}

// noteServing notes which Services lead to a ready Pod when a custom resource that is Ready is edited.
// Nothing is promised of them any more once a Pod may be lost otherwise.
func (r *Run) noteServing(action player.Action) {
	isEdit := action.Do == "edit" && slices.ContainsFunc(r.World.Parents(), func(parent kube.Object) bool {
		return kube.RefOf(parent).String() == action.Target
	})
	switch {
	case slices.Contains(harmless, action.Do):
	case !isEdit:
		r.isUpset, r.serving = true, nil
	case !r.isUpset && r.serving == nil:
		r.serving = r.servingNow()
	}
}

// servingNow returns the Services of custom resources at rest that lead to a ready Pod, with these.
func (r *Run) servingNow() map[kube.Ref]kube.Ref {
	serving := map[kube.Ref]kube.Ref{}
	for _, parent := range r.World.Parents() {
		observed, _, _ := unstructured.NestedInt64(parent.Object, "status", "observedGeneration")
		if !r.World.IsCaughtUp() || kube.ConditionOf(parent, operator.ConditionReady).Status != "True" || observed != parent.GetGeneration() {
			continue
		}
		for _, child := range r.World.Owned(parent) {
			if ref := kube.RefOf(child); ref.Is(metacontroller.Service) && leads(r.World, child) && !r.mayLeadNowhere(child) {
				serving[ref] = kube.RefOf(parent)
			}
		}
	}
	return serving
}

// checkServing checks the Services that led to a ready Pod, after a write of a Service or a Pod. One
// that the hook no longer asks for may go before its Pods or after them.
func (r *Run) checkServing(w player.Write) {
	object := w.After
	if object == nil {
		object = w.Before
	}
	if written := kube.RefOf(object); len(r.serving) == 0 || !written.Is(metacontroller.Service) && !written.Is(metacontroller.Pod) {
		return
	}
	for ref, parent := range r.serving {
		service := r.World.Get(ref)
		switch {
		case service == nil, service.GetDeletionTimestamp() != nil, !r.asked[parent][ref]:
			delete(r.serving, ref)
		case leads(r.World, service):
		case r.mayLeadNowhere(service), r.wasUnavailable(w, service), r.isMeantToLeadNowhere(parent, ref):
			delete(r.serving, ref)
		default:
			r.violatedBy(lawServing, ref.Kind, fmt.Sprintf("%s led to a ready Pod before the edit of %s, and leads to none", ref, parent))
		}
	}
}

// isMeantToLeadNowhere reports whether the Service of a new custom resource of the spec would lead to no
// Pod either, because of what the user writes into its selector.
func (r *Run) isMeantToLeadNowhere(parent, service kube.Ref) bool {
	return slices.ContainsFunc([]kube.Object{r.World.Get(parent), r.World.Heard(parent)}, func(spec kube.Object) bool {
		if spec == nil {
			return true
		}
		fresh := r.scenario.freshRest(r.World, spec)
		return fresh == nil || !fresh.leading[service.String()]
	})
}

// leads reports whether a Service leads to a ready Pod.
func leads(world *player.World, service kube.Object) bool {
	return slices.ContainsFunc(selected(world, service), func(pod kube.Object) bool {
		return pod.GetDeletionTimestamp() == nil && kube.ConditionOf(pod, "Ready").Status == "True"
	})
}

// selected returns the Pods that a Service selects.
func selected(world *player.World, service kube.Object) []kube.Object {
	selector, _, _ := unstructured.NestedStringMap(service.Object, "spec", "selector")
	if len(selector) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(world.List("v1", metacontroller.Pod.Kind)), func(pod kube.Object) bool {
		return pod.GetNamespace() != service.GetNamespace() || !labels.SelectorFromSet(selector).Matches(labels.Set(pod.GetLabels()))
	})
}

// mayLeadNowhere reports whether a workload whose Pods a Service selects may have no ready Pod while it
// is updated, or wants none. Of Pods that the hook makes itself, a single one may be replaced.
func (r *Run) mayLeadNowhere(service kube.Object) bool {
	workloads := r.workloadsBehind(service)
	return slices.ContainsFunc(workloads, r.mayHaveNone) || len(workloads) == 0 && len(selected(r.World, service)) == 1
}

// workloadsBehind returns the workloads whose Pods a Service selects, without the ReplicaSets of Deployments.
func (r *Run) workloadsBehind(service kube.Object) (behind []kube.Object) {
	selector, _, _ := unstructured.NestedStringMap(service.Object, "spec", "selector")
	for _, kind := range []string{"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"} {
		for _, workload := range r.World.List("apps/v1", kind) {
			template, _, _ := unstructured.NestedStringMap(workload.Object, "spec", "template", "metadata", "labels")
			owner, _ := kube.ControllerOf(workload)
			if workload.GetNamespace() == service.GetNamespace() && !owner.Is(metacontroller.Deployment) &&
				labels.SelectorFromSet(selector).Matches(labels.Set(template)) {
				behind = append(behind, workload)
			}
		}
	}
	return behind
}

// wasUnavailable reports whether a Pod that is no longer ready had not been ready for as long as a
// Deployment behind a Service wants: one that is not available may go at any time.
func (r *Run) wasUnavailable(w player.Write, service kube.Object) bool {
	if w.Before == nil || !kube.RefOf(w.Before).Is(metacontroller.Pod) {
		return false
	}
	since := kube.ConditionOf(w.Before, "Ready").Since
	return slices.ContainsFunc(r.workloadsBehind(service), func(workload kube.Object) bool {
		seconds, _, _ := unstructured.NestedInt64(workload.Object, "spec", "minReadySeconds")
		return r.World.Now().Sub(since) < time.Duration(seconds)*time.Second
	})
}

// mayHaveNone reports whether an update of a workload may leave it without a ready Pod.
func (r *Run) mayHaveNone(workload kube.Object) bool {
	replicas, isWritten, _ := unstructured.NestedInt64(workload.Object, "spec", "replicas")
	if !isWritten {
		replicas = 1
	}
	switch workload.GetKind() {
	case "DaemonSet": // there may be one node
		return true
	case "StatefulSet":
		return replicas <= 1
	case "ReplicaSet": // its owner may have another one
		siblings := r.World.List("apps/v1", "ReplicaSet")
		return !slices.ContainsFunc(siblings, func(other kube.Object) bool {
			replicas, _, _ := unstructured.NestedInt64(other.Object, "spec", "replicas")
			return replicas > 0 && kube.ControllerUID(other) == kube.ControllerUID(workload)
		})
	}
	strategy, _, _ := unstructured.NestedString(workload.Object, "spec", "strategy", "type")
	return replicas == 0 || strategy == "Recreate" || mostUnavailable(workload, replicas) >= replicas
}

// mostUnavailable returns how many Pods of a Deployment may be unavailable during an update.
func mostUnavailable(deployment kube.Object, replicas int64) int64 {
	value, _, _ := unstructured.NestedFieldNoCopy(deployment.Object, "spec", "strategy", "rollingUpdate", "maxUnavailable")
	var ratio intstr.IntOrString
	switch value := value.(type) {
	case int64:
		return value
	case string:
		ratio = intstr.FromString(value)
	default:
		ratio = intstr.FromString("25%")
	}
	most, err := intstr.GetScaledValueFromIntOrPercent(&ratio, int(replicas), false)
	if err != nil {
		return replicas
	}
	return int64(most)
}
