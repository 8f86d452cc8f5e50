package modelbox

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func TestResourceClasses(t *testing.T) {
	own := &Resources{Limits: map[corev1.ResourceName]resource.Quantity{"cpu": resource.MustParse("3")}}
	for name, test := range map[string]struct {
		spec                           Spec
		cpu, memory, cpuMax, memoryMax string
	}{
		"small":           {Spec{ResourceClass: ClassSmall}, "250m", "256Mi", "500m", "512Mi"},
		"medium":          {Spec{ResourceClass: ClassMedium}, "500m", "1Gi", "1", "2Gi"},
		"large":           {Spec{ResourceClass: ClassLarge}, "2", "4Gi", "4", "8Gi"},
		"custom":          {Spec{ResourceClass: ClassCustom, Resources: own}, "0", "0", "3", "0"},
		"resources alone": {Spec{Resources: own}, "0", "0", "3", "0"},
		"neither":         {Spec{}, "0", "0", "0", "0"},
	} {
		got := DefaultPolicy().resources(&test.spec)
		require.Equal(t, []string{test.cpu, test.memory, test.cpuMax, test.memoryMax}, []string{
			got.Requests.Cpu().String(), got.Requests.Memory().String(), got.Limits.Cpu().String(), got.Limits.Memory().String(),
		}, name)
	}
}

func TestContainerPortsStandOnce(t *testing.T) {
	named := intstr.FromString("http")
	proxied := intstr.FromString("proxy")
	numbered := intstr.FromInt32(8080)
	box := &ModelBox{Spec: Spec{
		ContainerPorts: []ContainerPort{{Name: "http", ContainerPort: 8080}},
		Ports: []Port{
			{Port: 80, TargetPort: &numbered},
			{Port: 8081, TargetPort: &named},
			{Port: 443, TargetPort: &proxied},
			{Port: 53, Protocol: corev1.ProtocolUDP},
		},
		InitContainers: []corev1.Container{
			{Name: "migrate", Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 9000}}},
			{Name: "envoy", RestartPolicy: new(corev1.ContainerRestartPolicyAlways), Ports: []corev1.ContainerPort{{Name: "proxy", ContainerPort: 10000}}},
		},
	}}
	require.Equal(t, []corev1.ContainerPort{
		{ContainerPort: 8080, Name: "http", Protocol: corev1.ProtocolTCP},
		{ContainerPort: 53, Protocol: corev1.ProtocolUDP},
	}, containerPorts(box), "8080 is asked for by number and by its name; proxy is the native sidecar's, and migrate is done by then")
	port, found := firstTCPPort(box)
	require.True(t, found)
	require.Equal(t, int32(8080), port)
}

// TestServicesLeadWhereTheNameIs compares where a Service's port leads with where Kubernetes' own
// would lead: to the container port of that name and protocol, the main container's first.
func TestServicesLeadWhereTheNameIs(t *testing.T) {
	target := intstr.FromString("http")
	sidecar := []corev1.Container{{Name: "envoy", Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 10000}}}}
	for name, test := range map[string]struct {
		spec   Spec
		port   Port
		number int32
		target intstr.IntOrString
	}{
		"containerPorts":             {Spec{ContainerPorts: []ContainerPort{{Name: "http", ContainerPort: 3000}}}, Port{Port: 80, TargetPort: &target}, 3000, target},
		"its own name":               {Spec{ContainerPorts: []ContainerPort{{Name: "http", ContainerPort: 3000}}}, Port{Name: "http", Port: 80, TargetPort: &target}, 3000, target},
		"a sidecar's":                {Spec{Sidecars: sidecar}, Port{Name: "http", Port: 80, TargetPort: &target}, 10000, target},
		"both":                       {Spec{Sidecars: sidecar, ContainerPorts: []ContainerPort{{Name: "http", ContainerPort: 3000}}}, Port{Port: 80, TargetPort: &target}, 3000, target},
		"of its protocol":            {Spec{Sidecars: sidecar, ContainerPorts: []ContainerPort{{Name: "http", ContainerPort: 443, Protocol: corev1.ProtocolUDP}}}, Port{Port: 80, TargetPort: &target}, 10000, target},
		"another port's name":        {Spec{Ports: []Port{{Name: "http", Port: 81, TargetPort: new(intstr.FromInt32(8080))}}}, Port{Port: 80, TargetPort: &target}, 8080, target},
		"a sidecar's without a name": {Spec{Sidecars: []corev1.Container{{Ports: []corev1.ContainerPort{{ContainerPort: 8080}}}}, Ports: []Port{{Name: "http", Port: 81, TargetPort: new(intstr.FromInt32(8080))}}}, Port{Port: 80, TargetPort: &target}, 8080, intstr.FromInt32(8080)},
		"no number":                  {Spec{}, Port{Port: 80, TargetPort: new(intstr.FromInt32(0))}, 80, intstr.FromInt32(80)},
	} {
		box := &ModelBox{Spec: test.spec}
		box.Spec.Ports = append(box.Spec.Ports, test.port)
		number, _ := test.port.containerPort(box)
		require.Equal(t, test.number, number, name)
		containers := append(sidecars(box), corev1.Container{Ports: containerPorts(box)})
		require.Equal(t, test.target, servicePorts(box, []Port{test.port}, containers)[0].TargetPort, name)
	}
}
