package modelbox

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// minReadySeconds is how long a Pod must have been ready to count as available.
const minReadySeconds = 3

// selectorLabel is the label that selects the Pods. Selectors are immutable, so
// its name and value never change.
const selectorLabel = "modelbox"

// children returns the Deployment and, if there is one, the Service.
func (p Policy) children(box *ModelBox) []metacontroller.Object {
	wanted := []metacontroller.Object{p.deployment(box)}
	if service := service(box); service != nil {
		wanted = append(wanted, service)
	}
	return wanted
}

// withoutBlockedService leaves the Service out while only one of it and the observed one is headless,
// which is immutable. The schema allows that change through serviceType None only: it is to go.
func withoutBlockedService(wanted []metacontroller.Object, observed *observedService) []metacontroller.Object {
	for i, child := range wanted {
		service, isService := child.(*corev1.Service)
		if isService && observed != nil && observed.isHeadless() != (service.Spec.ClusterIP == corev1.ClusterIPNone) {
			return slices.Delete(wanted, i, i+1)
		}
	}
	return wanted
}

// deployment returns the Deployment that runs the Pods.
func (p Policy) deployment(box *ModelBox) *appsv1.Deployment {
	ratio := rollingUpdate(box.Spec.RollingUpdate)
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: box.Name, Namespace: box.Namespace, Labels: childLabels(box)},
		Spec: appsv1.DeploymentSpec{
			Replicas:        box.Spec.Replicas,
			MinReadySeconds: minReadySeconds,
			Selector:        &metav1.LabelSelector{MatchLabels: selector(box)},
			Strategy: appsv1.DeploymentStrategy{
				Type:          appsv1.RollingUpdateDeploymentStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDeployment{MaxUnavailable: &ratio, MaxSurge: &ratio},
			},
			Template: p.podTemplate(box),
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

// service returns the Service, or nil if there is none.
func service(box *ModelBox) *corev1.Service {
	serviceType := wantedServiceType(box)
	if serviceType == ServiceNone {
		return nil
	}
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: box.Name, Namespace: box.Namespace, Labels: childLabels(box)},
		Spec: corev1.ServiceSpec{
			Type:     corev1.ServiceType(serviceType),
			Selector: selector(box),
			Ports:    servicePorts(box),
		},
	}
	if serviceType == ServiceHeadless {
		service.Spec.Type = corev1.ServiceTypeClusterIP
		service.Spec.ClusterIP = corev1.ClusterIPNone
	}
	return service
}

// wantedServiceType returns the type with its default filled in.
func wantedServiceType(box *ModelBox) ServiceType {
	if len(box.Spec.Ports) == 0 {
		return ServiceNone
	}
	if box.Spec.ServiceType != "" {
		return box.Spec.ServiceType
	}
	for _, port := range box.Spec.Ports {
		if port.NodePort != 0 {
			return ServiceNodePort
		}
	}
	return ServiceClusterIP
}

// servicePorts returns the Service's ports with the API server's defaults. If
// there are several, each needs a name.
func servicePorts(box *ModelBox) []corev1.ServicePort {
	taken := map[string]bool{}
	for _, port := range box.Spec.Ports {
		taken[port.Name] = true
	}
	ports := make([]corev1.ServicePort, len(box.Spec.Ports))
	for i, port := range box.Spec.Ports {
		name := port.Name
		if name == "" && len(box.Spec.Ports) > 1 {
			for name = "port-" + strconv.Itoa(int(port.Port)); taken[name]; name += "x" {
			}
		}
		ports[i] = corev1.ServicePort{
			Name:        name,
			Protocol:    port.protocol(),
			AppProtocol: port.AppProtocol,
			Port:        port.Port,
			TargetPort:  port.targetPort(),
			NodePort:    port.NodePort,
		}
	}
	return ports
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
