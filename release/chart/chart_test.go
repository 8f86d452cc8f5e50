package chart_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/release/chart"
	"github.com/operetta-dev/operetta/release/install"
	"github.com/operetta-dev/operetta/release/objects"
)

const (
	deploy   = "../../deploy"
	ours     = deploy + "/charts/operetta"
	server   = "Deployment/operetta-system/operetta"
	budget   = "PodDisruptionBudget/operetta-system/operetta"
	keep     = "helm.sh/resource-policy"
	system   = "operetta-system"
	mostData = 1 << 20 // in a Secret
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // Helm tells of each link in the chart
	os.Exit(m.Run())
}

type values = map[string]any

func render(t *testing.T, from string, with values) map[string]objects.Object {
	t.Helper()
	text, err := chart.Render(from, system, with)
	require.NoError(t, err)
	return parse(t, text)
}

func parse(t *testing.T, text []byte) map[string]objects.Object {
	t.Helper()
	parsed, err := objects.Parse(text)
	require.NoError(t, err)
	require.NotEmpty(t, parsed)
	return parsed
}

// requireKustomization holds what a chart renders to what the kustomization does: all
// but the Namespace, which is Helm's, and the policy on the CRDs.
func requireKustomization(t *testing.T, got map[string]objects.Object, options install.Options) {
	t.Helper()
	text, err := install.Render(deploy, options)
	require.NoError(t, err)
	want := parse(t, text)
	delete(want, "Namespace//"+system)
	for key, object := range got {
		if object.Kind() == "CustomResourceDefinition" {
			annotations := object.Metadata()["annotations"].(map[string]any)
			require.Equal(t, "keep", annotations[keep], key)
			delete(annotations, keep)
		}
		require.Contains(t, want, key)
		require.Equal(t, want[key], object, key)
	}
	require.Len(t, got, len(want))
}

func TestTheChartHasTheObjectsOfTheKustomization(t *testing.T) {
	requireKustomization(t, render(t, ours, nil), install.Options{})
}

func TestTheChartOfSomeKindsHasThoseOfTheKustomization(t *testing.T) {
	requireKustomization(t, render(t, ours, values{"kinds": []any{"podset", "build"}}), install.Options{Kinds: []string{"build", "podset"}})
}

func TestThePackagedChartIsTheSame(t *testing.T) {
	path, err := chart.Package(ours, "", t.TempDir())
	require.NoError(t, err)
	requireKustomization(t, render(t, path, nil), install.Options{})

	path, err = chart.Package(ours, "v9.8.7", t.TempDir())
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(path, "/operetta-9.8.7.tgz"), path)
	requireKustomization(t, render(t, path, nil), install.Options{Tag: "v9.8.7"})
}

func TestTheSameChartGivesTheSameBytes(t *testing.T) {
	elsewhere := filepath.Join(t.TempDir(), "deploy") // with files of now
	require.NoError(t, os.MkdirAll(elsewhere, 0o755))
	output, err := exec.Command("cp", "--recursive", "--no-dereference", deploy+"/.", elsewhere).CombinedOutput()
	require.NoError(t, err, string(output))
	var packaged [][]byte
	for _, from := range []string{deploy, elsewhere} {
		path, err := chart.Package(from+"/charts/operetta", "v9.8.7", t.TempDir())
		require.NoError(t, err)
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		packaged = append(packaged, content)
	}
	require.True(t, bytes.Equal(packaged[0], packaged[1]))
}

func TestValuesChangeTheServer(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0a", 32)
	got := render(t, ours, values{
		"image":     values{"repository": "registry.example.com/operetta", "digest": digest, "pullSecrets": []any{values{"name": "registry"}}},
		"replicas":  1,
		"extraArgs": []any{"--log-level=debug"},
		"resources": values{"limits": values{"memory": "2Gi"}},
	})
	require.NotContains(t, got, budget, "it would keep the node of the only Pod from being drained")
	require.EqualValues(t, 1, got[server]["spec"].(map[string]any)["replicas"])
	container := got[server].Container()
	require.Equal(t, "registry.example.com/operetta@"+digest, container["image"])
	require.Equal(t, []any{"serve", "--listen=:8080", "--metrics-listen=:9090", "--drain-delay=5s", "--shutdown-timeout=20s", "--log-level=debug"}, container["args"])
	require.Equal(t, values{"requests": values{"cpu": "50m", "memory": "192Mi"}, "limits": values{"memory": "2Gi"}}, container["resources"])
	text, err := json.Marshal(got[server])
	require.NoError(t, err)
	require.Contains(t, string(text), `"imagePullSecrets":[{"name":"registry"}]`)

	got = render(t, ours, values{"image": values{"tag": "v9.8.7"}})
	require.Equal(t, "ghcr.io/operetta-dev/operetta:v9.8.7", got[server].Container()["image"])
	requireKustomization(t, got, install.Options{Tag: "v9.8.7"})
}

