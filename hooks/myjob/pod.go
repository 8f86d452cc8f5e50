package myjob

import (
	"cmp"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// pod returns the Pod that runs the job.
func pod(job *MyJob) *corev1.Pod {
	labels := map[string]string{
		"app.kubernetes.io/name":       job.Name,
		"app.kubernetes.io/instance":   job.Name,
		"app.kubernetes.io/component":  "job",
		"app.kubernetes.io/part-of":    "myjob",
		"app.kubernetes.io/managed-by": "operetta",
	}
	maps.Copy(labels, job.Spec.Template.Labels)
	pod := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: podKind.APIVersion, Kind: podKind.Kind},
		ObjectMeta: metav1.ObjectMeta{
			Name: job.Name, Namespace: job.Namespace, Labels: labels, Annotations: maps.Clone(job.Spec.Template.Annotations),
		},
		Spec: *job.Spec.Template.Spec.DeepCopy(),
	}
	pod.Spec.RestartPolicy = cmp.Or(pod.Spec.RestartPolicy, corev1.RestartPolicyNever)
	if job.Spec.ActiveDeadlineSeconds != nil {
		pod.Spec.ActiveDeadlineSeconds = job.Spec.ActiveDeadlineSeconds
	}
	if pod.Spec.SecurityContext == nil {
		pod.Spec.SecurityContext = &corev1.PodSecurityContext{}
	}
	if pod.Spec.SecurityContext.SeccompProfile == nil {
		pod.Spec.SecurityContext.SeccompProfile = &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}
	}
	return pod
}
