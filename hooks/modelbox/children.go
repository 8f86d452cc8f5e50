package modelbox

import (
	"cmp"
	"maps"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// selectorLabel is the label that selects the Pods. Selectors are immutable, so
// its name and value never change.
const selectorLabel = "modelbox"

// children returns the Deployment and the Services.
func (p Policy) children(box *ModelBox) []metacontroller.Object {
	deployment := p.deployment(box)
	wanted := []metacontroller.Object{deployment}
	containers := append(sidecars(box), deployment.Spec.Template.Spec.Containers[0])
	for _, described := range wantedServices(box) {
		wanted = append(wanted, service(box, described, containers))
	}
	return wanted
}

// deployment returns the Deployment that runs the Pods.
func (p Policy) deployment(box *ModelBox) *appsv1.Deployment {
	template := p.podTemplate(box)
	meta := metav1.ObjectMeta{Name: box.Name, Namespace: box.Namespace, Labels: childLabels(box)}
	if settings := box.Spec.Deployment; settings != nil {
		for key, value := range settings.Labels {
			meta.Labels[key] = string(value)
		}
		maps.Copy(meta.Labels, selector(box))
		meta.Annotations = settings.Annotations
	}
	return &appsv1.Deployment{
		ObjectMeta: meta,
		Spec: appsv1.DeploymentSpec{
			Replicas:                box.Spec.Replicas,
			MinReadySeconds:         minReadySeconds(box),
			ProgressDeadlineSeconds: progressDeadline(box, &template.Spec),
			RevisionHistoryLimit:    box.Spec.RevisionHistoryLimit,
			Paused:                  box.Spec.Paused,
			Selector:                &metav1.LabelSelector{MatchLabels: selector(box)},
			Strategy:                strategy(&box.Spec),
			Template:                template,
		},
	}
}

// minReadySeconds is how long a Pod must have been ready to count as available.
func minReadySeconds(box *ModelBox) int32 {
	if box.Spec.MinReadySeconds == nil {
		return 3
	}
	return *box.Spec.MinReadySeconds
}

// strategy returns how an update replaces the Pods.
func strategy(spec *Spec) appsv1.DeploymentStrategy {
	if spec.Strategy == StrategyRecreate {
		return appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
	}
	ratio := rollingUpdate(spec.RollingUpdate)
	return appsv1.DeploymentStrategy{
		Type: appsv1.RollingUpdateDeploymentStrategyType,
		RollingUpdate: &appsv1.RollingUpdateDeployment{
			MaxUnavailable: cmp.Or(spec.MaxUnavailable, &ratio), MaxSurge: cmp.Or(spec.MaxSurge, &ratio),
		},
	}
}

// rollingUpdate returns the value in the form of a Deployment: a percentage as
// a string, a number of Pods as a number.
func rollingUpdate(ratio *intstr.IntOrString) intstr.IntOrString {
	if ratio == nil {
		return intstr.FromString("25%")
	}
	if count, err := strconv.ParseInt(ratio.StrVal, 10, 32); ratio.Type == intstr.String && err == nil {
		return intstr.FromInt32(int32(count))
	}
	return *ratio
}

// selector returns the labels that select the Pods.
func selector(box *ModelBox) map[string]string {
	return map[string]string{selectorLabel: box.Name}
}

// childLabels returns the labels of both children and of the Pods.
func childLabels(box *ModelBox) map[string]string {
	name := cmp.Or(box.Spec.Name, box.Name)
	all := operator.App{Name: name, Instance: box.Name, Component: "model-server", PartOf: "modelbox"}.Labels()
	maps.Copy(all, selector(box))
	return all
}
