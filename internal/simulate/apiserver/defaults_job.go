package apiserver

import (
	"maps"
	"math"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

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

// generateSelector makes the Job select its own Pods and no others.
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
