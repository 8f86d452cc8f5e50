package controllers

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/internal/lab/cluster/apiserver"
)

// statefulSet creates, replaces or deletes the next Pod of a StatefulSet, or
// all at once with podManagementPolicy Parallel.
func (b *Builtin) statefulSet(ref kube.Ref) {
	s := load[appsv1.StatefulSet](b, ref)
	if s == nil || !b.server.HasRoomFor(ref, *s.Spec.Replicas) {
		return
	}
	revision := s.Name + "-" + templateHash(&s.Spec.Template)
	pods := map[int]replica{}
	for _, r := range b.replicas(s.UID, s.Spec.MinReadySeconds) {
		if ordinal, err := strconv.Atoi(strings.TrimPrefix(r.name(), s.Name+"-")); err == nil {
			pods[ordinal] = r
		}
	}
	b.reportStatefulSet(s, ref, pods, revision)
	if b.createMissing(s, ref, pods, revision) {
		b.scaleDown(s, pods)
		b.rollStatefulSet(s, pods, revision)
	}
	b.setClaimOwners(s, ref)
	b.awaitAvailable(ref, slices.Collect(maps.Values(pods)))
}

func ordinals(s *appsv1.StatefulSet) (first, end int) {
	if s.Spec.Ordinals != nil {
		first = int(s.Spec.Ordinals.Start)
	}
	return first, first + int(*s.Spec.Replicas)
}

// createMissing creates missing Pods, and reports whether none is missing and,
// with OrderedReady, each is available.
func (b *Builtin) createMissing(s *appsv1.StatefulSet, ref kube.Ref, pods map[int]replica, revision string) bool {
	parallel := s.Spec.PodManagementPolicy == appsv1.ParallelPodManagement
	whole := true
	first, end := ordinals(s)
	for i := first; i < end; i++ {
		r, found := pods[i]
		switch {
		case !found:
			b.createOrdinal(s, ref, i, revision)
		case r.isFinished() && !r.terminating:
			b.delete(r.object)
		case parallel && !r.terminating, r.available:
			continue
		}
		whole = false
		if !parallel {
			return false
		}
	}
	return whole
}

// createOrdinal creates a Pod and its claims. Refusals are told as by stateful_pod_control.go in
// k8s.io/kubernetes.
func (b *Builtin) createOrdinal(s *appsv1.StatefulSet, ref kube.Ref, ordinal int, revision string) {
	name := s.Name + "-" + strconv.Itoa(ordinal)
	owner := b.server.Get(ref)
	pod := newPod(&s.Spec.Template, name, owner)
	pod.Labels["apps.kubernetes.io/pod-index"] = strconv.Itoa(ordinal)
	pod.Labels[appsv1.StatefulSetPodNameLabel] = name
	pod.Labels[appsv1.ControllerRevisionHashLabelKey] = revision
	pod.Spec.Hostname, pod.Spec.Subdomain = name, s.Spec.ServiceName
	for i := range s.Spec.VolumeClaimTemplates {
		template := &s.Spec.VolumeClaimTemplates[i]
		claim := template.DeepCopy()
		claim.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"}
		claim.Name, claim.Namespace = template.Name+"-"+name, s.Namespace
		for key, value := range s.Spec.Selector.MatchLabels {
			metav1.SetMetaDataLabel(&claim.ObjectMeta, key, value)
		}
		if err := b.create(claim); err != nil && !apierrors.IsAlreadyExists(err) {
			b.event(owner, failedCreate, fmt.Sprintf("Create Claim %s for Pod %s in StatefulSet %s failed error: %s", claim.Name, name, s.Name, err))
			return
		}
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: template.Name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim.Name},
		}})
	}
	if err := b.create(pod); err != nil {
		b.event(owner, failedCreate, fmt.Sprintf("Create Pod %s in StatefulSet %s failed error: %s", name, s.Name, err))
	}
}

func (b *Builtin) scaleDown(s *appsv1.StatefulSet, pods map[int]replica) {
	first, end := ordinals(s)
	last := -1
	for ordinal, r := range pods {
		if ordinal >= first && ordinal < end {
			continue
		}
		if r.terminating && s.Spec.PodManagementPolicy != appsv1.ParallelPodManagement {
			return
		}
		last = max(last, ordinal)
	}
	if last >= 0 {
		b.delete(pods[last].object)
	}
}

// rollStatefulSet deletes the last Pod of an older revision, when all after it are available.
func (b *Builtin) rollStatefulSet(s *appsv1.StatefulSet, pods map[int]replica, revision string) {
	if s.Spec.UpdateStrategy.Type != appsv1.RollingUpdateStatefulSetStrategyType {
		return
	}
	first, end := ordinals(s)
	if rolling := s.Spec.UpdateStrategy.RollingUpdate; rolling != nil && rolling.Partition != nil {
		first = max(first, int(*rolling.Partition))
	}
	for i := end - 1; i >= first; i-- {
		if r := pods[i]; kube.Label(r.object, appsv1.ControllerRevisionHashLabelKey) != revision {
			b.delete(r.object)
			return
		} else if !r.available {
			return
		}
	}
}

// setClaimOwners makes the StatefulSet the owner of its claims if its retention
// policy deletes them.
func (b *Builtin) setClaimOwners(s *appsv1.StatefulSet, ref kube.Ref) {
	goes := s.Spec.PersistentVolumeClaimRetentionPolicy.WhenDeleted == appsv1.DeletePersistentVolumeClaimRetentionPolicyType
	owner := metav1.OwnerReference{APIVersion: ref.APIVersion, Kind: ref.Kind, Name: s.Name, UID: s.UID}
	first, end := ordinals(s)
	for _, template := range s.Spec.VolumeClaimTemplates {
		for i := first; i < end; i++ {
			claim := b.server.Get(kube.Ref{APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: s.Namespace, Name: template.Name + "-" + s.Name + "-" + strconv.Itoa(i)})
			if claim == nil || len(claim.GetOwnerReferences()) > 0 == goes {
				continue
			}
			claim = kube.WithMetadata(claim)
			claim.SetOwnerReferences(nil)
			if goes {
				claim.SetOwnerReferences([]metav1.OwnerReference{owner})
			}
			_, _ = b.server.Update(apiserver.ByKubernetes, claim) // a change of owners is never refused
		}
	}
}

func (b *Builtin) reportStatefulSet(s *appsv1.StatefulSet, ref kube.Ref, pods map[int]replica, revision string) {
	list := slices.Collect(maps.Values(pods))
	of := func(revision string) int32 {
		return count(list, func(r replica) bool {
			return kube.Label(r.object, appsv1.ControllerRevisionHashLabelKey) == revision
		})
	}
	current := cmp.Or(s.Status.CurrentRevision, revision)
	status := appsv1.StatefulSetStatus{
		ObservedGeneration: s.Generation, UpdateRevision: revision, CurrentRevision: current, CollisionCount: new(int32),
		Replicas: int32(len(list)), ReadyReplicas: count(list, isReady), AvailableReplicas: count(list, isAvailable),
		UpdatedReplicas: of(revision), CurrentReplicas: of(current),
	}
	if status.UpdatedReplicas == *s.Spec.Replicas && status.ReadyReplicas == *s.Spec.Replicas {
		status.CurrentRevision = revision
	}
	if status.CurrentRevision == revision {
		status.CurrentReplicas = status.UpdatedReplicas
	}
	s.Status = status
	b.report(ref, &s.Status)
}
