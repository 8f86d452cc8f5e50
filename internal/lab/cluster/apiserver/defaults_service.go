package apiserver

import (
	"fmt"
	"slices"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The range of node ports. The server allocates from the upper part; users may choose any.
const (
	firstNodePort = 30086
	lastNodePort  = 32767
	leastNodePort = 30000
)

func admitService(a *admission, service, old *corev1.Service) field.ErrorList {
	if !a.isNew {
		inherit(service, old)
	}
	spec := &service.Spec
	defaultServiceSpec(spec)
	if problems := checkService(service); len(problems) > 0 {
		return problems
	}
	if spec.Type == corev1.ServiceTypeExternalName {
		return nil
	}
	a.allocateAddress(spec)
	if !a.isNew && old.Spec.Type != corev1.ServiceTypeExternalName && !slices.Equal(spec.ClusterIPs, old.Spec.ClusterIPs) {
		return field.ErrorList{field.Invalid(specPath.Child("clusterIPs").Index(0), spec.ClusterIPs, "may not change once set")}
	}
	return a.allocateNodePorts(spec, portsOf(&old.Spec))
}

func defaultServiceSpec(spec *corev1.ServiceSpec) {
	set(&spec.SessionAffinity, corev1.ServiceAffinityNone)
	if spec.SessionAffinity == corev1.ServiceAffinityNone {
		spec.SessionAffinityConfig = nil
	} else if c := spec.SessionAffinityConfig; c == nil || c.ClientIP == nil || c.ClientIP.TimeoutSeconds == nil {
		client := &corev1.ClientIPConfig{TimeoutSeconds: new(corev1.DefaultClientIPServiceAffinitySeconds)}
		spec.SessionAffinityConfig = &corev1.SessionAffinityConfig{ClientIP: client}
	}
	set(&spec.Type, corev1.ServiceTypeClusterIP)
	for i := range spec.Ports {
		port := &spec.Ports[i]
		set(&port.Protocol, corev1.ProtocolTCP)
		if port.TargetPort == intstr.FromInt32(0) || port.TargetPort == intstr.FromString("") {
			port.TargetPort = intstr.FromInt32(port.Port)
		}
	}
	if spec.Type == corev1.ServiceTypeExternalName {
		return
	}
	point(&spec.InternalTrafficPolicy, corev1.ServiceInternalTrafficPolicyCluster)
	if isExternal(spec) {
		set(&spec.ExternalTrafficPolicy, corev1.ServiceExternalTrafficPolicyCluster)
	}
	if spec.Type == corev1.ServiceTypeLoadBalancer {
		point(&spec.AllocateLoadBalancerNodePorts, true)
	}
	if spec.ClusterIP == corev1.ClusterIPNone && len(spec.Selector) == 0 {
		point(&spec.IPFamilyPolicy, corev1.IPFamilyPolicyRequireDualStack)
		if spec.IPFamilies == nil {
			spec.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol}
		}
	}
	point(&spec.IPFamilyPolicy, corev1.IPFamilyPolicySingleStack)
	if spec.IPFamilies == nil {
		spec.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol}
	}
}

func isExternal(spec *corev1.ServiceSpec) bool {
	return spec.Type == corev1.ServiceTypeNodePort || spec.Type == corev1.ServiceTypeLoadBalancer || len(spec.ExternalIPs) > 0
}

func hasNodePorts(spec *corev1.ServiceSpec) bool {
	allocates := spec.AllocateLoadBalancerNodePorts == nil || *spec.AllocateLoadBalancerNodePorts
	return spec.Type == corev1.ServiceTypeNodePort || spec.Type == corev1.ServiceTypeLoadBalancer && allocates
}

// mayHaveNodePorts reports whether ports of a type can have node ports, even if
// the server allocates none by itself.
func mayHaveNodePorts(spec *corev1.ServiceSpec) bool {
	return spec.Type == corev1.ServiceTypeNodePort || spec.Type == corev1.ServiceTypeLoadBalancer
}

func inherit(service, old *corev1.Service) {
	spec, was := &service.Spec, &old.Spec
	set(&spec.Type, corev1.ServiceTypeClusterIP)
	if spec.Type != corev1.ServiceTypeExternalName && was.Type != corev1.ServiceTypeExternalName {
		set(&spec.ClusterIP, was.ClusterIP)
		if len(spec.ClusterIPs) == 0 {
			spec.ClusterIPs = slices.Clone(was.ClusterIPs)
		}
	}
	if spec.Type == corev1.ServiceTypeExternalName && spec.ClusterIP == was.ClusterIP {
		spec.ClusterIP, spec.ClusterIPs, spec.IPFamilies, spec.IPFamilyPolicy = "", nil, nil, nil
	}
	if hasNodePorts(spec) && hasNodePorts(was) {
		inheritNodePorts(spec, was)
	}
	before := portsOf(was)
	addsPort := slices.ContainsFunc(portsOf(spec), func(port int32) bool { return port != 0 && !slices.Contains(before, port) })
	if mayHaveNodePorts(was) && !mayHaveNodePorts(spec) && !addsPort {
		for i := range spec.Ports {
			spec.Ports[i].NodePort = 0
		}
	}
	if spec.Type != corev1.ServiceTypeLoadBalancer {
		if was.Type == corev1.ServiceTypeLoadBalancer {
			spec.AllocateLoadBalancerNodePorts = nil
		}
		service.Status.LoadBalancer = corev1.LoadBalancerStatus{}
	}
	if isExternal(was) && !isExternal(spec) && spec.ExternalTrafficPolicy == was.ExternalTrafficPolicy {
		spec.ExternalTrafficPolicy = ""
	}
}

