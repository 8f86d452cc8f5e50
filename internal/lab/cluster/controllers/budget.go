package controllers

import (
	"fmt"
	"slices"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/operetta-dev/operetta/internal/lab/cluster/apiserver"
	"github.com/operetta-dev/operetta/metacontroller"
)

// budget counts the Pods of a PodDisruptionBudget, and how many of them may be evicted.
func (b *Builtin) budget(ref kube.Ref) {
	p := load[policyv1.PodDisruptionBudget](b, ref)
	if p == nil {
		return
	}
	var pods []replica
	for _, pod := range b.server.List("v1", "Pod") {
		if covers(p, pod) {
			pods = append(pods, replicaOf(pod))
		}
	}
	status := &p.Status
	expected, desired, err := b.healthOf(p, pods)
	status.ObservedGeneration, status.ExpectedPods, status.DesiredHealthy = p.Generation, expected, desired
	status.CurrentHealthy, status.DisruptionsAllowed = count(pods, isReady), 0
	if expected > 0 && err == nil {
		status.DisruptionsAllowed = max(0, status.CurrentHealthy-desired)
	}
	allowed := metav1.Condition{
		Type: policyv1.DisruptionAllowedCondition, Status: metav1.ConditionTrue, Reason: policyv1.SufficientPodsReason,
		ObservedGeneration: p.Generation, LastTransitionTime: b.now(),
	}
	if status.DisruptionsAllowed == 0 {
		allowed.Status, allowed.Reason = metav1.ConditionFalse, policyv1.InsufficientPodsReason
	}
	if err != nil {
		allowed.Reason, allowed.Message = policyv1.SyncFailedReason, err.Error()
	}
	meta.SetStatusCondition(&status.Conditions, allowed)
	b.report(ref, status)
}

// healthOf returns how many Pods there should be, and how many of them healthy.
func (b *Builtin) healthOf(p *policyv1.PodDisruptionBudget, pods []replica) (expected, desired int32, err error) {
	least, most := p.Spec.MinAvailable, p.Spec.MaxUnavailable
	if most == nil && (least == nil || least.Type == intstr.Int) {
		return int32(len(pods)), share(least, 0, true), nil
	}
	var owners []kube.Ref
	for _, pod := range pods {
		owner, isOwned := kube.ControllerOf(pod.object)
		if owner = b.root(owner); !isOwned || slices.Contains(owners, owner) {
			continue
		}
		owners = append(owners, owner)
		replicas, err := b.server.Replicas(owner)
		if err != nil {
			return 0, 0, fmt.Errorf("found no scale of a controller of pod %q: %w", pod.name(), err)
		}
		expected += replicas
	}
	if most != nil {
		return expected, max(0, expected-share(most, expected, true)), nil
	}
	return expected, share(least, expected, true), nil
}

// covers reports whether a budget is about a Pod. An empty selector selects all of its namespace.
func covers(p *policyv1.PodDisruptionBudget, pod kube.Object) bool {
	selector, err := metav1.LabelSelectorAsSelector(p.Spec.Selector)
	return err == nil && p.Namespace == pod.GetNamespace() && selector.Matches(labels.Set(pod.GetLabels()))
}

func (b *Builtin) budgets() []kube.Object {
	return b.server.List(metacontroller.PodDisruptionBudget.APIVersion, metacontroller.PodDisruptionBudget.Kind)
}

// noteBudgets queues the budgets of a namespace whose Pods have changed.
func (b *Builtin) noteBudgets(pod kube.Ref, first int) {
	for _, budget := range b.budgets() {
		if budget.GetNamespace() == pod.Namespace {
			b.enqueue(kube.RefOf(budget), first)
		}
	}
}

// Drain evicts a Pod through the API, as kubectl drain does: it is deleted, and may end in its
// grace period. The error is that of the API server where a budget allows no disruption.
func (b *Builtin) Drain(ref kube.Ref) error {
	pod := load[corev1.Pod](b, ref)
	if pod == nil {
		return nil
	}
	for _, object := range b.budgets() {
		budget := apiserver.Typed[policyv1.PodDisruptionBudget](b.server, kube.RefOf(object))
		if !covers(budget, b.server.Get(ref)) || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			continue
		}
		if budget.Status.DisruptionsAllowed <= 0 {
			return apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0)
		}
		budget.Status.DisruptionsAllowed--
		b.report(kube.RefOf(object), &budget.Status)
	}
	b.setPodCondition(pod, corev1.PodCondition{
		Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI", Message: "Eviction API: evicting",
	})
	b.report(ref, &pod.Status)
	return b.server.Delete(apiserver.ByUser, ref, pod.UID)
}
