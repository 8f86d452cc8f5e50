package bluegreendeployment

import (
	"cmp"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

const (
	// colorLabel is on the Pods, and in the selectors of the ReplicaSets and the Service.
	colorLabel = "color"
	// templateHashAnnotation tells which template a ReplicaSet has.
	templateHashAnnotation = "bluegreendeployments.ctl.enisoc.com/template-hash"
)

// templateHash returns a hash of the template as the user wrote it.
func templateHash(deployment *BlueGreenDeployment) (string, error) {
	return metacontroller.Hash(&corev1.PodTemplate{Template: deployment.Spec.Template})
}

// setName returns the name of the ReplicaSet of a color.
func setName(deployment *BlueGreenDeployment, color Color) string {
	return deployment.Name + "-" + string(color)
}

// children returns the Service and the ReplicaSets of a plan.
func children(deployment *BlueGreenDeployment, p plan, hash string) []metacontroller.Object {
	all := []metacontroller.Object{service(deployment, p.service)}
	for _, color := range []Color{Blue, Green} {
		set := p.existing[color]
		switch action := p.sets[color]; {
		case action == keep:
			all = append(all, metacontroller.Keep(set.Snapshot))
		case action == build:
			all = append(all, replicaSet(deployment, color, wantedReplicas(deployment), hash))
		case set == nil || set.isNewest:
			all = append(all, replicaSet(deployment, color, 0, hash))
		default:
			all = append(all, operator.KeepScaled(set.Snapshot, 0))
		}
	}
	return all
}

// replicaSet returns the ReplicaSet of a color with the newest template.
func replicaSet(deployment *BlueGreenDeployment, color Color, replicas int32, hash string) *appsv1.ReplicaSet {
	template := *deployment.Spec.Template.DeepCopy()
	template.Labels = with(template.Labels, color)
	operator.DropEmpty(&template.Spec)
	selector := deployment.Spec.Selector.DeepCopy()
	selector.MatchLabels = with(selector.MatchLabels, color)
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Name: setName(deployment, color), Labels: template.Labels,
			Annotations: map[string]string{templateHashAnnotation: hash},
		},
		Spec: appsv1.ReplicaSetSpec{
			Replicas: &replicas, MinReadySeconds: deployment.Spec.MinReadySeconds, Selector: selector,
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: template.Labels, Annotations: template.Annotations},
				Spec:       template.Spec,
			},
		},
	}
}

// service returns the Service of a color. Metacontroller replaces lists whose items have no
// names as a whole, so that its ports have the API server's defaults.
func service(deployment *BlueGreenDeployment, color Color) *corev1.Service {
	template := deployment.Spec.Service
	ports := slices.Clone(template.Spec.Ports)
	for i := range ports {
		port := &ports[i]
		port.Protocol = cmp.Or(port.Protocol, corev1.ProtocolTCP)
		if port.TargetPort == intstr.FromInt32(0) || port.TargetPort == intstr.FromString("") {
			port.TargetPort = intstr.FromInt32(port.Port)
		}
	}
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{
			Name: template.Metadata.Name, Labels: template.Metadata.Labels, Annotations: template.Metadata.Annotations,
		},
		Spec: corev1.ServiceSpec{Type: template.Spec.Type, Selector: with(template.Spec.Selector, color), Ports: ports},
	}
}

// with returns labels with that of a color.
func with(labels map[string]string, color Color) map[string]string {
	all := map[string]string{}
	maps.Copy(all, labels)
	all[colorLabel] = string(color)
	return all
}
