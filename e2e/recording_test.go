package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// TestRecordingsCanBeRead renders deploy/ with the component recording, and has the API
// server admit the ephemeral container of docs/cli.md to a Pod of it, under the
// Pod Security Standard of the namespace.
func TestRecordingsCanBeRead(t *testing.T) {
	_, page, found := strings.Cut(read(t, "../docs/cli.md"), "cat > recordings.yaml <<'EOF'\n")
	require.True(t, found)
	container, page, found := strings.Cut(page, "EOF\n")
	require.True(t, found)
	_, page, found = strings.Cut(page, "  kubectl --namespace operetta-system debug ")
	require.True(t, found)
	command, _, _ := strings.Cut(page, "\n")

	made := objects(t, kustomized(t, "recording"))
	deployment := made["Deployment operetta"]["spec"].(map[string]any)
	pod := map[string]any{
		"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "operetta-recording", "namespace": "operetta-system"},
		"spec": deployment["template"].(map[string]any)["spec"],
	}
	dir := t.TempDir()
	var paths []string
	for _, object := range []map[string]any{made["Namespace operetta-system"], made["ServiceAccount operetta"], pod} {
		text, err := yaml.Marshal(object)
		require.NoError(t, err)
		path := filepath.Join(dir, object["kind"].(string)+".yaml")
		require.NoError(t, os.WriteFile(path, text, 0o600))
		paths = append(paths, path)
	}
	for _, path := range paths {
		kubectl(t, "apply", "--filename="+path)
	}
	t.Cleanup(func() {
		_, _, err := controlPlane.Kubectl("delete", "--ignore-not-found", "--force", "--filename="+paths[2])
		require.NoError(t, err)
	})
	custom := filepath.Join(dir, "recordings.yaml")
	require.NoError(t, os.WriteFile(custom, []byte(container), 0o600))
	words := strings.Fields(strings.NewReplacer(`"$pod"`, "pod/operetta-recording", "--custom=recordings.yaml", "--custom="+custom).Replace(command))
	require.Contains(t, words, "--custom="+custom)
	kubectl(t, append([]string{"--namespace=operetta-system", "debug"}, words...)...)
	got := kubectl(t, "--namespace=operetta-system", "get", "pod/operetta-recording",
		"--output=jsonpath={.spec.ephemeralContainers[0].name} {.spec.ephemeralContainers[0].volumeMounts[0]} {.spec.volumes[0]}")
	require.Equal(t, `recordings {"mountPath":"/recordings","name":"recordings","readOnly":true} {"emptyDir":{"sizeLimit":"1Gi"},"name":"recordings"}`, got)
}
