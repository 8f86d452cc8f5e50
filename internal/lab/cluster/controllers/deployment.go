package controllers

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/internal/lab/cluster/apiserver"
)

const revisionAnnotation = "deployment.kubernetes.io/revision"

type rollout struct {
	*appsv1.Deployment

	ref         kube.Ref
	newest      kube.Object   // the ReplicaSet of the current template
	sets        []kube.Object // all
	updated     []replica
	old         []replica
	terminating int32 // Pods that are being deleted
}

func (b *Builtin) deployment(ref kube.Ref) {
	d := load[appsv1.Deployment](b, ref)
	if d == nil || !b.server.HasRoomFor(ref, *d.Spec.Replicas) {
		return
	}
	r := &rollout{Deployment: d, ref: ref}
	b.notePause(r)
	if !b.findReplicaSets(r) {
		return
	}
	b.reportDeployment(r)
	b.scale(r)
	b.awaitAvailable(ref, r.updated)
}

// findReplicaSets reads the ReplicaSets, and makes that of a new template. It reports whether the
// API server lets it.
func (b *Builtin) findReplicaSets(r *rollout) bool {
	hash := templateHash(&r.Spec.Template)
	newest := 0
	for _, object := range b.server.OwnedBy(r.UID) {
		if object.GetKind() != "ReplicaSet" {
			continue
		}
		revision, _ := strconv.Atoi(kube.Annotation(object, revisionAnnotation))
		newest = max(newest, revision)
		r.sets = append(r.sets, object)
		pods := b.replicas(object.GetUID(), r.Spec.MinReadySeconds)
		r.terminating += count(pods, func(p replica) bool { return p.terminating })
		if kube.Label(object, appsv1.DefaultDeploymentUniqueLabelKey) == hash {
			r.newest, r.updated = object, live(pods)
		} else {
			r.old = append(r.old, live(pods)...)
		}
	}
	return r.newest != nil || r.Spec.Paused || b.makeReplicaSet(r, hash, newest+1)
}

// makeReplicaSet does what getNewReplicaSet in pkg/controller/deployment/sync.go of k8s.io/kubernetes
// does: a refusal is all that the status says of the new generation.
func (b *Builtin) makeReplicaSet(r *rollout, hash string, revision int) bool {
	template := r.template(hash)
	selector := metav1.CloneSelectorAndAddLabel(r.Spec.Selector, appsv1.DefaultDeploymentUniqueLabelKey, hash)
	name := r.Name + "-" + hash
	err := b.create(&appsv1.ReplicaSet{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "ReplicaSet"},
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: r.Namespace, Labels: template.Labels,
			Annotations:     map[string]string{revisionAnnotation: strconv.Itoa(revision)},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(r, appsv1.SchemeGroupVersion.WithKind("Deployment"))},
		},
		Spec: appsv1.ReplicaSetSpec{
			Replicas: new(int32), MinReadySeconds: r.Spec.MinReadySeconds, Selector: selector, Template: *template,
		},
	})
	if err != nil {
		message := fmt.Sprintf("Failed to create new replica set %q: %v", name, err)
		b.setProgress(&r.Status, corev1.ConditionFalse, "ReplicaSetCreateError", message)
		b.event(b.server.Get(r.ref), "ReplicaSetCreateError", message)
		b.report(r.ref, &r.Status)
		return false
	}
	r.newest = b.server.Get(kube.Ref{APIVersion: "apps/v1", Kind: "ReplicaSet", Namespace: r.Namespace, Name: name})
	r.sets = append(r.sets, r.newest)
	b.setProgress(&r.Status, corev1.ConditionTrue, "NewReplicaSetCreated", fmt.Sprintf("Created new replica set %q", name))
	annotated := kube.WithMetadata(b.server.Get(r.ref))
	kube.SetAnnotation(annotated, revisionAnnotation, strconv.Itoa(revision))
	_, _ = b.server.Update(apiserver.ByKubernetes, annotated) // a change of annotations is never refused
	return true
}

func (b *Builtin) scale(r *rollout) {
	if r.newest == nil || r.Spec.Paused && len(r.old) > 0 {
		return
	}
	want, have := *r.Spec.Replicas, int32(len(r.updated))
	all := have + int32(len(r.old))
	surge, unavailable := want, want
	if strategy := r.Spec.Strategy.RollingUpdate; strategy != nil {
		surge, unavailable = share(strategy.MaxSurge, want, true), share(strategy.MaxUnavailable, want, false)
		if surge == 0 && unavailable == 0 {
			unavailable = 1
		}
	} else if len(r.old) > 0 || r.terminating > 0 && have == 0 { // Recreate: first all old Pods are deleted
		want = 0
	}
	template := r.template(kube.Label(r.newest, appsv1.DefaultDeploymentUniqueLabelKey))
	refusal := b.createPods(r.newest, min(want-have, want+surge-all), func() *corev1.Pod {
		return newPod(template, b.generated(r.newest.GetName()), r.newest)
	})
	for _, set := range r.sets {
		if set == r.newest {
			b.setReplicaFailure(set, refusal)
		} else {
			b.setReplicaFailure(set, nil) // it wants no more Pods
		}
	}
	b.deletePods(byDeletionOrder(r.updated)[:max(0, min(have-want, have))])
	spare := count(r.updated, isAvailable) + count(r.old, isAvailable) - (*r.Spec.Replicas - unavailable)
	for _, p := range byDeletionOrder(r.old) {
		if p.available {
			if spare <= 0 {
				break
			}
			spare--
		}
		b.delete(p.object)
	}
}

func (r *rollout) template(hash string) *corev1.PodTemplateSpec {
	template := r.Spec.Template.DeepCopy()
	metav1.SetMetaDataLabel(&template.ObjectMeta, appsv1.DefaultDeploymentUniqueLabelKey, hash)
	return template
}

func (b *Builtin) reportDeployment(r *rollout) {
	pods := slices.Concat(r.updated, r.old)
	status := appsv1.DeploymentStatus{
		ObservedGeneration:  r.Generation,
		Replicas:            int32(len(pods)),
		UpdatedReplicas:     int32(len(r.updated)),
		ReadyReplicas:       count(pods, isReady),
		AvailableReplicas:   count(pods, isAvailable),
		TerminatingReplicas: &r.terminating,
		Conditions:          slices.Clone(r.Status.Conditions),
	}
	status.UnavailableReplicas = max(0, max(status.Replicas, *r.Spec.Replicas)-status.AvailableReplicas)

	needed := *r.Spec.Replicas
	if strategy := r.Spec.Strategy.RollingUpdate; strategy != nil {
		needed -= share(strategy.MaxUnavailable, needed, false)
	}
	available := appsv1.DeploymentCondition{
		Type: appsv1.DeploymentAvailable, Status: corev1.ConditionFalse,
		Reason: "MinimumReplicasUnavailable", Message: "Deployment does not have minimum availability.",
		LastUpdateTime: b.now(), LastTransitionTime: b.now(),
	}
	if status.AvailableReplicas >= needed {
		available.Status = corev1.ConditionTrue
		available.Reason, available.Message = "MinimumReplicasAvailable", "Deployment has minimum availability."
	}
	setDeploymentCondition(&status, available)
	if !r.Spec.Paused {
		b.setProgressing(r, &status)
		b.copyReplicaFailure(r, &status)
	}
	r.Status = status
	b.report(r.ref, &r.Status)
}
