package simulate

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// errExists is what the API server says to the creation of what is there.
var errExists = errors.New("already exists")

// admit fills in the API server's defaults and refuses what it refuses. The
// live object is nil at creation.
func (s *store) admit(live, o *unstructured.Unstructured) error {
	var err error
	switch keyKind(o) {
	case "Deployment.apps/v1":
		err = defaulted(o, defaultDeployment)
	case "StatefulSet.apps/v1":
		err = defaulted(o, defaultStatefulSet)
	case "DaemonSet.apps/v1":
		err = defaulted(o, defaultDaemonSet)
	case "Job.batch/v1":
		err = defaulted(o, defaultJob)
	case "Pod.v1":
		err = defaulted(o, func(pod *corev1.Pod) { defaultPodSpec(&pod.Spec) })
	case "Service.v1":
		err = defaulted(o, func(service *corev1.Service) { s.defaultService(live, service) })
		if err == nil {
			err = s.checkNodePorts(o)
		}
	}
	if err != nil || live == nil {
		return err
	}
	return checkImmutable(live, o)
}

func keyKind(o *unstructured.Unstructured) string { return o.GetKind() + "." + o.GetAPIVersion() }

// defaulted runs an object through its Go type, as the API server does: unknown
// fields go, quantities take their canonical form, defaults are filled in.
func defaulted[T any](o *unstructured.Unstructured, fill func(*T)) error {
	typed := new(T)
	if err := decode(encode(o.Object), typed); err != nil {
		return fmt.Errorf("the API server cannot read it: %w", err)
	}
	fill(typed)
	object := map[string]any{}
	if err := decode(encode(typed), &object); err != nil {
		return fmt.Errorf("the API server cannot return it: %w", err)
	}
	o.Object = object
	return nil
}

// What cannot be changed below spec. Of some kinds a few fields cannot, of
// others all but a few.
var (
	immutable = map[string][]string{
		"Deployment.apps/v1": {"selector"},
		"DaemonSet.apps/v1":  {"selector"},
		"Job.batch/v1":       {"selector", "template", "completionMode"},
		"Service.v1":         {"clusterIP"},
	}
	mutable = map[string][]string{
		"StatefulSet.apps/v1": {"replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit", "persistentVolumeClaimRetentionPolicy", "minReadySeconds"},
		"Pod.v1":              {"containers", "initContainers", "activeDeadlineSeconds", "tolerations", "terminationGracePeriodSeconds", "nodeName", "ephemeralContainers"},
	}
)

func checkImmutable(live, o *unstructured.Unstructured) error {
	spec, _ := o.Object["spec"].(map[string]any)
	before, _ := live.Object["spec"].(map[string]any)
	allowed, isRestricted := mutable[keyKind(o)]
	names := sortedKeys(spec)
	for name := range before {
		if _, known := spec[name]; !known {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		isFixed := slices.Contains(immutable[keyKind(o)], name) || isRestricted && !slices.Contains(allowed, name)
		if isFixed && before[name] != nil && !reflect.DeepEqual(before[name], spec[name]) {
			return fmt.Errorf("spec.%s: field is immutable", name)
		}
	}
	return nil
}

// defaultService allocates an address, and node ports from the top of the
// range, where they are seldom asked for.
func (s *store) defaultService(live *unstructured.Unstructured, service *corev1.Service) {
	spec := &service.Spec
	orDefault(&spec.Type, corev1.ServiceTypeClusterIP)
	orDefault(&spec.SessionAffinity, corev1.ServiceAffinityNone)
	orPointer(&spec.InternalTrafficPolicy, corev1.ServiceInternalTrafficPolicyCluster)
	if spec.ClusterIP == "" && live != nil {
		spec.ClusterIP, _, _ = unstructured.NestedString(live.Object, "spec", "clusterIP")
	}
	if spec.ClusterIP == "" {
		s.lastAddr++
		spec.ClusterIP = fmt.Sprintf("10.96.%d.%d", s.lastAddr/250, s.lastAddr%250+1)
	}
	spec.ClusterIPs = []string{spec.ClusterIP}
	orPointer(&spec.IPFamilyPolicy, corev1.IPFamilyPolicySingleStack)
	spec.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol}
	hasNodePorts := spec.Type == corev1.ServiceTypeNodePort || spec.Type == corev1.ServiceTypeLoadBalancer
	if hasNodePorts {
		orDefault(&spec.ExternalTrafficPolicy, corev1.ServiceExternalTrafficPolicyCluster)
	} else {
		spec.ExternalTrafficPolicy = ""
	}
	for i := range spec.Ports {
		port := &spec.Ports[i]
		orDefault(&port.Protocol, corev1.ProtocolTCP)
		if port.TargetPort.IntVal == 0 && port.TargetPort.StrVal == "" {
			port.TargetPort.IntVal = port.Port
		}
		switch {
		case !hasNodePorts:
			port.NodePort = 0
		case port.NodePort == 0:
			port.NodePort = s.nodePortFor(live, port.Port)
		}
	}
}

// nodePortFor returns the port that the live Service has, or a free one.
func (s *store) nodePortFor(live *unstructured.Unstructured, port int32) int32 {
	if live != nil {
		for number, nodePort := range nodePortsOf(live) {
			if number == int64(port) {
				return int32(nodePort)
			}
		}
	}
	taken, free := s.nodePorts(nil), int64(32767)
	for taken[free] {
		free--
	}
	return int32(free)
}

func (s *store) checkNodePorts(o *unstructured.Unstructured) error {
	others := s.nodePorts(o)
	for _, nodePort := range nodePortsOf(o) {
		if others[nodePort] {
			return fmt.Errorf("spec.ports: nodePort %d is already allocated", nodePort)
		}
	}
	return nil
}

// nodePorts returns the ports that Services have, but for one.
func (s *store) nodePorts(without *unstructured.Unstructured) map[int64]bool {
	taken := map[int64]bool{}
	for k, o := range s.objects {
		if k.kind == "Service" && (without == nil || k != keyOf(without)) {
			for _, nodePort := range nodePortsOf(o) {
				taken[nodePort] = true
			}
		}
	}
	return taken
}

// nodePortsOf returns the node ports of a Service by port.
func nodePortsOf(service *unstructured.Unstructured) map[int64]int64 {
	byPort := map[int64]int64{}
	ports, _, _ := unstructured.NestedSlice(service.Object, "spec", "ports")
	for _, item := range ports {
		port, _ := item.(map[string]any)
		number, _, _ := unstructured.NestedInt64(port, "port")
		if nodePort, _, _ := unstructured.NestedInt64(port, "nodePort"); nodePort != 0 {
			byPort[number] = nodePort
		}
	}
	return byPort
}