func inheritNodePorts(spec, was *corev1.ServiceSpec) {
	byName := map[string]int32{}
	for _, port := range was.Ports {
		byName[port.Name] = port.NodePort
	}
	named := portsOf(spec)
	for i := range spec.Ports {
		port := &spec.Ports[i]
		if number := byName[port.Name]; port.NodePort == 0 && !slices.Contains(named, number) {
			port.NodePort = number
		}
	}
}

func portsOf(spec *corev1.ServiceSpec) []int32 {
	ports := make([]int32, len(spec.Ports))
	for i := range spec.Ports {
		ports[i] = spec.Ports[i].NodePort
	}
	return ports
}

// allocateAddress gives the Service a cluster IP. A real server takes a random one.
func (a *admission) allocateAddress(spec *corev1.ServiceSpec) {
	if spec.ClusterIP == "" && len(spec.ClusterIPs) > 0 {
		spec.ClusterIP = spec.ClusterIPs[0]
	}
	if spec.ClusterIP == "" {
		a.server.addresses++
		spec.ClusterIP = fmt.Sprintf("10.96.%d.%d", 1+a.server.addresses/250, 1+a.server.addresses%250)
	}
	if len(spec.ClusterIPs) == 0 {
		spec.ClusterIPs = []string{spec.ClusterIP}
	}
	spec.ClusterIPs[0] = spec.ClusterIP
}

// allocateNodePorts refuses ports of other Services, and allocates the lowest
// free ones. A real server takes random ones.
func (a *admission) allocateNodePorts(spec *corev1.ServiceSpec, had []int32) field.ErrorList {
	if !hasNodePorts(spec) {
		return nil
	}
	held, mine := a.heldNodePorts(), map[int32]bool{}
	for i := range spec.Ports {
		number := spec.Ports[i].NodePort
		if number == 0 {
			continue
		}
		path := specPath.Child("ports").Index(i).Child("nodePort")
		if held[number] || !slices.Contains(had, number) && a.server.isTaken() {
			return field.ErrorList{field.Invalid(path, number, "provided port is already allocated")}
		}
		if number < leastNodePort || number > lastNodePort {
			return field.ErrorList{field.Invalid(path, number, "provided port is not in the valid range. The range of valid ports is 30000-32767")}
		}
		mine[number] = true
	}
	next := int32(firstNodePort)
	for i := range spec.Ports {
		if spec.Ports[i].NodePort != 0 {
			continue
		}
		for ; mine[next] || held[next]; next++ {
		}
		mine[next] = true
		spec.Ports[i].NodePort = next
	}
	return nil
}

func (a *admission) heldNodePorts() map[int32]bool {
	held := map[int32]bool{}
	for _, object := range a.server.List("v1", "Service") {
		var other corev1.Service
		if kube.RefOf(object) != a.ref && kube.Decode(object, &other) == nil {
			for _, port := range portsOf(&other.Spec) {
				held[port] = port != 0
			}
		}
	}
	return held
}

func checkService(service *corev1.Service) field.ErrorList {
	spec := &service.Spec
	ports := specPath.Child("ports")
	var problems field.ErrorList
	for _, message := range validation.IsDNS1123Label(service.Name) {
		problems = append(problems, field.Invalid(field.NewPath("metadata", "name"), service.Name, message))
	}
	if len(spec.Ports) == 0 && spec.ClusterIP != corev1.ClusterIPNone && spec.Type != corev1.ServiceTypeExternalName {
		problems = append(problems, field.Required(ports, ""))
	}
	if spec.ClusterIP == corev1.ClusterIPNone && isExternal(spec) {
		problems = append(problems, field.Invalid(specPath.Child("clusterIPs").Index(0), spec.ClusterIP,
			"may not be set to 'None' for "+string(spec.Type)+" services"))
	}
	seen := map[string]bool{}
	once := func(what, value string, duplicate *field.Error) {
		if seen[what+value] {
			problems = append(problems, duplicate)
		}
		seen[what+value] = true
	}
	for i, port := range spec.Ports {
		path := ports.Index(i)
		if port.Name != "" {
			once("name ", port.Name, field.Duplicate(path.Child("name"), port.Name))
		} else if len(spec.Ports) > 1 {
			problems = append(problems, field.Required(path.Child("name"), ""))
		}
		number := fmt.Sprintf("%d/%s", port.Port, port.Protocol)
		once("port ", number, field.Duplicate(path, number))
		for _, message := range validation.IsValidPortNum(int(port.Port)) {
			problems = append(problems, field.Invalid(path.Child("port"), port.Port, message))
		}
		if port.NodePort == 0 {
			continue
		}
		once("node port ", fmt.Sprintf("%d/%s", port.NodePort, port.Protocol), field.Duplicate(path.Child("nodePort"), port.NodePort))
		if !isExternal(spec) {
			problems = append(problems, field.Forbidden(path.Child("nodePort"),
				"may not be used when `type` is '"+string(spec.Type)+"'"))
		}
	}
	return problems
}
