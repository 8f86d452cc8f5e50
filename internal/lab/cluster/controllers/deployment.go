package controllers

import (
	"slices"
	"strconv"
	"time"

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
	newest      kube.Object // the ReplicaSet of the current template
	made        bool        // in this step
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
	b.findReplicaSets(r)
	b.reportDeployment(r)
	b.scale(r)
	b.awaitAvailable(ref, r.updated)
}

func (b *Builtin) findReplicaSets(r *rollout) {
	hash := templateHash(&r.Spec.Template)
	newest := 0
	for _, object := range b.server.OwnedBy(r.UID) {
		if object.GetKind() != "ReplicaSet" {
			continue
		}
		revision, _ := strconv.Atoi(kube.Annotation(object, revisionAnnotation))
		newest = max(newest, revision)
		pods := b.replicas(object.GetUID(), r.Spec.MinReadySeconds)
		r.terminating += count(pods, func(p replica) bool { return p.terminating })
		if kube.Label(object, appsv1.DefaultDeploymentUniqueLabelKey) == hash {
			r.newest, r.updated = object, live(pods)
		} else {
			r.old = append(r.old, live(pods)...)
		}
	}
	if r.newest != nil || r.Spec.Paused {
		return
	}
	b.makeReplicaSet(r, hash, newest+1)
}

func (b *Builtin) makeReplicaSet(r *rollout, hash string, revision int) {
	template := r.template(hash)
	selector := metav1.CloneSelectorAndAddLabel(r.Spec.Selector, appsv1.DefaultDeploymentUniqueLabelKey, hash)
	_ = b.create(&appsv1.ReplicaSet{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "ReplicaSet"},
		ObjectMeta: metav1.ObjectMeta{
			Name: r.Name + "-" + hash, Namespace: r.Namespace, Labels: template.Labels,
			Annotations:     map[string]string{revisionAnnotation: strconv.Itoa(revision)},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(r, appsv1.SchemeGroupVersion.WithKind("Deployment"))},
		},
		Spec: appsv1.ReplicaSetSpec{
			Replicas: new(int32), MinReadySeconds: r.Spec.MinReadySeconds, Selector: selector, Template: *template,
		},
	})
	r.newest = b.server.Get(kube.Ref{APIVersion: "apps/v1", Kind: "ReplicaSet", Namespace: r.Namespace, Name: r.Name + "-" + hash})
	r.made = true
	annotated := kube.WithMetadata(b.server.Get(r.ref))
	kube.SetAnnotation(annotated, revisionAnnotation, strconv.Itoa(revision))
	_, _ = b.server.Update(apiserver.ByKubernetes, annotated) // a change of annotations is never refused
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
	_ = b.createPods(r.newest, min(want-have, want+surge-all), func() *corev1.Pod {
		return newPod(template, b.generated(r.newest.GetName()), r.newest)
	})
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
		Conditions:          append([]appsv1.DeploymentCondition{}, r.Status.Conditions...),
	}
	status.UnavailableReplicas = max(0, max(status.Replicas, *r.Spec.Replicas)-status.AvailableReplicas)

	needed := *r.Spec.Replicas
	if strategy := r.Spec.Strategy.RollingUpdate; strategy != nil {
		needed -= share(strategy.MaxUnavailable, needed, false)
	}
	available := appsv1.DeploymentCondition{
		Type: appsv1.DeploymentAvailable, Status: corev1.ConditionFalse,
		Reason: "MinimumReplicasUnavailable", Message: "Deployment does not have minimum availability.",
	}
	if status.AvailableReplicas >= needed {
		available.Status = corev1.ConditionTrue
		available.Reason, available.Message = "MinimumReplicasAvailable", "Deployment has minimum availability."
	}
	b.setDeploymentCondition(&status, available, false)
	b.setProgressing(r, &status)
	r.Status = status
	b.report(r.ref, &r.Status)
}

// setProgressing sets Progressing: a rollout past its progress deadline has
// failed, and a complete one stays complete.
func (b *Builtin) setProgressing(r *rollout, status *appsv1.DeploymentStatus) {
	old, want := &r.Status, *r.Spec.Replicas
	name := strconv.Quote(r.Name)
	if r.newest != nil {
		name = strconv.Quote(r.newest.GetName())
	}
	current := findCondition(old.Conditions, appsv1.DeploymentProgressing)
	wasComplete := current.Reason == "NewReplicaSetAvailable" && status.Replicas == status.UpdatedReplicas && !r.made
	complete := status.UpdatedReplicas == want && status.Replicas == want && status.AvailableReplicas == want
	moved := status.UpdatedReplicas > old.UpdatedReplicas || status.ReadyReplicas > old.ReadyReplicas ||
		status.AvailableReplicas > old.AvailableReplicas || status.Replicas-status.UpdatedReplicas < old.Replicas-old.UpdatedReplicas
	deadline := current.LastUpdateTime.Add(time.Duration(*r.Spec.ProgressDeadlineSeconds) * time.Second)
	set := func(value corev1.ConditionStatus, reason, message string, touch bool) {
		b.setDeploymentCondition(status, appsv1.DeploymentCondition{
			Type: appsv1.DeploymentProgressing, Status: value, Reason: reason, Message: message,
		}, touch)
	}
	switch {
	case r.Spec.Paused:
		set(corev1.ConditionUnknown, "DeploymentPaused", "Deployment is paused", false)
		return
	case r.made:
		set(corev1.ConditionTrue, "NewReplicaSetCreated", "Created new replica set "+name, true)
	case wasComplete:
	case complete:
		set(corev1.ConditionTrue, "NewReplicaSetAvailable", "ReplicaSet "+name+" has successfully progressed.", false)
	case moved:
		set(corev1.ConditionTrue, "ReplicaSetUpdated", "ReplicaSet "+name+" is progressing.", true)
	case current.Reason == "ProgressDeadlineExceeded":
	case b.server.Now().After(deadline):
		set(corev1.ConditionFalse, "ProgressDeadlineExceeded", "ReplicaSet "+name+" has timed out progressing.", false)
	}
	now := findCondition(status.Conditions, appsv1.DeploymentProgressing)
	if !wasComplete && !complete && now.Reason != "ProgressDeadlineExceeded" {
		b.at(r.ref, now.LastUpdateTime.Add(time.Duration(*r.Spec.ProgressDeadlineSeconds+1)*time.Second))
	}
}

func findCondition(list []appsv1.DeploymentCondition, kind appsv1.DeploymentConditionType) (found appsv1.DeploymentCondition) {
	if i := slices.IndexFunc(list, func(c appsv1.DeploymentCondition) bool { return c.Type == kind }); i >= 0 {
		found = list[i]
	}
	return found
}

// setDeploymentCondition sets a condition. An unchanged one keeps its times, unless it is touched.
func (b *Builtin) setDeploymentCondition(status *appsv1.DeploymentStatus, condition appsv1.DeploymentCondition, touch bool) {
	condition.LastUpdateTime, condition.LastTransitionTime = b.now(), b.now()
	i := slices.IndexFunc(status.Conditions, func(c appsv1.DeploymentCondition) bool { return c.Type == condition.Type })
	if i < 0 {
		status.Conditions = append(status.Conditions, condition)
		return
	}
	old := status.Conditions[i]
	if old.Status == condition.Status {
		condition.LastTransitionTime = old.LastTransitionTime
	}
	if old.Status != condition.Status || old.Reason != condition.Reason || touch {
		status.Conditions[i] = condition
	}
}
