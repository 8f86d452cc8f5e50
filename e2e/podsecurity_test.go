package e2e

import (
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWhatIsShippedRunsWhereItsNamespaceIsRestricted creates the Pods of the server
// and of Metacontroller in namespaces with the Pod Security labels of deploy/. For
// Metacontroller's Pod, its own manifest is completed by our patch.
func TestWhatIsShippedRunsWhereItsNamespaceIsRestricted(t *testing.T) {
	for name, shipped := range map[string]struct {
		namespace, workload string
		added               map[string]any
	}{
		"server": {"../deploy/namespace.yaml", "../deploy/server/deployment.yaml", nil},
		"metacontroller": {"../deploy/metacontroller/namespace.yaml", "../deploy/metacontroller/statefulset.yaml", map[string]any{
			"command":        []any{"/usr/bin/metacontroller"},
			"livenessProbe":  map[string]any{"httpGet": map[string]any{"port": 8081, "path": "/healthz"}},
			"readinessProbe": map[string]any{"httpGet": map[string]any{"port": 8081, "path": "/readyz"}},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			ns := namespace(t, "restricted-"+name)
			labels := parse(t, read(t, shipped.namespace))["metadata"].(map[string]any)["labels"].(map[string]any)
			for key, value := range labels {
				kubectl(t, "label", "namespace", ns, key+"="+value.(string))
			}
			pod := func(change func(spec, container map[string]any)) string {
				workload := parse(t, read(t, shipped.workload))
				template := workload["spec"].(map[string]any)["template"].(map[string]any)
				spec := template["spec"].(map[string]any)
				container := spec["containers"].([]any)[0].(map[string]any)
				maps.Copy(container, shipped.added)
				change(spec, container)
				delete(spec, "serviceAccountName") // it does not exist in this namespace
				return encoded(t, map[string]any{
					"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "shipped", "labels": template["metadata"].(map[string]any)["labels"]}, "spec": spec,
				})
			}
			for flaw, change := range map[string]func(spec, container map[string]any){
				"runAsNonRoot":   func(spec, _ map[string]any) { delete(spec["securityContext"].(map[string]any), "runAsNonRoot") },
				"seccompProfile": func(spec, _ map[string]any) { delete(spec["securityContext"].(map[string]any), "seccompProfile") },
				"hostNetwork":    func(spec, _ map[string]any) { spec["hostNetwork"] = true },
				"allowPrivilegeEscalation": func(_, container map[string]any) {
					delete(container["securityContext"].(map[string]any), "allowPrivilegeEscalation")
				},
				"capabilities": func(_, container map[string]any) {
					delete(container["securityContext"].(map[string]any), "capabilities")
				},
			} {
				_, stderr, err := controlPlane.KubectlWithInput(pod(change), "apply", "--filename=-", "--namespace="+ns)
				require.Error(t, err, flaw)
				require.Contains(t, stderr, `violates PodSecurity "restricted:`, flaw)
			}
			_, stderr, err := controlPlane.KubectlWithInput(pod(func(_, _ map[string]any) {}), "apply", "--filename=-", "--namespace="+ns)
			require.NoError(t, err)
			require.NotContains(t, strings.ToLower(stderr), "podsecurity", "not even a warning")
		})
	}
}
