package podset

import (
	"cmp"
	"maps"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// What is written on a Pod.
const (
	selectorLabel      = "podset"
	templateHashLabel  = "podset.apps.jicki.cn/template-hash"
	failuresAnnotation = "podset.apps.jicki.cn/failures"
)

// nobodyUser is the user and group of the default container.
const nobodyUser = 65534

// templateHash returns a hash of the template. It covers only what the user wrote: a release of
// this operator that creates Pods differently is no reason to restart them.
func templateHash(set *PodSet) (string, error) {
	var template corev1.PodTemplate
	if set.Spec.Template != nil {
		template.Template = *set.Spec.Template
	}
	return metacontroller.Hash(&template)
}

// prefix is what the names of the Pods begin with, before their numbers.
func prefix(set *PodSet) string { return set.Name + "-" }

// podName returns the name of the Pod of a number.
func podName(set *PodSet, number int) string { return prefix(set) + strconv.Itoa(number) }

// freshPods returns the Pods that are to be made.
func freshPods(set *PodSet, plan plan, template *corev1.PodTemplateSpec) []metacontroller.Object {
	fresh := make([]metacontroller.Object, len(plan.fresh))
	for i, wanted := range plan.fresh {
		// They share the following values, which are never changed.
		pod := &corev1.Pod{
			ObjectMeta: template.ObjectMeta,
			Spec:       template.Spec,
		}
		pod.Name = podName(set, wanted.number)
		pod.Namespace = set.Namespace
		if wanted.failures > 0 {
			pod.Annotations = maps.Clone(pod.Annotations)
			if pod.Annotations == nil {
				pod.Annotations = map[string]string{}
			}
			pod.Annotations[failuresAnnotation] = strconv.Itoa(wanted.failures)
		}
		fresh[i] = pod
	}
	return fresh
}

// podTemplate returns what the Pods are made of.
func (p Policy) podTemplate(set *PodSet, hash string) *corev1.PodTemplateSpec {
	template := set.Spec.Template
	if template == nil {
		template = defaultTemplate(p.DefaultImage)
	}
	podLabels := operator.App{Name: set.Name, Instance: set.Name, Component: "pod", PartOf: "podset"}.Labels()
	maps.Copy(podLabels, template.Labels)
	podLabels[selectorLabel] = set.Name
	podLabels[templateHashLabel] = hash
	made := &corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: podLabels, Annotations: template.Annotations},
		Spec:       template.Spec,
	}
	made.Spec.RestartPolicy = cmp.Or(made.Spec.RestartPolicy, corev1.RestartPolicyAlways)
	operator.NameServiceAccount(&made.Spec)
	made.Spec.SecurityContext = operator.UsersSecurityContext(&made.Spec)
	return made
}

// defaultTemplate returns what the Pods of a PodSet without a template are made
// of.
func defaultTemplate(image string) *corev1.PodTemplateSpec {
	user := int64(nobodyUser)
	return &corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		Containers: []corev1.Container{{
			Name:    "busybox",
			Image:   image,
			Command: []string{"sleep", "3600"},
			Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{
					corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("16Mi"),
				},
				Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("32Mi")},
			},
			SecurityContext: operator.Restricted(user),
		}},
		AutomountServiceAccountToken: new(false),
	}}
}
