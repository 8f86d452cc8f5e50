package live

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// TestQuotaOfTheDocumentation: with the quotas of docs/security.md nobody creates Pods before
// which Metacontroller's have to give way, Pods that keep those of other namespaces from a
// node, nor more objects than they say.
func TestQuotaOfTheDocumentation(t *testing.T) {
	_, quota, found := strings.Cut(read(t, root+"/docs/security.md"), "<!-- quota:begin -->\n```yaml\n")
	require.True(t, found)
	quota, _, _ = strings.Cut(quota, "```")
	const ns = "quota"
	kubectl(t, "", "create", "namespace", ns)
	t.Cleanup(func() { kubectl(t, "", "delete", "namespace", ns, "--wait=false") })
	kubectl(t, "", "wait", "--for=create", "serviceaccount/default", "--namespace="+ns, "--timeout="+patience.String())
	kubectl(t, quota, "apply", "--namespace="+ns, "--filename=-")
	for _, name := range []string{"operetta", "operetta-no-system-priority", "operetta-no-affinity-across-namespaces"} {
		kubectl(t, "", "wait", "quota/"+name, "--for=jsonpath={.status.hard}", "--namespace="+ns, "--timeout="+patience.String())
	}
	// Kubernetes leaves some kinds out of all quotas, and says nothing. It counts those of CRDs that have
	// only just been installed after up to five minutes.
	custom, _, err := operetta.KubectlWithInput("", "get", "customresourcedefinitions", "--output=name")
	require.NoError(t, err)
	var uncounted []corev1.ResourceName
	require.Eventually(t, func() bool {
		printed, _, err := operetta.KubectlWithInput("", "get", "quota/operetta", "--output=json", "--namespace="+ns)
		var counted corev1.ResourceQuota
		if err != nil || json.Unmarshal([]byte(printed), &counted) != nil {
			return false
		}
		uncounted = nil
		for name := range counted.Spec.Hard {
			_, isCounted := counted.Status.Used[name]
			if !isCounted && !strings.Contains(custom, "/"+strings.TrimPrefix(string(name), "count/")+"\n") {
				uncounted = append(uncounted, name)
			}
		}
		return len(uncounted) == 0
	}, patience, 200*time.Millisecond, "no quota counts one of these: %v", &uncounted)
	create := func(name, more string) error {
		_, _, err := operetta.KubectlWithInput("{apiVersion: v1, kind: Pod, metadata: {name: "+name+"}, spec: {containers: [{name: a, image: a}]"+more+"}}",
			"create", "--namespace="+ns, "--filename=-")
		return err
	}
	require.NoError(t, create("usual", ""))
	for _, class := range []string{"system-node-critical", "system-cluster-critical"} {
		require.ErrorContains(t, create(class, ", priorityClassName: "+class), "exceeded quota: operetta-no-system-priority", class)
	}
	for name, across := range map[string]string{"": "", "names": ", namespaces: [operetta-system]", "labels": ", namespaceSelector: {}"} {
		err := create("away"+name, ", affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {is: absent}}"+across+"}]}}")
		if across == "" {
			require.NoError(t, err, "within the namespace")
			continue
		}
		require.ErrorContains(t, err, "exceeded quota: operetta-no-affinity-across-namespaces", across)
	}
}
