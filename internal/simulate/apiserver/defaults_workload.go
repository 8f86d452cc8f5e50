package apiserver

import (
	"maps"
	"math"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
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
	defaultPodSpec(&spec.Template.Spec)
	problems := checkPodSpec(&spec.Template.Spec, templateSpec, corev1.RestartPolicyAlways)
	if spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType && spec.Strategy.RollingUpdate != nil {
		problems = append(problems, field.Forbidden(specPath.Child("strategy", "rollingUpdate"),
			"may not be specified when strategy `type` is 'Recreate'"))
	}
	if *spec.ProgressDeadlineSeconds <= spec.MinReadySeconds {
		problems = append(problems, field.Invalid(specPath.Child("progressDeadlineSeconds"),
			*spec.ProgressDeadlineSeconds, "must be greater than minReadySeconds"))
	}
	if old == nil {
		d.Status = appsv1.DeploymentStatus{}
		return append(problems, checkSelector(spec.Selector, nil, spec.Template.Labels)...)
	}
	return append(problems, checkSelector(spec.Selector, old.Spec.Selector, spec.Template.Labels)...)
}

func admitReplicaSet(_ *admission, rs, _ *appsv1.ReplicaSet) field.ErrorList {
	point(&rs.Spec.Replicas, 1)
	defaultPodSpec(&rs.Spec.Template.Spec)
	return nil
}

func admitStatefulSet(_ *admission, stateful, old *appsv1.StatefulSet) field.ErrorList {
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
	defaultPodSpec(&spec.Template.Spec)
	for i := range spec.VolumeClaimTemplates {
		defaultClaim(&spec.VolumeClaimTemplates[i])
		set(&spec.VolumeClaimTemplates[i].APIVersion, "v1")
		set(&spec.VolumeClaimTemplates[i].Kind, "PersistentVolumeClaim")
	}
	problems := checkSelector(spec.Selector, nil, spec.Template.Labels)
	// The volumes of the claim templates exist only in the Pods.
	withClaims := spec.Template.Spec.DeepCopy()
	for i := range spec.VolumeClaimTemplates {
		withClaims.Volumes = append(withClaims.Volumes, corev1.Volume{Name: spec.VolumeClaimTemplates[i].Name})
	}
	problems = append(problems, checkPodSpec(withClaims, templateSpec, corev1.RestartPolicyAlways)...)
	if old == nil {
		stateful.Status = appsv1.StatefulSetStatus{}
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
	defaultPodSpec(&spec.Template.Spec)
	problems := checkPodSpec(&spec.Template.Spec, templateSpec, corev1.RestartPolicyAlways)
	templates := 1
	if old == nil {
		d.Status = appsv1.DaemonSetStatus{}
		problems = append(problems, checkSelector(spec.Selector, nil, spec.Template.Labels)...)
	} else {
		templates, _ = strconv.Atoi(old.Annotations[appsv1.DeprecatedTemplateGeneration])
		if !equality.Semantic.DeepEqual(spec.Template, old.Spec.Template) {
			templates++
		}
		problems = append(problems, checkSelector(spec.Selector, old.Spec.Selector, spec.Template.Labels)...)
	}
	if d.Annotations == nil {
		d.Annotations = map[string]string{}
	}
	d.Annotations[appsv1.DeprecatedTemplateGeneration] = strconv.Itoa(templates)
	return problems
}

func admitJob(_ *admission, job, old *batchv1.Job) field.ErrorList {
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
	defaultPodSpec(&spec.Template.Spec)
	problems := checkPodSpec(&spec.Template.Spec, templateSpec, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever)
	if old != nil {
		return append(problems, checkJobUpdate(spec, &old.Spec)...)
	}
	if !*spec.ManualSelector {
		generateSelector(spec, job.Name, job.UID)
	}
	if len(job.Labels) == 0 {
		job.Labels = maps.Clone(spec.Template.Labels)
	}
	job.Status = batchv1.JobStatus{}
	return append(problems, checkSelector(spec.Selector, nil, spec.Template.Labels)...)
}

func generateSelector(spec *batchv1.JobSpec, name string, uid types.UID) {
	if spec.Template.Labels == nil {
		spec.Template.Labels = map[string]string{}
	}
	for _, label := range []string{"job-name", batchv1.JobNameLabel} {
		if spec.Template.Labels[label] == "" {
			spec.Template.Labels[label] = name
		}
	}
	for _, label := range []string{"controller-uid", batchv1.ControllerUidLabel} {
		if spec.Template.Labels[label] == "" {
			spec.Template.Labels[label] = string(uid)
		}
	}
	if spec.Selector == nil {
		spec.Selector = &metav1.LabelSelector{}
	}
	if spec.Selector.MatchLabels == nil {
		spec.Selector.MatchLabels = map[string]string{}
	}
	if spec.Selector.MatchLabels[batchv1.ControllerUidLabel] == "" {
		spec.Selector.MatchLabels[batchv1.ControllerUidLabel] = string(uid)
	}
}

func checkJobUpdate(spec, old *batchv1.JobSpec) field.ErrorList {
	type values struct{ now, old any }
	immutable := map[string]values{
		"selector":             {spec.Selector, old.Selector},
		"completionMode":       {spec.CompletionMode, old.CompletionMode},
		"podFailurePolicy":     {spec.PodFailurePolicy, old.PodFailurePolicy},
		"backoffLimitPerIndex": {spec.BackoffLimitPerIndex, old.BackoffLimitPerIndex},
		"managedBy":            {spec.ManagedBy, old.ManagedBy},
	}
	if *spec.CompletionMode != batchv1.IndexedCompletion {
		immutable["completions"] = values{spec.Completions, old.Completions}
	}
	if !*old.Suspend {
		immutable["template"] = values{spec.Template, old.Template}
	}
	var problems field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(immutable)) {
		value := immutable[name]
		problems = append(problems, apivalidation.ValidateImmutableField(value.now, value.old, specPath.Child(name))...)
	}
	return problems
}
