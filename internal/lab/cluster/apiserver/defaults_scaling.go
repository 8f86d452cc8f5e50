package apiserver

import (
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func admitAutoscaler(_ *admission, h, _ *autoscalingv2.HorizontalPodAutoscaler) field.ErrorList {
	spec := &h.Spec
	point(&spec.MinReplicas, 1)
	if len(spec.Metrics) == 0 {
		spec.Metrics = []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
			Name: corev1.ResourceCPU, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: new(int32(80))},
		}}}
	}
	if spec.Behavior != nil {
		defaultScaling(&spec.Behavior.ScaleUp, 4)
		defaultScaling(&spec.Behavior.ScaleDown, 0)
		point(&spec.Behavior.ScaleUp.StabilizationWindowSeconds, 0)
	}
	var problems field.ErrorList
	if *spec.MinReplicas < 1 {
		problems = append(problems, field.Invalid(specPath.Child("minReplicas"), *spec.MinReplicas, "must be greater than or equal to 1"))
	}
	if spec.MaxReplicas < 1 {
		problems = append(problems, field.Invalid(specPath.Child("maxReplicas"), spec.MaxReplicas, "must be greater than 0"))
	}
	if spec.MaxReplicas < *spec.MinReplicas {
		problems = append(problems, field.Invalid(specPath.Child("maxReplicas"), spec.MaxReplicas, "must be greater than or equal to `minReplicas`"))
	}
	target := specPath.Child("scaleTargetRef")
	if spec.ScaleTargetRef.Kind == "" {
		problems = append(problems, field.Required(target.Child("kind"), ""))
	}
	if spec.ScaleTargetRef.Name == "" {
		problems = append(problems, field.Required(target.Child("name"), ""))
	}
	return problems
}

// defaultScaling fills in the rules of one direction: twice as many, or at least these Pods, in
// 15 seconds.
func defaultScaling(rules **autoscalingv2.HPAScalingRules, pods int32) {
	point(rules, autoscalingv2.HPAScalingRules{})
	point(&(*rules).SelectPolicy, autoscalingv2.MaxChangePolicySelect)
	if len((*rules).Policies) > 0 {
		return
	}
	if pods > 0 {
		(*rules).Policies = []autoscalingv2.HPAScalingPolicy{{Type: autoscalingv2.PodsScalingPolicy, Value: pods, PeriodSeconds: 15}}
	}
	(*rules).Policies = append((*rules).Policies, autoscalingv2.HPAScalingPolicy{Type: autoscalingv2.PercentScalingPolicy, Value: 100, PeriodSeconds: 15})
}

func admitBudget(_ *admission, budget, _ *policyv1.PodDisruptionBudget) field.ErrorList {
	if budget.Spec.MinAvailable != nil && budget.Spec.MaxUnavailable != nil {
		return field.ErrorList{field.Invalid(specPath, "", "minAvailable and maxUnavailable cannot be both set")}
	}
	return nil
}

func admitCronJob(_ *admission, c, _ *batchv1.CronJob) field.ErrorList {
	spec := &c.Spec
	set(&spec.ConcurrencyPolicy, batchv1.AllowConcurrent)
	point(&spec.Suspend, false)
	point(&spec.SuccessfulJobsHistoryLimit, 3)
	point(&spec.FailedJobsHistoryLimit, 1)
	pod := &spec.JobTemplate.Spec.Template.Spec
	defaultPodSpec(pod)
	problems := checkPodSpec(pod, specPath.Child("jobTemplate", "spec", "template", "spec"), corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever)
	switch {
	case spec.Schedule == "":
		problems = append(problems, field.Required(specPath.Child("schedule"), ""))
	case len(strings.Fields(spec.Schedule)) != 5 && !strings.HasPrefix(spec.Schedule, "@"):
		problems = append(problems, field.Invalid(specPath.Child("schedule"), spec.Schedule, "expected exactly 5 fields"))
	}
	return problems
}
