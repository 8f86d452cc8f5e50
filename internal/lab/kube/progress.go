package kube

import (
	"cmp"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// Progress returns the progress of a built-in kind, as in "2/4 ready". It is
// empty for other kinds, and for nil.
func Progress(object Object) string {
	if object == nil {
		return ""
	}
	switch ref := RefOf(object); {
	case isWorkload(ref):
		return workloadProgress(object)
	case ref.Is(metacontroller.Pod):
		return podProgress(object)
	case ref.Is(metacontroller.Job):
		return jobProgress(object)
	case ref.Is(metacontroller.Service):
		if ingress, _, _ := unstructured.NestedSlice(object.Object, "status", "loadBalancer", "ingress"); len(ingress) > 0 {
			fields, _ := ingress[0].(map[string]any)
			return fmt.Sprintf("load balancer at %v", cmp.Or(fields["ip"], fields["hostname"]))
		}
	case ref.Is(metacontroller.HorizontalPodAutoscaler):
		return fmt.Sprintf("%d of %d replicas", number(object, "status", "currentReplicas"), number(object, "status", "desiredReplicas"))
	case ref.Is(metacontroller.PodDisruptionBudget):
		return fmt.Sprintf("%d disruptions allowed", number(object, "status", "disruptionsAllowed"))
	case ref.Is(metacontroller.PersistentVolumeClaim):
		phase, _, _ := unstructured.NestedString(object.Object, "status", "phase")
		return phase
	}
	return ""
}

func number(object Object, path ...string) int64 {
	n, _, _ := unstructured.NestedInt64(object.Object, path...)
	return n
}

func workloadProgress(object Object) string {
	r, ok := RolloutOf(object)
	if !ok || r.ObservedGeneration == 0 {
		return ""
	}
	text := fmt.Sprintf("%d/%d ready", r.Ready, r.Wanted)
	if r.Updated < r.Wanted {
		text += fmt.Sprintf(", %d updated", r.Updated)
	}
	if r.Available < r.Ready {
		text += fmt.Sprintf(", %d available", r.Available)
	}
	if c := ConditionOf(object, "Progressing"); c.Status == "False" {
		text += ", " + c.Reason
	}
	return text
}

func podProgress(object Object) string {
	phase, _, _ := unstructured.NestedString(object.Object, "status", "phase")
	switch {
	case phase == "Running" && ConditionOf(object, "Ready").Status == "True":
		return "ready"
	case phase == "Running":
		return "running, not ready"
	case phase == "Pending" && ConditionOf(object, "PodScheduled").Status == "True":
		return "scheduled"
	case phase == "Failed":
		reason, _, _ := unstructured.NestedString(object.Object, "status", "reason")
		return strings.TrimSpace("failed " + reason)
	default:
		return strings.ToLower(phase)
	}
}

func jobProgress(object Object) string {
	if c := ConditionOf(object, "Failed"); c.Status == "True" {
		return "failed: " + c.Message
	}
	for _, kind := range []string{"Complete", "Suspended"} {
		if ConditionOf(object, kind).Status == "True" {
			return strings.ToLower(kind)
		}
	}
	parts := []string{}
	for _, name := range []string{"active", "succeeded", "failed"} {
		if n := number(object, "status", name); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, name))
		}
	}
	return strings.Join(parts, ", ")
}

// Words returns how far an object of any kind is, in a few words: its progress, or its condition Ready.
func Words(object Object) string {
	if object.GetDeletionTimestamp() != nil {
		return "terminating"
	}
	if progress := Progress(object); progress != "" {
		return progress
	}
	if c := ConditionOf(object, operator.ConditionReady); c.Status != "" {
		return strings.TrimSpace("Ready=" + c.Status + " " + c.Reason)
	}
	return ""
}
