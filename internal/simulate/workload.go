package simulate

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// A workload keeps Pods of a template. Each step it does what its controller
// would do next, and reports what it sees: so a rollout takes a few steps, and a
// person can follow it.

// templateLabel tells the Pods of one template from those of another.
const templateLabel = "pod-template-hash"

// workload is what Deployments, StatefulSets and DaemonSets have in common.
type workload struct {
	object   *unstructured.Unstructured
	want     int
	hash     string // of the template
	pods     []*unstructured.Unstructured
	maxExtra int // Pods above want during an update
	maxAway  int // Pods that may be unavailable during an update
	ordered  bool
}

// stepWorkload lets one workload advance.
func (w *World) stepWorkload(o *unstructured.Unstructured) {
	if o.GetDeletionTimestamp() != nil {
		return
	}
	load := w.workloadOf(o)
	w.rollPods(load)
	status := w.workloadStatus(load)
	w.store.updateStatus(keyOf(o), status, o.GetKind())
}

func (w *World) workloadOf(o *unstructured.Unstructured) *workload {
	replicas, found, _ := unstructured.NestedInt64(o.Object, "spec", "replicas")
	if !found {
		replicas = 1 // a DaemonSet on the only node
	}
	template, _, _ := unstructured.NestedFieldNoCopy(o.Object, "spec", "template")
	sum := sha256.Sum256(encode(template))
	load := &workload{object: o, want: int(replicas), hash: hex.EncodeToString(sum[:5]), maxAway: 1}
	load.ordered = o.GetKind() == "StatefulSet"
	if o.GetKind() == "Deployment" {
		load.maxExtra = ratio(o, load.want, true, "spec", "strategy", "rollingUpdate", "maxSurge")
		load.maxAway = ratio(o, load.want, false, "spec", "strategy", "rollingUpdate", "maxUnavailable")
	}
	for _, pod := range w.store.owned(o.GetUID()) {
		if pod.GetKind() == "Pod" {
			load.pods = append(load.pods, pod)
		}
	}
	return load
}

// ratio returns a number of Pods, of a field that may be a percentage of all.
func ratio(o *unstructured.Unstructured, of int, up bool, path ...string) int {
	value, _, _ := unstructured.NestedFieldNoCopy(o.Object, path...)
	ratio := intstr.FromInt32(1)
	switch value := value.(type) {
	case int64:
		ratio = intstr.FromInt32(int32(value))
	case string:
		ratio = intstr.FromString(value)
	}
	number, err := intstr.GetScaledValueFromIntOrPercent(&ratio, of, up)
	if err != nil {
		return 1
	}
	return number
}

// rollPods creates and deletes Pods within what the update strategy allows.
func (w *World) rollPods(load *workload) {
	var current, old []*unstructured.Unstructured
	available := 0
	for _, pod := range load.pods {
		if pod.GetDeletionTimestamp() != nil {
			continue
		}
		if isReady(pod) {
			available++
		}
		if pod.GetLabels()[templateLabel] == load.hash {
			current = append(current, pod)
		} else {
			old = append(old, pod)
		}
	}
	for len(current) > load.want { // scaled down: the last first
		w.store.delete(keyOf(current[len(current)-1]), load.object.GetKind())
		current = current[:len(current)-1]
	}
	for _, pod := range old {
		if !isReady(pod) {
			w.store.delete(keyOf(pod), load.object.GetKind())
		} else if available > load.want-load.maxAway {
			w.store.delete(keyOf(pod), load.object.GetKind())
			available--
		}
	}
	room := load.want + load.maxExtra - len(current) - len(old)
	if len(old) == 0 {
		room = load.want - len(current)
	}
	for i := 0; len(current) < load.want && room > 0; i++ {
		if load.ordered && len(current) > 0 && !isReady(current[len(current)-1]) {
			return
		}
		if pod := w.createPod(load, i); pod != nil {
			current = append(current, pod)
			room--
		}
	}
}

// createPod creates the Pod of a number, and returns nil if there is one.
func (w *World) createPod(load *workload, number int) *unstructured.Unstructured {
	name := fmt.Sprintf("%s-%s-%d", load.object.GetName(), load.hash[:6], number)
	if load.ordered {
		name = fmt.Sprintf("%s-%d", load.object.GetName(), number)
	}
	pod := podOf(load.object, name)
	labels := pod.GetLabels()
	labels[templateLabel] = load.hash
	pod.SetLabels(labels)
	if w.store.create(pod, load.object.GetKind()) != nil {
		return nil
	}
	return w.store.get(keyOf(pod))
}

// podOf returns a Pod of an object's spec.template.
func podOf(owner *unstructured.Unstructured, name string) *unstructured.Unstructured {
	template, _, _ := unstructured.NestedMap(owner.Object, "spec", "template")
	pod := &unstructured.Unstructured{Object: template}
	pod.SetAPIVersion("v1")
	pod.SetKind("Pod")
	pod.SetName(name)
	pod.SetNamespace(owner.GetNamespace())
	if pod.GetLabels() == nil {
		pod.SetLabels(map[string]string{})
	}
	pod.SetOwnerReferences([]metav1.OwnerReference{ownerReference(owner)})
	return pod
}

