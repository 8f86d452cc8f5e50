package live

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestANodeDrainLeavesOneReplica drains the node of both replicas as kubectl drain does,
// by the Eviction API: the second is refused until the successor of the first is Ready.
func TestANodeDrainLeavesOneReplica(t *testing.T) {
	const namespace = "operetta-system"
	kubectl := func(stdin string, args ...string) string {
		t.Helper()
		stdout, _, err := operetta.KubectlWithInput(stdin, args...)
		require.NoError(t, err)
		return stdout
	}
	budget := func() string {
		return kubectl("", "get", "poddisruptionbudget/operetta", "--namespace="+namespace, "--output=jsonpath={.status.currentHealthy} {.status.disruptionsAllowed}")
	}
	evict := func(pod string) (string, error) {
		_, stderr, err := operetta.KubectlWithInput(
			fmt.Sprintf(`{"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": %q, "namespace": %q}}`, pod, namespace),
			"create", "--raw=/api/v1/namespaces/"+namespace+"/pods/"+pod+"/eviction", "--filename=-")
		return stderr, err
	}
	t.Cleanup(func() {
		kubectl("", "uncordon", "node-1")
		kubectl("", "delete", "namespace", namespace, "--ignore-not-found", "--timeout="+patience.String())
	})
	kubectl("", "apply", "--filename="+root+"/deploy/namespace.yaml")
	kubectl("", "apply", "--kustomize="+root+"/deploy/server")
	kubectl("", "rollout", "status", "deployment/operetta", "--namespace="+namespace, "--timeout="+patience.String())
	require.Eventually(t, func() bool { return budget() == "2 1" }, patience, 200*time.Millisecond, "both count, and one may go")
	pods := strings.Fields(kubectl("", "get", "pods", "--namespace="+namespace, "--output=jsonpath={.items[*].metadata.name}"))
	require.Len(t, pods, 2)

	kubectl("", "cordon", "node-1") // the successor has no node yet
	type outcome struct {
		pod, stderr string
		err         error
	}
	outcomes := make(chan outcome, len(pods))
	for _, pod := range pods {
		go func() {
			stderr, err := evict(pod)
			outcomes <- outcome{pod, stderr, err}
		}()
	}
	var refused []outcome
	for range pods {
		if got := <-outcomes; got.err != nil {
			refused = append(refused, got)
		}
	}
	require.Len(t, refused, 1, "one goes, and one stays")
	stays := refused[0]
	requireRefused := func(stderr string) {
		t.Helper()
		require.Contains(t, stderr, "TooManyRequests") // 429
		require.Contains(t, stderr, "violate the pod's disruption budget")
	}
	requireRefused(stays.stderr)
	require.Eventually(t, func() bool { return budget() == "1 0" }, patience, 200*time.Millisecond)
	for range 3 {
		stderr, err := evict(stays.pod)
		require.Error(t, err, "while the successor is not Ready")
		requireRefused(stderr)
	}

	kubectl("", "uncordon", "node-1")
	kubectl("", "rollout", "status", "deployment/operetta", "--namespace="+namespace, "--timeout="+patience.String())
	require.Eventually(t, func() bool { return budget() == "2 1" }, patience, 200*time.Millisecond)
	stderr, err := evict(stays.pod)
	require.NoError(t, err, stderr)
	kubectl("", "wait", "--for=delete", "pod/"+stays.pod, "--namespace="+namespace, "--timeout="+patience.String())
	kubectl("", "rollout", "status", "deployment/operetta", "--namespace="+namespace, "--timeout="+patience.String())
}

// TestServerPodsPreemptOthers: Pods of any namespace can leave no node for the server's,
// by what they request and by an anti-affinity to them. Theirs are preempted then.
func TestServerPodsPreemptOthers(t *testing.T) {
	const namespace, others = "operetta-system", "others"
	t.Cleanup(func() {
		kubectl(t, "", "delete", "namespace", namespace, others, "--ignore-not-found", "--timeout="+patience.String())
	})
	kubectl(t, "", "create", "namespace", others)
	kubectl(t, "", "wait", "--for=create", "serviceaccount/default", "--namespace="+others, "--timeout="+patience.String())
	memory, _, err := operetta.KubectlWithInput("", "get", "node", "node-1", "--output=jsonpath={.status.allocatable.memory}")
	require.NoError(t, err)
	for name, spec := range map[string]string{
		"affinity": `affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
			{topologyKey: kubernetes.io/hostname, namespaces: [` + namespace + `], labelSelector: {matchLabels: {app.kubernetes.io/name: operetta}}}]}},
			containers: [{name: a, image: a}]`,
		"memory": `containers: [{name: a, image: a, resources: {requests: {memory: "` + memory + `"}}}]`,
	} {
		t.Run(name, func(t *testing.T) {
			kubectl(t, `{apiVersion: v1, kind: Pod, metadata: {name: `+name+`}, spec: {nodeName: node-1, `+spec+`}}`, "create", "--namespace="+others, "--filename=-")
			kubectl(t, "", "wait", "--for=condition=Ready", "pod/"+name, "--namespace="+others, "--timeout="+patience.String())
			kubectl(t, "", "apply", "--filename="+root+"/deploy/namespace.yaml")
			kubectl(t, "", "apply", "--kustomize="+root+"/deploy/server")
			kubectl(t, "", "rollout", "status", "deployment/operetta", "--namespace="+namespace, "--timeout="+patience.String())
			kubectl(t, "", "wait", "--for=delete", "pod/"+name, "--namespace="+others, "--timeout="+patience.String())
			kubectl(t, "", "delete", "namespace", namespace, "--timeout="+patience.String())
		})
	}
}
