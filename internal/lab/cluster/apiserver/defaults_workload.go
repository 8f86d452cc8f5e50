package apiserver

import (
	"maps"
	"math"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var (
	specPath     = field.NewPath("spec")
	templateSpec = field.NewPath("spec", "template", "spec")
)

func admitDeployment(_ *admission, d, old *appsv1.Deployment) field.ErrorList {
	spec := &d.Spec
	point(&spec.Replicas, 1)
	point(&spec.RevisionHistoryLimit, 10)
	point(&spec.ProgressDeadlineSeconds, 600)
	set(&spec.Strategy.Type, appsv1.RollingUpdateDeploymentStrategyType)
	if spec.Strategy.Type == appsv1.RollingUpdateDeploymentStrategyType {
		point(&spec.Strategy.RollingUpdate, appsv1.RollingUpdateDeployment{})
		point(&spec.Strategy.RollingUpdate.MaxUnavailable, intstr.FromString("25%"))
		point(&spec.Strategy.RollingUpdate.MaxSurge, intstr.FromString("25%"))
	}
	problems := admitTemplate(&spec.Template, spec.Selector, old.Spec.Selector, corev1.RestartPolicyAlways)
	if spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType && spec.Strategy.RollingUpdate != nil {
		problems = append(problems, field.Forbidden(specPath.Child("strategy", "rollingUpdate"),
			"may not be specified when strategy `type` is 'Recreate'"))
	}
	if *spec.ProgressDeadlineSeconds <= spec.MinReadySeconds {
		problems = append(problems, field.Invalid(specPath.Child("progressDeadlineSeconds"),
			*spec.ProgressDeadlineSeconds, "must be greater than minReadySeconds"))
	}
	return problems
}

func admitReplicaSet(_ *admission, rs, old *appsv1.ReplicaSet) field.ErrorList {
	point(&rs.Spec.Replicas, 1)
	return admitTemplate(&rs.Spec.Template, rs.Spec.Selector, old.Spec.Selector, corev1.RestartPolicyAlways)
}

func admitStatefulSet(a *admission, stateful, old *appsv1.StatefulSet) field.ErrorList {
	spec := &stateful.Spec
	set(&spec.PodManagementPolicy, appsv1.OrderedReadyPodManagement)
	if spec.UpdateStrategy.Type == "" {
		spec.UpdateStrategy.Type = appsv1.RollingUpdateStatefulSetStrategyType
		point(&spec.UpdateStrategy.RollingUpdate, appsv1.RollingUpdateStatefulSetStrategy{})
	}
	if spec.UpdateStrategy.Type == appsv1.RollingUpdateStatefulSetStrategyType && spec.UpdateStrategy.RollingUpdate != nil {
		point(&spec.UpdateStrategy.RollingUpdate.Partition, 0)
	}
	point(&spec.PersistentVolumeClaimRetentionPolicy, appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{})
	set(&spec.PersistentVolumeClaimRetentionPolicy.WhenDeleted, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	set(&spec.PersistentVolumeClaimRetentionPolicy.WhenScaled, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	point(&spec.Replicas, 1)
	point(&spec.RevisionHistoryLimit, 10)
	for i := range spec.VolumeClaimTemplates {
		defaultClaim(&spec.VolumeClaimTemplates[i])
		set(&spec.VolumeClaimTemplates[i].APIVersion, "v1")
		set(&spec.VolumeClaimTemplates[i].Kind, "PersistentVolumeClaim")
	}
	// The volumes of the claim templates exist only in the Pods.
	volumes := spec.Template.Spec.Volumes
	for i := range spec.VolumeClaimTemplates {
		spec.Template.Spec.Volumes = append(spec.Template.Spec.Volumes, corev1.Volume{Name: spec.VolumeClaimTemplates[i].Name})
	}
	problems := admitTemplate(&spec.Template, spec.Selector, nil, corev1.RestartPolicyAlways)
	spec.Template.Spec.Volumes = volumes
	if a.isNew {
		return problems
	}
	return append(problems, checkStatefulSetUpdate(spec, &old.Spec)...)
}

func checkStatefulSetUpdate(spec, old *appsv1.StatefulSetSpec) field.ErrorList {
	munged := spec.DeepCopy()
	munged.Replicas = old.Replicas
	munged.Template = old.Template
	munged.UpdateStrategy = old.UpdateStrategy
	munged.MinReadySeconds = old.MinReadySeconds
	munged.Ordinals = old.Ordinals
	munged.RevisionHistoryLimit = old.RevisionHistoryLimit
	munged.PersistentVolumeClaimRetentionPolicy = old.PersistentVolumeClaimRetentionPolicy
	if equality.Semantic.DeepEqual(munged, old) {
		return nil
	}
	return field.ErrorList{field.Forbidden(specPath, "updates to statefulset spec for fields other than 'replicas', "+
		"'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', "+
		"'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden")}
}

func admitDaemonSet(_ *admission, d, old *appsv1.DaemonSet) field.ErrorList {
	spec := &d.Spec
	set(&spec.UpdateStrategy.Type, appsv1.RollingUpdateDaemonSetStrategyType)
	if spec.UpdateStrategy.Type == appsv1.RollingUpdateDaemonSetStrategyType {
		point(&spec.UpdateStrategy.RollingUpdate, appsv1.RollingUpdateDaemonSet{})
		point(&spec.UpdateStrategy.RollingUpdate.MaxUnavailable, intstr.FromInt32(1))
		point(&spec.UpdateStrategy.RollingUpdate.MaxSurge, intstr.FromInt32(0))
	}
	if unread := spec.UpdateStrategy.RollingUpdate; unread != nil { // of OnDelete
		point(&unread.MaxUnavailable, intstr.FromInt32(0))
		point(&unread.MaxSurge, intstr.FromInt32(0))
	}
	point(&spec.RevisionHistoryLimit, 10)
	problems := admitTemplate(&spec.Template, spec.Selector, old.Spec.Selector, corev1.RestartPolicyAlways)
	templates, _ := strconv.Atoi(old.Annotations[appsv1.DeprecatedTemplateGeneration])
	if !equality.Semantic.DeepEqual(spec.Template, old.Spec.Template) {
		templates++
	}
	metav1.SetMetaDataAnnotation(&d.ObjectMeta, appsv1.DeprecatedTemplateGeneration, strconv.Itoa(templates))
	return problems
}

func admitJob(a *admission, job, old *batchv1.Job) field.ErrorList {
	spec := &job.Spec
	if spec.Completions == nil && spec.Parallelism == nil {
		point(&spec.Completions, 1)
	}
	point(&spec.Parallelism, 1)
	if spec.BackoffLimitPerIndex != nil {
		point(&spec.BackoffLimit, math.MaxInt32)
	}
	point(&spec.BackoffLimit, 6)
	point(&spec.CompletionMode, batchv1.NonIndexedCompletion)
	point(&spec.Suspend, false)
	point(&spec.ManualSelector, false)
	if spec.PodFailurePolicy != nil {
		point(&spec.PodReplacementPolicy, batchv1.Failed)
		for i := range spec.PodFailurePolicy.Rules {
			for j := range spec.PodFailurePolicy.Rules[i].OnPodConditions {
				set(&spec.PodFailurePolicy.Rules[i].OnPodConditions[j].Status, corev1.ConditionTrue)
			}
		}
	}
	point(&spec.PodReplacementPolicy, batchv1.TerminatingOrFailed)
	if a.isNew && !*spec.ManualSelector {
		generateSelector(job)
	}
	problems := admitTemplate(&spec.Template, spec.Selector, nil, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever)
	if !a.isNew {
		return append(problems, checkJobUpdate(job, old)...)
	}
	if len(job.Labels) == 0 {
		job.Labels = maps.Clone(spec.Template.Labels)
	}
	return problems
}

func generateSelector(job *batchv1.Job) {
	spec := &job.Spec
	uid := string(job.UID)
	own := map[string]string{
		"job-name": job.Name, batchv1.JobNameLabel: job.Name, "controller-uid": uid, batchv1.ControllerUidLabel: uid,
	}
	spec.Template.Labels = withDefaults(spec.Template.Labels, own)
	point(&spec.Selector, metav1.LabelSelector{})
	spec.Selector.MatchLabels = withDefaults(spec.Selector.MatchLabels, map[string]string{batchv1.ControllerUidLabel: uid})
}

// withDefaults returns labels with those that are missing or empty.
func withDefaults(written, missing map[string]string) map[string]string {
	all := labels.Merge(missing, written)
	maps.DeleteFunc(all, func(_, value string) bool { return value == "" })
	return labels.Merge(missing, all)
}
