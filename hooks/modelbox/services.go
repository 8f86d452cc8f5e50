package modelbox

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/operetta-dev/operetta/metacontroller"
)

// wantedServices returns the Services as the spec describes them, the one of spec.ports first.
func wantedServices(box *ModelBox) []FurtherService {
	var all []FurtherService
	if kind := serviceTypeOf(box.Spec.ServiceType, box.Spec.Ports); kind != ServiceNone {
		first := FurtherService{Name: serviceName(box), Ports: box.Spec.Ports, ServiceType: kind}
		if box.Spec.Service != nil {
			first.ServiceSettings = box.Spec.Service.ServiceSettings
		}
		all = append(all, first)
	}
	return append(all, box.Spec.Services...)
}

// serviceName returns the name of the Service of spec.ports.
func serviceName(box *ModelBox) string {
	if box.Spec.Service == nil {
		return box.Name
	}
	return cmp.Or(box.Spec.Service.Name, box.Name)
}

// serviceTypeOf returns a type with its default filled in.
func serviceTypeOf(kind ServiceType, ports []Port) ServiceType {
	switch {
	case len(ports) == 0:
		return ServiceNone
	case kind != "":
		return kind
	case slices.ContainsFunc(ports, func(p Port) bool { return p.NodePort != 0 }):
		return ServiceNodePort
	}
	return ServiceClusterIP
}

// service returns a Service in front of the ports of the main container, or of a sidecar.
func service(box *ModelBox, wanted FurtherService, containers []corev1.Container) *corev1.Service {
	settings := &wanted.ServiceSettings
	labels := childLabels(box)
	for key, value := range settings.Labels {
		labels[key] = string(value)
	}
	maps.Copy(labels, selector(box))
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: wanted.Name, Namespace: box.Namespace, Labels: labels, Annotations: settings.Annotations},
		Spec: corev1.ServiceSpec{
			Type:                          corev1.ServiceType(serviceTypeOf(wanted.ServiceType, wanted.Ports)),
			Selector:                      selector(box),
			Ports:                         servicePorts(box, wanted.Ports, containers),
			PublishNotReadyAddresses:      settings.PublishNotReadyAddresses,
			SessionAffinity:               settings.SessionAffinity,
			InternalTrafficPolicy:         settings.InternalTrafficPolicy,
			ExternalTrafficPolicy:         settings.ExternalTrafficPolicy,
			LoadBalancerClass:             settings.LoadBalancerClass,
			LoadBalancerIP:                settings.LoadBalancerIP,
			LoadBalancerSourceRanges:      settings.LoadBalancerSourceRanges,
			AllocateLoadBalancerNodePorts: settings.AllocateLoadBalancerNodePorts,
			IPFamilyPolicy:                settings.IPFamilyPolicy,
			IPFamilies:                    settings.IPFamilies,
		},
	}
	if settings.SessionAffinity == corev1.ServiceAffinityClientIP { // the API server removes it otherwise
		service.Spec.SessionAffinityConfig = settings.SessionAffinityConfig
	}
	if wanted.ServiceType == ServiceHeadless {
		service.Spec.Type = corev1.ServiceTypeClusterIP
		service.Spec.ClusterIP = corev1.ClusterIPNone
	}
	return service
}

// servicePorts returns a Service's ports with the API server's defaults. If
// there are several, each needs a name. A target whose name no container port has is asked for by
// number.
func servicePorts(box *ModelBox, wanted []Port, containers []corev1.Container) []corev1.ServicePort {
	taken := map[string]bool{}
	for _, port := range wanted {
		taken[port.Name] = true
	}
	ports := make([]corev1.ServicePort, len(wanted))
	for i, port := range wanted {
		name := port.Name
		if name == "" && len(wanted) > 1 {
			for name = "port-" + strconv.Itoa(int(port.Port)); taken[name]; name += "x" {
			}
		}
		target := port.targetPort()
		isDeclared := slices.ContainsFunc(containers, func(c corev1.Container) bool { return isNamed(c.Ports, target.StrVal, port.protocol()) })
		if target.Type == intstr.String && !isDeclared {
			number, _ := port.containerPort(box)
			target = intstr.FromInt32(number)
		}
		ports[i] = corev1.ServicePort{
			Name:        name,
			Protocol:    port.protocol(),
			AppProtocol: port.AppProtocol,
			Port:        port.Port,
			TargetPort:  target,
			NodePort:    port.NodePort,
		}
	}
	return ports
}

// withoutBlockedServices leaves a Service out while only one of it and the observed one is headless,
// which is immutable. The schema allows that change where the observed one is to go.
func withoutBlockedServices(wanted []metacontroller.Object, observed observed) []metacontroller.Object {
	return slices.DeleteFunc(wanted, func(child metacontroller.Object) bool {
		service, isService := child.(*corev1.Service)
		if !isService {
			return false
		}
		there := observed.service(service.Name)
		return there != nil && there.isHeadless() != (service.Spec.ClusterIP == corev1.ClusterIPNone)
	})
}
