// These tests hold the manifests that are written by hand, and those that are
// generated, to what they promise.
package deploy_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/internal/lab/write/manifests"
	"github.com/operetta-dev/operetta/internal/server"
)

// read decodes a file, and fails on a field that its kind does not have.
func read[T any](t *testing.T, path string) T {
	t.Helper()
	return readAll[T](t, path)[0]
}

// readAll decodes the documents of a file, all of one kind.
func readAll[T any](t *testing.T, path string) []T {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	documents := bytes.Split(text, []byte("\n---\n"))
	list := make([]T, len(documents))
	for i, document := range documents {
		require.NoError(t, yaml.UnmarshalStrict(document, &list[i]), path)
	}
	return list
}

func deployment(t *testing.T) appsv1.Deployment {
	t.Helper()
	return read[appsv1.Deployment](t, "server/deployment.yaml")
}

// requireRestricted holds a Pod to the restricted Pod Security Standard.
func requireRestricted(t *testing.T, pod corev1.PodSpec) {
	t.Helper()
	require.False(t, pod.HostNetwork || pod.HostPID || pod.HostIPC)
	require.NotNil(t, pod.SecurityContext)
	require.Equal(t, new(true), pod.SecurityContext.RunAsNonRoot)
	require.Equal(t, new(int64(65532)), pod.SecurityContext.RunAsUser)
	require.Equal(t, corev1.SeccompProfileTypeRuntimeDefault, pod.SecurityContext.SeccompProfile.Type)
	for _, container := range append(pod.InitContainers, pod.Containers...) {
		require.NotNil(t, container.SecurityContext, container.Name)
		require.Equal(t, new(false), container.SecurityContext.AllowPrivilegeEscalation)
		require.Equal(t, new(true), container.SecurityContext.ReadOnlyRootFilesystem)
		require.Equal(t, &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}, container.SecurityContext.Capabilities)
		require.Nil(t, container.SecurityContext.Privileged)
		require.NotEmpty(t, container.Resources.Requests)
		require.Positive(t, container.Resources.Limits.Memory().Value(), container.Name) // an absent one is 0
		for _, port := range container.Ports {
			require.Zero(t, port.HostPort)
		}
	}
}

func TestTheServerRunsWithoutAnyRight(t *testing.T) {
	namespace := read[corev1.Namespace](t, "namespace.yaml")
	require.Equal(t, manifests.Operetta().Namespace, namespace.Name)
	require.Equal(t, "restricted", namespace.Labels["pod-security.kubernetes.io/enforce"])

	pod := deployment(t).Spec.Template.Spec
	requireRestricted(t, pod)
	require.Empty(t, pod.Volumes)
	require.Equal(t, new(false), pod.AutomountServiceAccountToken)
	account := read[corev1.ServiceAccount](t, "server/serviceaccount.yaml")
	require.Equal(t, account.Name, pod.ServiceAccountName)
	require.Equal(t, new(false), account.AutomountServiceAccountToken)

	// Every right of the project is Metacontroller's: nothing binds one to the server's account. The
	// Job of a component that makes a certificate has an account of its own.
	err := filepath.WalkDir(".", func(path string, _ os.DirEntry, err error) error {
		require.NoError(t, err)
		if filepath.Ext(path) != ".yaml" {
			return nil
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, document := range bytes.Split(text, []byte("\n---\n")) {
			if bytes.Contains(document, []byte("Binding\n")) && bytes.Contains(document, []byte("\nsubjects:")) {
				other := bytes.ReplaceAll(document, []byte("name: operetta-certgen\n  namespace: "+manifests.Operetta().Namespace), nil)
				require.NotContains(t, string(other), manifests.Operetta().Namespace, path)
			}
		}
		return nil
	})
	require.NoError(t, err)
}

// TestTheLargestBodyFits into what the server takes of the container's memory limit.
func TestTheLargestBodyFits(t *testing.T) {
	container := deployment(t).Spec.Template.Spec.Containers[0]
	require.Empty(t, container.Env, "GOMEMLIMIT would have to follow each change of the limit")
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(container.Resources.Limits.Memory().Value() / 4 * 3))
	require.LessOrEqual(t, int64(server.DefaultMaxBodyBytes), server.LargestBody(server.DefaultMemoryBudget()))
}

