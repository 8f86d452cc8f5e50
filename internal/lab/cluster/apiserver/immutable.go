package apiserver

import (
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// checkJobUpdate is ValidateJobSpecUpdate in pkg/apis/batch/validation/validation.go of k8s.io/kubernetes.
func checkJobUpdate(job, old *batchv1.Job) field.ErrorList {
	spec, was := &job.Spec, &old.Spec
	type values struct{ now, old any }
	immutable := map[string]values{
		"selector":             {spec.Selector, was.Selector},
		"completionMode":       {spec.CompletionMode, was.CompletionMode},
		"podFailurePolicy":     {spec.PodFailurePolicy, was.PodFailurePolicy},
		"backoffLimitPerIndex": {spec.BackoffLimitPerIndex, was.BackoffLimitPerIndex},
		"managedBy":            {spec.ManagedBy, was.ManagedBy},
		"successPolicy":        {spec.SuccessPolicy, was.SuccessPolicy},
	}
	var problems field.ErrorList
	isIndexed := *spec.CompletionMode == batchv1.IndexedCompletion
	switch {
	case !isIndexed:
		immutable["completions"] = values{spec.Completions, was.Completions}
	case !equality.Semantic.DeepEqual(spec.Completions, was.Completions) && spec.Completions != nil && *spec.Completions != *spec.Parallelism:
		problems = append(problems, field.Invalid(specPath.Child("completions"), *spec.Completions, "can only be modified in tandem with spec.parallelism"))
	}
	if mayChangeTemplate(old) {
		immutable["template.spec"] = values{spec.Template.Spec, withMutable(was.Template, &spec.Template).Spec}
	} else {
		immutable["template"] = values{spec.Template, was.Template}
	}
	for _, name := range slices.Sorted(maps.Keys(immutable)) {
		value := immutable[name]
		problems = append(problems, apivalidation.ValidateImmutableField(value.now, value.old, specPath.Child(name))...)
	}
	return problems
}

// mayChangeTemplate is shouldAllowMutablePodTemplate in pkg/registry/batch/job/strategy.go: a suspended
// Job without Pods may be told where it will run, and with what.
func mayChangeTemplate(old *batchv1.Job) bool {
	isSuspended := slices.ContainsFunc(old.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Type == batchv1.JobSuspended && c.Status == corev1.ConditionTrue
	})
	return old.Spec.Suspend != nil && *old.Spec.Suspend && (old.Status.StartTime == nil || isSuspended) && old.Status.Active == 0
}

// withMutable returns a template with what may be another one's.
func withMutable(old corev1.PodTemplateSpec, now *corev1.PodTemplateSpec) *corev1.PodTemplateSpec {
	template := old.DeepCopy()
	spec := &template.Spec
	spec.NodeSelector, spec.Tolerations, spec.SchedulingGates = now.Spec.NodeSelector, now.Spec.Tolerations, now.Spec.SchedulingGates
	if affinity := now.Spec.Affinity; affinity != nil {
		point(&spec.Affinity, corev1.Affinity{})
		spec.Affinity.NodeAffinity = affinity.NodeAffinity
	} else if spec.Affinity != nil {
		spec.Affinity.NodeAffinity = nil
		if *spec.Affinity == (corev1.Affinity{}) {
			spec.Affinity = nil
		}
	}
	keepResources(spec.Containers, now.Spec.Containers)
	keepResources(spec.InitContainers, now.Spec.InitContainers)
	return template
}

func keepResources(containers, now []corev1.Container) {
	if len(containers) != len(now) {
		return
	}
	for i := range containers {
		if containers[i].Name == now[i].Name {
			containers[i].Resources = now[i].Resources
		}
	}
}

// checkClaim is ValidatePersistentVolumeClaimSpec in pkg/apis/core/validation/validation.go.
func checkClaim(spec *corev1.PersistentVolumeClaimSpec) field.ErrorList {
	var problems field.ErrorList
	if len(spec.AccessModes) == 0 {
		problems = append(problems, field.Required(specPath.Child("accessModes"), "at least 1 access mode is required"))
	}
	if _, found := spec.Resources.Requests[corev1.ResourceStorage]; !found {
		problems = append(problems, field.Required(specPath.Child("resources").Key(string(corev1.ResourceStorage)), ""))
	}
	return problems
}

// checkClaimUpdate is ValidatePersistentVolumeClaimUpdate there: a bound claim may grow.
func checkClaimUpdate(claim, old *corev1.PersistentVolumeClaim) field.ErrorList {
	var problems field.ErrorList
	now, was := claim.Spec.DeepCopy(), old.Spec.DeepCopy()
	if was.VolumeName == "" {
		was.VolumeName = now.VolumeName
	}
	if was.StorageClassName == nil {
		was.StorageClassName = now.StorageClassName // a default class may be set later
	}
	before, after := was.Resources.Requests[corev1.ResourceStorage], now.Resources.Requests[corev1.ResourceStorage]
	if claim.Status.Phase == corev1.ClaimBound {
		now.VolumeAttributesClassName = was.VolumeAttributesClassName
		if now.Resources.Requests != nil {
			now.Resources.Requests[corev1.ResourceStorage] = before
		}
	}
	if !equality.Semantic.DeepEqual(now, was) {
		problems = append(problems, field.Forbidden(specPath, // a real server appends what differs, on further lines
			"spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"))
	}
	if capacity := old.Status.Capacity[corev1.ResourceStorage]; after.Cmp(before) < 0 && after.Cmp(capacity) <= 0 {
		problems = append(problems, field.Forbidden(specPath.Child("resources", "requests", "storage"), "field can not be less than status.capacity"))
	}
	return problems
}

// checkImmutable is what ValidateConfigMapUpdate and ValidateSecretUpdate there say of the data, by name.
func checkImmutable(now, old *bool, data map[string][2]any) field.ErrorList {
	if old == nil || !*old {
		return nil
	}
	var problems field.ErrorList
	refuse := func(name string) {
		problems = append(problems, field.Forbidden(field.NewPath(name), "field is immutable when `immutable` is set"))
	}
	if now == nil || !*now {
		refuse("immutable")
	}
	for _, name := range slices.Sorted(maps.Keys(data)) {
		if !equality.Semantic.DeepEqual(data[name][0], data[name][1]) {
			refuse(name)
		}
	}
	return problems
}