// TestTheConfigurationFileIsMounted as the component configuration does it, and as operetta config reads it.
func TestTheConfigurationFileIsMounted(t *testing.T) {
	const policy = "policy:\n  podset:\n    defaultImage: registry.example.com/busybox:1.37\n"
	var config values
	require.NoError(t, yaml.Unmarshal([]byte(policy), &config))
	got := render(t, ours, values{"config": config})
	require.YAMLEq(t, policy, got["ConfigMap/operetta-system/operetta-config"]["data"].(map[string]any)["config.yaml"].(string))
	text, err := json.Marshal(got[server])
	require.NoError(t, err)
	require.Contains(t, string(text), `"volumeMounts":[{"mountPath":"/etc/operetta/config","name":"config","readOnly":true}]`)
	require.Contains(t, string(text), `"volumes":[{"configMap":{"items":[{"key":"config.yaml","path":"config.yaml"}],"name":"operetta-config"},"name":"config"}]`)
	require.Contains(t, got[server].Container()["args"], "--config=/etc/operetta/config/config.yaml")

	hash := func(got map[string]objects.Object) any {
		template := got[server]["spec"].(map[string]any)["template"].(map[string]any)["metadata"].(map[string]any)
		return template["annotations"].(map[string]any)["operetta.dev/config"]
	}
	config["log-level"] = "warn"
	require.NotEqual(t, hash(got), hash(render(t, ours, values{"config": config})), "the server's Pods are replaced")
}

func TestNamespacesCanBeOthers(t *testing.T) {
	text, err := chart.Render(ours, "acme", values{"metacontroller": values{
		"namespace": "watchers", "serviceAccount": "watcher", "podLabels": values{"app.kubernetes.io/name": nil, "app": "watcher"},
	}})
	require.NoError(t, err)
	require.NotContains(t, string(text), system)
	count := map[string]int{}
	for key, object := range parse(t, text) {
		content, err := json.Marshal(object)
		require.NoError(t, err)
		count[object.Kind()]++
		switch object.Kind() {
		case "CompositeController":
			require.Contains(t, string(content), `"service":{"name":"operetta","namespace":"acme","port":80}`, key)
		case "ClusterRoleBinding":
			require.Contains(t, string(content), `"subjects":[{"kind":"ServiceAccount","name":"watcher","namespace":"watchers"}]`, key)
		case "NetworkPolicy":
			if strings.HasSuffix(key, "/operetta") {
				require.Contains(t, string(content), `{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"watchers"}},"podSelector":{"matchLabels":{"app":"watcher"}}}`)
			}
		case "Deployment", "Service", "ServiceAccount", "PodDisruptionBudget":
			require.Equal(t, object.Kind()+"/acme/operetta", key)
		}
	}
	require.Equal(t, 6, count["CompositeController"])
	require.Equal(t, 6, count["ClusterRoleBinding"])
	require.Equal(t, 2, count["NetworkPolicy"])
}

func TestTheSchemaRefusesWhatIsWrong(t *testing.T) {
	for want, wrong := range map[string]values{
		"'kind'":                       {"kind": []any{"podset"}},
		"/kinds/0":                     {"kinds": []any{"podsets"}},
		"/kinds'":                      {"kinds": "podset"},
		"/replicas":                    {"replicas": "two"},
		"/image/digest":                {"image": values{"digest": "0a0a"}},
		"'name'":                       {"image": values{"name": "x"}},
		"/extraArgs/0":                 {"extraArgs": []any{"debug"}},
		"'limit'":                      {"resources": values{"limit": values{}}},
		"/metacontroller/podLabels/no": {"metacontroller": values{"podLabels": values{"no": 1}}},
	} {
		_, err := chart.Render(ours, system, wrong)
		require.ErrorContains(t, err, "values don't meet the specifications of the schema", want)
		require.ErrorContains(t, err, want)
	}
}

func TestTheSchemaNamesTheKinds(t *testing.T) {
	text, err := os.ReadFile(ours + "/values.schema.json")
	require.NoError(t, err)
	var schema struct {
		Properties struct {
			Kinds struct{ Items struct{ Enum []string } }
		}
	}
	require.NoError(t, json.Unmarshal(text, &schema))
	want, err := install.Kinds(deploy)
	require.NoError(t, err)
	require.Equal(t, slices.Sorted(slices.Values(want)), schema.Properties.Kinds.Items.Enum)
}

// Helm keeps a release, with the chart, in a Secret.
func TestAReleaseFitsIntoASecret(t *testing.T) {
	loaded, err := loader.Load(ours)
	require.NoError(t, err)
	manifest, err := chart.Render(ours, system, nil)
	require.NoError(t, err)
	text, err := json.Marshal(map[string]any{"chart": loaded, "manifest": string(manifest)})
	require.NoError(t, err)
	var compressed bytes.Buffer
	w := gzip.NewWriter(&compressed)
	_, err = w.Write(text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	size := base64.StdEncoding.EncodedLen(compressed.Len())
	t.Logf("%d bytes, compressed", size)
	require.Less(t, size, mostData/2, "and room for what is added later")
}