func TestEverySelectorSelectsTheServer(t *testing.T) {
	d := deployment(t)
	pod := labels.Set(d.Spec.Template.Labels)
	selects := func(selector *metav1.LabelSelector) {
		t.Helper()
		require.NotNil(t, selector)
		s, err := metav1.LabelSelectorAsSelector(selector)
		require.NoError(t, err)
		require.True(t, s.Matches(pod), "%s does not select %s", s, pod)
	}
	selects(d.Spec.Selector)
	for _, constraint := range d.Spec.Template.Spec.TopologySpreadConstraints {
		selects(constraint.LabelSelector)
		require.Equal(t, corev1.ScheduleAnyway, constraint.WhenUnsatisfiable, "one node must do")
	}
	selects(read[policyv1.PodDisruptionBudget](t, "server/poddisruptionbudget.yaml").Spec.Selector)
	selects(&metav1.LabelSelector{MatchLabels: read[corev1.Service](t, "server/service.yaml").Spec.Selector})
	for _, policy := range readAll[networkingv1.NetworkPolicy](t, "server/networkpolicy.yaml") {
		selects(&policy.Spec.PodSelector)
	}
}

func TestPortsAgree(t *testing.T) {
	container := deployment(t).Spec.Template.Spec.Containers[0]
	ports := map[string]int32{}
	for _, port := range container.Ports {
		ports[port.Name] = port.ContainerPort
	}
	require.Equal(t, map[string]int32{"http": 8080, "metrics": 9090}, ports)
	require.Contains(t, container.Args, "--listen=:8080")
	require.Contains(t, container.Args, "--metrics-listen=:9090")
	require.Equal(t, "metrics", container.StartupProbe.HTTPGet.Port.StrVal)
	require.Equal(t, "/healthz", container.StartupProbe.HTTPGet.Path)
	require.Equal(t, "metrics", container.LivenessProbe.HTTPGet.Port.StrVal)
	require.Equal(t, "/healthz", container.LivenessProbe.HTTPGet.Path)
	require.Equal(t, "metrics", container.ReadinessProbe.HTTPGet.Port.StrVal)
	require.Equal(t, "/readyz", container.ReadinessProbe.HTTPGet.Path)

	service := read[corev1.Service](t, "server/service.yaml")
	require.Equal(t, manifests.Operetta().Service, service.Name)
	require.Len(t, service.Spec.Ports, 1)
	require.EqualValues(t, manifests.Operetta().Port, service.Spec.Ports[0].Port)
	require.Equal(t, "http", service.Spec.Ports[0].TargetPort.StrVal)
}

func TestOnlyTwoCallersGetThrough(t *testing.T) {
	policies := readAll[networkingv1.NetworkPolicy](t, "server/networkpolicy.yaml")
	require.Len(t, policies, 2)
	deny, allow := policies[0].Spec, policies[1].Spec
	require.Empty(t, deny.PodSelector)
	require.ElementsMatch(t, []networkingv1.PolicyType{"Ingress", "Egress"}, deny.PolicyTypes)
	require.Empty(t, deny.Ingress)
	require.Empty(t, deny.Egress)

	require.Equal(t, []networkingv1.PolicyType{"Ingress"}, allow.PolicyTypes)
	require.Empty(t, allow.Egress)
	callers := map[int32]map[string]string{}
	for _, rule := range allow.Ingress {
		require.Len(t, rule.From, 1)
		require.Len(t, rule.Ports, 1)
		callers[rule.Ports[0].Port.IntVal] = rule.From[0].NamespaceSelector.MatchLabels
	}
	require.Equal(t, map[int32]map[string]string{
		8080: {"kubernetes.io/metadata.name": manifests.Operetta().Metacontroller},
		9090: {"metrics": "enabled"},
	}, callers)
}

func TestADrainFitsIntoTheGracePeriod(t *testing.T) {
	pod := deployment(t).Spec.Template.Spec
	var drain time.Duration
	for _, arg := range pod.Containers[0].Args {
		for _, flag := range []string{"--drain-delay=", "--shutdown-timeout="} {
			if text, ok := strings.CutPrefix(arg, flag); ok {
				part, err := time.ParseDuration(text)
				require.NoError(t, err)
				require.Positive(t, part)
				drain += part
			}
		}
	}
	require.Equal(t, 25*time.Second, drain)
	grace := time.Duration(*pod.TerminationGracePeriodSeconds) * time.Second
	require.GreaterOrEqual(t, grace, drain+5*time.Second)
}

func TestAnUpdateNeverTakesAPodAwayFirst(t *testing.T) {
	d := deployment(t)
	require.EqualValues(t, 2, *d.Spec.Replicas)
	require.Zero(t, d.Spec.Strategy.RollingUpdate.MaxUnavailable.IntVal)
	require.EqualValues(t, 1, d.Spec.Strategy.RollingUpdate.MaxSurge.IntVal)
	budget := read[policyv1.PodDisruptionBudget](t, "server/poddisruptionbudget.yaml")
	require.EqualValues(t, 1, budget.Spec.MinAvailable.IntVal)
}