// workloadStatus returns the status that the workload's controller reports.
func (w *World) workloadStatus(load *workload) map[string]any {
	var all, updated, ready, availableNow int64
	for _, pod := range load.pods {
		if pod.GetDeletionTimestamp() != nil {
			continue
		}
		all++
		if pod.GetLabels()[templateLabel] == load.hash {
			updated++
		}
		if isReady(pod) {
			ready++
			if w.now.Sub(readySince(pod)) >= minReady(load.object) {
				availableNow++
			}
		}
	}
	status := map[string]any{"observedGeneration": load.object.GetGeneration()}
	names := map[string]int64{"replicas": all, "updatedReplicas": updated, "readyReplicas": ready, "availableReplicas": availableNow}
	if load.object.GetKind() == "DaemonSet" {
		names = map[string]int64{
			"currentNumberScheduled": all, "desiredNumberScheduled": int64(load.want), "numberReady": ready,
			"updatedNumberScheduled": updated, "numberAvailable": availableNow,
		}
		status["numberMisscheduled"] = int64(0)
	}
	for name, number := range names {
		if number > 0 || load.object.GetKind() != "Deployment" {
			status[name] = number
		}
	}
	switch load.object.GetKind() {
	case "Deployment":
		complete := updated == int64(load.want) && all == updated && availableNow >= int64(load.want)
		status["conditions"] = w.deploymentConditions(load, complete, availableNow)
	case "StatefulSet":
		status["currentRevision"], status["updateRevision"] = load.hash, load.hash
	}
	return status
}

func minReady(o *unstructured.Unstructured) time.Duration {
	seconds, _, _ := unstructured.NestedInt64(o.Object, "spec", "minReadySeconds")
	return time.Duration(seconds) * time.Second
}

// deploymentConditions returns Available and Progressing in the words of the
// Deployment controller. Progressing remembers since when nothing has moved.
func (w *World) deploymentConditions(load *workload, complete bool, available int64) []any {
	old := conditionsOf(load.object)
	replicaSet := fmt.Sprintf("ReplicaSet %q", load.object.GetName()+"-"+load.hash)
	progressing := condition("Progressing", "True", "ReplicaSetUpdated", replicaSet+" is progressing.")
	deadline, _, _ := unstructured.NestedInt64(load.object.Object, "spec", "progressDeadlineSeconds")
	isNew := load.object.GetGeneration() != observedGeneration(load.object)
	since := w.now
	if before := old["Progressing"]; before != nil && !isNew {
		if updated, err := time.Parse(time.RFC3339, fmt.Sprint(before["lastUpdateTime"])); err == nil && !complete {
			since = updated
		}
	}
	switch {
	case complete:
		progressing = condition("Progressing", "True", "NewReplicaSetAvailable", replicaSet+" has successfully progressed.")
	case w.now.Sub(since) >= time.Duration(deadline)*time.Second:
		progressing = condition("Progressing", "False", "ProgressDeadlineExceeded", replicaSet+" has timed out progressing.")
	default:
		w.wake(since.Add(time.Duration(deadline) * time.Second))
	}
	availability := condition("Available", "False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
	if available >= int64(load.want-load.maxAway) {
		availability = condition("Available", "True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
	}
	conditions := []any{availability, progressing}
	for _, c := range conditions {
		w.stamp(c.(map[string]any), old, since)
	}
	return conditions
}

func condition(conditionType, status, reason, message string) map[string]any {
	return map[string]any{"type": conditionType, "status": status, "reason": reason, "message": message}
}

// stamp gives a condition its times: those of the old one where it says the
// same.
func (w *World) stamp(c map[string]any, old map[string]map[string]any, since time.Time) {
	now := w.now.Format(time.RFC3339)
	c["lastTransitionTime"], c["lastUpdateTime"] = now, since.Format(time.RFC3339)
	before := old[c["type"].(string)]
	if before == nil || before["status"] != c["status"] {
		return
	}
	c["lastTransitionTime"] = before["lastTransitionTime"]
	if before["reason"] == c["reason"] {
		c["lastUpdateTime"] = before["lastUpdateTime"]
	}
}

func conditionsOf(o *unstructured.Unstructured) map[string]map[string]any {
	list, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	byType := map[string]map[string]any{}
	for _, item := range list {
		if c, ok := item.(map[string]any); ok {
			byType[fmt.Sprint(c["type"])] = c
		}
	}
	return byType
}

func observedGeneration(o *unstructured.Unstructured) int64 {
	generation, _, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration")
	return generation
}

// isReady reports whether a Pod is ready.
func isReady(pod *unstructured.Unstructured) bool {
	return conditionsOf(pod)[string(corev1.PodReady)]["status"] == "True"
}

func readySince(pod *unstructured.Unstructured) time.Time {
	since, _ := time.Parse(time.RFC3339, fmt.Sprint(conditionsOf(pod)[string(corev1.PodReady)]["lastTransitionTime"]))
	return since
}
