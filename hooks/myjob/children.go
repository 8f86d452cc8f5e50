package myjob

import (
	"cmp"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/operator"
)

// pod returns the Pod of an attempt.
func pod(job *MyJob, attempt int32) *corev1.Pod {
	podLabels := operator.App{Name: job.Name, Instance: job.Name, Component: "job", PartOf: "myjob"}.Labels()
	maps.Copy(podLabels, job.Spec.Template.Labels)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: podName(job, attempt), Namespace: job.Namespace, Labels: podLabels, Annotations: maps.Clone(job.Spec.Template.Annotations),
		},
		Spec: *job.Spec.Template.Spec.DeepCopy(),
	}
	pod.Spec.RestartPolicy = cmp.Or(pod.Spec.RestartPolicy, corev1.RestartPolicyNever)
	if job.Spec.ActiveDeadlineSeconds != nil {
		pod.Spec.ActiveDeadlineSeconds = job.Spec.ActiveDeadlineSeconds
	}
	operator.NameServiceAccount(&pod.Spec)
	pod.Spec.SecurityContext = operator.UsersSecurityContext(&pod.Spec)
	return pod
}
