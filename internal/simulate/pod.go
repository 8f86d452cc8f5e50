package simulate

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// nodeName is the only node.
const nodeName = "node-1"

// stepPod lets a Pod advance by one stage: scheduled, running and ready, or
// running and done. One that is being deleted goes.
func (w *World) stepPod(pod *unstructured.Unstructured) {
	if pod.GetDeletionTimestamp() != nil {
		w.store.remove(keyOf(pod), "kubelet")
		return
	}
	phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase")
	policy, _, _ := unstructured.NestedString(pod.Object, "spec", "restartPolicy")
	fails := w.isFailing(pod)
	switch {
	case phase == string(corev1.PodSucceeded) || phase == string(corev1.PodFailed):
	case phase == "":
		w.schedule(pod)
	case phase == string(corev1.PodPending):
		ready := !fails && policy == string(corev1.RestartPolicyAlways)
		w.setPodStatus(pod, corev1.PodRunning, ready)
	case policy == string(corev1.RestartPolicyAlways):
		w.setPodStatus(pod, corev1.PodRunning, !fails)
	case fails:
		w.setPodStatus(pod, corev1.PodFailed, false)
	default:
		w.setPodStatus(pod, corev1.PodSucceeded, false)
	}
}

func (w *World) schedule(pod *unstructured.Unstructured) {
	next := pod.DeepCopy()
	spec := next.Object["spec"].(map[string]any)
	spec["nodeName"] = nodeName
	if w.store.update(next, "scheduler") == nil {
		w.setPodStatus(w.store.get(keyOf(pod)), corev1.PodPending, false)
	}
}

// setPodStatus writes the status of a Pod whose containers are all in the same
// state.
func (w *World) setPodStatus(pod *unstructured.Unstructured, phase corev1.PodPhase, ready bool) {
	old := conditionsOf(pod)
	isReady := "False"
	if ready {
		isReady = "True"
	}
	var conditions []any
	for _, c := range []map[string]any{
		{"type": "PodScheduled", "status": "True"}, {"type": "Initialized", "status": "True"},
		{"type": "ContainersReady", "status": isReady}, {"type": "Ready", "status": isReady},
	} {
		c["lastProbeTime"] = nil
		c["lastTransitionTime"] = w.now.Format(time.RFC3339)
		if before := old[c["type"].(string)]; before != nil && before["status"] == c["status"] {
			c["lastTransitionTime"] = before["lastTransitionTime"]
		}
		conditions = append(conditions, c)
	}
	started, found, _ := unstructured.NestedString(pod.Object, "status", "startTime")
	if !found {
		started = w.now.Format(time.RFC3339)
	}
	w.store.updateStatus(keyOf(pod), map[string]any{
		"phase": string(phase), "startTime": started, "conditions": conditions, "qosClass": "Burstable",
		"containerStatuses": w.containerStatuses(pod, phase, ready), "hostIP": "10.0.0.1", "podIP": "10.244.0.1",
	}, "kubelet")
}

func (w *World) containerStatuses(pod *unstructured.Unstructured, phase corev1.PodPhase, ready bool) []any {
	containers, _, _ := unstructured.NestedSlice(pod.Object, "spec", "containers")
	before, _, _ := unstructured.NestedSlice(pod.Object, "status", "containerStatuses")
	var list []any
	for i, item := range containers {
		container := item.(map[string]any)
		state := map[string]any{"waiting": map[string]any{"reason": "ContainerCreating"}}
		switch phase {
		case corev1.PodRunning:
			state = map[string]any{"running": map[string]any{}}
		case corev1.PodSucceeded:
			state = map[string]any{"terminated": w.terminated(before, i, 0, "Completed")}
		case corev1.PodFailed:
			state = map[string]any{"terminated": w.terminated(before, i, 1, "Error")}
		case corev1.PodPending, corev1.PodUnknown:
		}
		list = append(list, map[string]any{
			"name": container["name"], "image": container["image"], "imageID": "", "ready": ready,
			"restartCount": int64(0), "started": phase == corev1.PodRunning, "state": state,
		})
	}
	return list
}

// terminated keeps the time at which a container ended.
func (w *World) terminated(before []any, i int, code int64, reason string) map[string]any {
	ended := w.now.Format(time.RFC3339)
	if i < len(before) {
		if at, found, _ := unstructured.NestedString(before[i].(map[string]any), "state", "terminated", "finishedAt"); found {
			ended = at
		}
	}
	return map[string]any{"exitCode": code, "reason": reason, "finishedAt": ended}
}

// jobBackoff is the number of Pods after which a Job that always fails gives
// up, whatever its backoffLimit is beyond that.
const jobBackoff = 3

// stepJob runs the Pods of a Job one after the other until one succeeds.
func (w *World) stepJob(o *unstructured.Unstructured) {
	if finished := conditionsOf(o); finished["Complete"] != nil || finished["Failed"] != nil {
		return
	}
	var active, succeeded, failed int64
	for _, pod := range w.store.owned(o.GetUID()) {
		switch phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase"); phase {
		case string(corev1.PodSucceeded):
			succeeded++
		case string(corev1.PodFailed):
			failed++
		default:
			active++
		}
	}
	limit, _, _ := unstructured.NestedInt64(o.Object, "spec", "backoffLimit")
	limit = min(limit, jobBackoff)
	started, found, _ := unstructured.NestedString(o.Object, "status", "startTime")
	if !found {
		started = w.now.Format(time.RFC3339)
	}
	status := map[string]any{"startTime": started}
	now := w.now.Format(time.RFC3339)
	switch {
	case succeeded > 0:
		status["completionTime"] = now
		status["conditions"] = []any{w.jobCondition("Complete", "CompletionsReached", "Reached expected number of succeeded pods")}
	case failed > limit:
		status["conditions"] = []any{w.jobCondition("Failed", "BackoffLimitExceeded", "Job has reached the specified backoff limit")}
	case active == 0:
		pod := podOf(o, fmt.Sprintf("%s-%d", o.GetName(), failed))
		labels := pod.GetLabels()
		labels["batch.kubernetes.io/job-name"], labels["job-name"] = o.GetName(), o.GetName()
		labels["batch.kubernetes.io/controller-uid"] = string(o.GetUID())
		pod.SetLabels(labels)
		if w.store.create(pod, "Job") == nil {
			active++
		}
	}
	for name, number := range map[string]int64{"active": active, "succeeded": succeeded, "failed": failed} {
		if number > 0 {
			status[name] = number
		}
	}
	w.store.updateStatus(keyOf(o), status, "Job")
}

func (w *World) jobCondition(conditionType, reason, message string) map[string]any {
	c := condition(conditionType, "True", reason, message)
	c["lastTransitionTime"], c["lastProbeTime"] = w.now.Format(time.RFC3339), w.now.Format(time.RFC3339)
	return c
}

// collectGarbage deletes objects whose controller is gone.
func (w *World) collectGarbage() {
	alive := map[string]bool{}
	for _, k := range w.store.keys() {
		alive[string(w.store.get(k).GetUID())] = true
	}
	for _, k := range w.store.keys() {
		owner := metav1.GetControllerOfNoCopy(w.store.get(k))
		if owner != nil && !alive[string(owner.UID)] {
			w.store.delete(k, "garbage collection")
		}
	}
}
