package controllers

import (
	"fmt"
	"math"
	"slices"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/operetta-dev/operetta/internal/lab/cluster/apiserver"
	"github.com/operetta-dev/operetta/metacontroller"
)

// onTarget is the metric of an autoscaler whose target has as many Pods as it needs, in percent.
const onTarget = 100

// SetMetric sets what an autoscaler measures, in percent of its target value. Once it has scaled,
// the load is spread, and the metric is on target again.
func (b *Builtin) SetMetric(ref kube.Ref, percent int) {
	b.metrics[ref] = percent
	b.enqueue(ref, b.steps)
}

// autoscaler scales what a HorizontalPodAutoscaler targets, at once and as far as the metric asks.
func (b *Builtin) autoscaler(ref kube.Ref) {
	h := load[autoscalingv2.HorizontalPodAutoscaler](b, ref)
	if h == nil {
		return
	}
	target := apiserver.TargetOf(b.server.Get(ref))
	current, err := b.server.Replicas(target)
	if err != nil {
		b.setScaling(h, autoscalingv2.AbleToScale, corev1.ConditionFalse, "FailedGetScale", "the HPA controller was unable to get the target's current scale: "+err.Error())
		b.report(ref, &h.Status)
		return
	}
	wanted, limit := b.replicasFor(h, ref, current)
	b.setScaling(h, autoscalingv2.AbleToScale, corev1.ConditionTrue, "ReadyForNewScale", "recommended size matches current size")
	if current == 0 {
		b.setScaling(h, autoscalingv2.ScalingActive, corev1.ConditionFalse, "ScalingDisabled", "scaling is disabled since the replica count of the target is zero")
	} else {
		b.setScaling(h, autoscalingv2.ScalingActive, corev1.ConditionTrue, "ValidMetricFound", "the HPA was able to successfully calculate a replica count from cpu resource utilization (percentage of request)")
		b.setScaling(h, autoscalingv2.ScalingLimited, map[bool]corev1.ConditionStatus{false: corev1.ConditionTrue, true: corev1.ConditionFalse}[limit == "DesiredWithinRange"], limit, "")
	}
	if wanted != current {
		b.rescale(h, ref, target, wanted)
	}
	h.Status.CurrentReplicas, h.Status.DesiredReplicas = current, wanted
	b.report(ref, &h.Status)
}

// replicasFor returns the number of replicas that the metric asks for within the limits, and the
// reason of ScalingLimited. A target that is scaled to 0 is left alone.
func (b *Builtin) replicasFor(h *autoscalingv2.HorizontalPodAutoscaler, ref kube.Ref, current int32) (wanted int32, reason string) {
	if current == 0 {
		return 0, ""
	}
	wanted = current
	if percent, isSet := b.metrics[ref]; isSet && (percent < 90 || percent > 110) { // its tolerance
		wanted = int32(math.Ceil(float64(current) * float64(percent) / onTarget))
	}
	switch {
	case wanted < *h.Spec.MinReplicas:
		return *h.Spec.MinReplicas, "TooFewReplicas"
	case wanted > h.Spec.MaxReplicas:
		return h.Spec.MaxReplicas, "TooManyReplicas"
	}
	return wanted, "DesiredWithinRange"
}

func (b *Builtin) rescale(h *autoscalingv2.HorizontalPodAutoscaler, ref, target kube.Ref, wanted int32) {
	if err := b.server.SetReplicas(target, wanted); err != nil {
		b.setScaling(h, autoscalingv2.AbleToScale, corev1.ConditionFalse, "FailedUpdateScale", "the HPA controller was unable to update the target scale: "+err.Error())
		return
	}
	delete(b.metrics, ref)
	h.Status.LastScaleTime = new(b.now())
	b.setScaling(h, autoscalingv2.AbleToScale, corev1.ConditionTrue, "SucceededRescale", fmt.Sprintf("the HPA controller was able to update the target scale to %d", wanted))
}

// noteTarget queues the autoscalers of an object that has changed.
func (b *Builtin) noteTarget(ref kube.Ref, first int) {
	for _, object := range b.server.List(metacontroller.HorizontalPodAutoscaler.APIVersion, metacontroller.HorizontalPodAutoscaler.Kind) {
		if apiserver.TargetOf(object) == ref {
			b.enqueue(kube.RefOf(object), first)
		}
	}
}

func (b *Builtin) setScaling(h *autoscalingv2.HorizontalPodAutoscaler, kind autoscalingv2.HorizontalPodAutoscalerConditionType, status corev1.ConditionStatus, reason, message string) {
	condition := autoscalingv2.HorizontalPodAutoscalerCondition{Type: kind, Status: status, Reason: reason, Message: message, LastTransitionTime: b.now()}
	i := slices.IndexFunc(h.Status.Conditions, func(c autoscalingv2.HorizontalPodAutoscalerCondition) bool { return c.Type == kind })
	if i < 0 {
		h.Status.Conditions = append(h.Status.Conditions, condition)
		return
	}
	if old := h.Status.Conditions[i]; old.Status == status {
		condition.LastTransitionTime = old.LastTransitionTime
	}
	h.Status.Conditions[i] = condition
}
