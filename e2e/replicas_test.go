package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	boxOfFour  = `{"apiVersion":"model.github.com/v1","kind":"ModelBox","metadata":{"name":"web","namespace":%q},"spec":{"image":"nginx","replicas":4}}`
	boxWithout = `{"apiVersion":"model.github.com/v1","kind":"ModelBox","metadata":{"name":"web","namespace":%q},"spec":{"image":"nginx"}}`
)

// TestReplicasTakenOut removes spec.replicas from a ModelBox on a real API server: the
// Deployment that the hook then returns keeps 4 replicas under both apply strategies
// of Metacontroller.
func TestReplicasTakenOut(t *testing.T) {
	t.Run("dynamic apply of what the hook asks for keeps 4", func(t *testing.T) {
		ns := namespace(t, "replicas-put")
		desired := render(t, fmt.Sprintf(boxOfFour, ns))
		live := deploy(t, ns, desired)
		annotations(live)["metacontroller.k8s.io/last-applied-configuration"] = desired
		replace(t, ns, live)
		live = observed(t, ns)
		next := object(t, render(t, request(t, fmt.Sprintf(boxWithout, ns), live)))
		require.EqualValues(t, 4, next["spec"].(map[string]any)["replicas"])
		live["spec"].(map[string]any)["replicas"] = next["spec"].(map[string]any)["replicas"]
		replace(t, ns, live)
		require.Equal(t, "4", replicas(t, ns))
	})
	t.Run("server-side apply of what the hook asks for keeps 4, and lets an autoscaler go on", func(t *testing.T) {
		ns := namespace(t, "replicas-ssa")
		applyOnServer(t, ns, render(t, fmt.Sprintf(boxOfFour, ns)))
		applyOnServer(t, ns, render(t, request(t, fmt.Sprintf(boxWithout, ns), observed(t, ns))))
		require.Equal(t, "4", replicas(t, ns))

		kubectl(t, "scale", "deployment/web", "--replicas=6", "--namespace="+ns)
		next := render(t, request(t, fmt.Sprintf(boxWithout, ns), observed(t, ns)))
		require.NotContains(t, object(t, next)["spec"], "replicas", "it is someone else's now")
		applyOnServer(t, ns, next)
		require.Equal(t, "6", replicas(t, ns))
	})
}

// render returns the Deployment that the hook returns, in JSON.
func render(t *testing.T, input string) string {
	t.Helper()
	stream := operetta(t, input, "render", "-", "--children-only")
	stdout, _, err := controlPlane.KubectlWithInput(strings.TrimPrefix(stream, "---\n"), "create", "--dry-run=client", "--output=json", "--filename=-")
	require.NoError(t, err)
	return stdout
}

// request returns a sync request for a parent with its Deployment.
func request(t *testing.T, parent string, live map[string]any) string {
	t.Helper()
	raw, err := json.Marshal(map[string]any{
		"parent":   json.RawMessage(parent),
		"children": map[string]any{"Deployment.apps/v1": map[string]any{"web": live}},
	})
	require.NoError(t, err)
	return string(raw)
}

func deploy(t *testing.T, ns, manifest string) map[string]any {
	t.Helper()
	_, _, err := controlPlane.KubectlWithInput(manifest, "create", "--filename=-", "--namespace="+ns)
	require.NoError(t, err)
	require.Equal(t, "4", replicas(t, ns))
	return observed(t, ns)
}

func replace(t *testing.T, ns string, object map[string]any) {
	t.Helper()
	raw, err := json.Marshal(object)
	require.NoError(t, err)
	_, _, err = controlPlane.KubectlWithInput(string(raw), "replace", "--filename=-", "--namespace="+ns)
	require.NoError(t, err)
}

func applyOnServer(t *testing.T, ns, manifest string) {
	t.Helper()
	apply(t, manifest, "--server-side", "--force-conflicts", "--field-manager=metacontroller", "--namespace="+ns)
}

func replicas(t *testing.T, ns string) string {
	t.Helper()
	return kubectl(t, "get", "deployment/web", "--namespace="+ns, "--output=jsonpath={.spec.replicas}")
}

func observed(t *testing.T, ns string) map[string]any {
	t.Helper()
	return object(t, kubectl(t, "get", "deployment/web", "--namespace="+ns, "--output=json", "--show-managed-fields"))
}

func object(t *testing.T, raw string) map[string]any {
	t.Helper()
	into := map[string]any{}
	require.NoError(t, json.Unmarshal([]byte(raw), &into))
	return into
}

func annotations(object map[string]any) map[string]any {
	return object["metadata"].(map[string]any)["annotations"].(map[string]any)
}
