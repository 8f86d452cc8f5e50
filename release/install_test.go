package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

const (
	deploy = "../deploy"
	chart  = deploy + "/charts/operetta"
	system = "operetta-system"
	server = "Deployment/" + system + "/operetta"
)

type object = map[string]any

// parse reads a YAML stream, by kind/namespace/name.
func parse(t *testing.T, stream []byte) map[string]object {
	t.Helper()
	all := map[string]object{}
	for document := range strings.SplitSeq("\n"+string(stream), "\n---") {
		var o object
		require.NoError(t, yaml.Unmarshal([]byte(document), &o))
		if len(o) == 0 { // nothing, or a comment
			continue
		}
		metadata := o["metadata"].(object)
		namespace, _ := metadata["namespace"].(string)
		key := fmt.Sprintf("%s/%s/%s", o["kind"], namespace, metadata["name"])
		require.NotContains(t, all, key)
		all[key] = o
	}
	require.NotEmpty(t, all)
	return all
}

func installed(t *testing.T, kinds []string, image, tag string) map[string]object {
	t.Helper()
	text, err := install(deploy, kinds, image, tag)
	require.NoError(t, err)
	return parse(t, text)
}

// container is that of the server.
func container(all map[string]object) object {
	return all[server]["spec"].(object)["template"].(object)["spec"].(object)["containers"].([]any)[0].(object)
}

// rendered returns what helm template prints for a chart, which is a folder or an archive.
func rendered(from, namespace string, values object) ([]byte, error) {
	loaded, err := loader.Load(from)
	if err != nil {
		return nil, err
	}
	all, err := util.ToRenderValues(loaded, values, common.ReleaseOptions{Name: "operetta", Namespace: namespace, IsInstall: true, Revision: 1}, nil)
	if err != nil {
		return nil, err
	}
	files, err := engine.Engine{Strict: true}.Render(loaded, all)
	if err != nil {
		return nil, err
	}
	var stream bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if path.Ext(name) == ".yaml" {
			fmt.Fprintf(&stream, "---\n%s\n", files[name])
		}
	}
	return stream.Bytes(), nil
}

func render(t *testing.T, from string, values object) map[string]object {
	t.Helper()
	text, err := rendered(from, system, values)
	require.NoError(t, err)
	return parse(t, text)
}

func TestTheFileHasTheObjectsOfTheKustomization(t *testing.T) {
	kustomized, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), deploy)
	require.NoError(t, err)
	text, err := kustomized.AsYaml()
	require.NoError(t, err)
	want := parse(t, text)
	require.Equal(t, want, installed(t, nil, "", ""))
	got := installed(t, nil, "registry.example.com/operetta", "v9.9.9")
	require.Equal(t, "registry.example.com/operetta:v9.9.9", container(got)["image"])
	container(got)["image"] = container(want)["image"]
	require.Equal(t, want, got, "the image is all that differs")
}

func TestAKindThatIsNotChosenHasNoObject(t *testing.T) {
	all := installed(t, nil, "", "")
	some := installed(t, []string{"podset", "build", "podset"}, "", "")
	var kinds []string
	for _, o := range all {
		if o["kind"] == "CompositeController" {
			kinds = append(kinds, strings.TrimPrefix(o["metadata"].(object)["name"].(string), "operetta-"))
		}
	}
	slices.Sort(kinds)
	count := map[any]int{}
	for key, o := range some {
		count[o["kind"]]++
		if key != server {
			require.Equal(t, all[key], o, key)
		}
		for _, kind := range kinds {
			require.False(t, kind != "build" && kind != "podset" && strings.Contains(key, kind), key)
		}
	}
	require.Equal(t, 2, count["CustomResourceDefinition"])
	require.Equal(t, 2, count["CompositeController"])
	require.Equal(t, 2*3, count["ClusterRole"], "Metacontroller's, to view and to edit")
	require.Equal(t, append(container(all)["args"].([]any), "--kinds=build,podset"), container(some)["args"])
	_, err := install(deploy, []string{"podset", "podsets"}, "", "")
	require.EqualError(t, err, `there is no kind "podsets": write some of `+strings.Join(kinds, ","))
}

// requireAsInstalled holds what a chart renders to what the kustomization does: all but the
// Namespace, which is Helm's, and the policy on the CRDs.
func requireAsInstalled(t *testing.T, got, want map[string]object) {
	t.Helper()
	delete(want, "Namespace//"+system)
	for key, o := range got {
		if o["kind"] == "CustomResourceDefinition" {
			annotations := o["metadata"].(object)["annotations"].(object)
			require.Equal(t, "keep", annotations["helm.sh/resource-policy"], key)
			delete(annotations, "helm.sh/resource-policy")
		}
		require.Equal(t, want[key], o, key)
	}
	require.Len(t, got, len(want))
}

func TestTheChartHasTheObjectsOfTheKustomization(t *testing.T) {
	requireAsInstalled(t, render(t, chart, nil), installed(t, nil, "", ""))
	requireAsInstalled(t, render(t, chart, object{"kinds": []any{"podset", "build"}}), installed(t, []string{"build", "podset"}, "", ""))
	requireAsInstalled(t, render(t, chart, object{"image": object{"tag": "v9.8.7"}}), installed(t, nil, "", "v9.8.7"))
	elsewhere := t.TempDir() // with files of now
	output, err := exec.Command("cp", "--recursive", "--no-dereference", deploy+"/.", elsewhere).CombinedOutput()
	require.NoError(t, err, string(output))
	var packaged [][]byte
	for _, from := range []string{chart, elsewhere + "/charts/operetta"} {
		path, err := packageChart(from, "v9.8.7", t.TempDir())
		require.NoError(t, err)
		require.True(t, strings.HasSuffix(path, "/operetta-9.8.7.tgz"), path)
		requireAsInstalled(t, render(t, path, nil), installed(t, nil, "", "v9.8.7"))
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		packaged = append(packaged, content)
	}
	require.True(t, bytes.Equal(packaged[0], packaged[1]), "the same chart gives the same bytes")
}

func TestValuesChangeTheServer(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0a", 32)
	got := render(t, chart, object{
		"image":    object{"repository": "registry.example.com/operetta", "digest": digest, "pullSecrets": []any{object{"name": "registry"}}},
		"replicas": 1, "extraArgs": []any{"--log-level=debug"}, "resources": object{"limits": object{"memory": "2Gi"}},
		"config": object{"policy": object{"podset": object{"defaultImage": "registry.example.com/busybox:1.37"}}},
	})
	require.NotContains(t, got, "PodDisruptionBudget/operetta-system/operetta", "it would keep the node of the only Pod from being drained")
	require.EqualValues(t, 1, got[server]["spec"].(object)["replicas"])
	require.Equal(t, "registry.example.com/operetta@"+digest, container(got)["image"])
	require.Subset(t, container(got)["args"], []any{"--log-level=debug", "--config=/etc/operetta/config/config.yaml"})
	require.Equal(t, object{"requests": object{"cpu": "50m", "memory": "192Mi"}, "limits": object{"memory": "2Gi"}}, container(got)["resources"])
	text, err := json.Marshal(got[server])
	require.NoError(t, err)
	for _, want := range []string{
		`"imagePullSecrets":[{"name":"registry"}]`,
		`"volumeMounts":[{"mountPath":"/etc/operetta/config","name":"config","readOnly":true}]`,
		`"volumes":[{"configMap":{"items":[{"key":"config.yaml","path":"config.yaml"}],"name":"operetta-config"},"name":"config"}]`,
	} {
		require.Contains(t, string(text), want)
	}
	require.YAMLEq(t, "policy: {podset: {defaultImage: 'registry.example.com/busybox:1.37'}}", got["ConfigMap/operetta-system/operetta-config"]["data"].(object)["config.yaml"].(string))

	hash := func(level string) any {
		all := render(t, chart, object{"config": object{"log-level": level}})
		return all[server]["spec"].(object)["template"].(object)["metadata"].(object)["annotations"].(object)["operetta.dev/config"]
	}
	require.NotEqual(t, hash("info"), hash("warn"), "the server's Pods are replaced")
}

func TestNamespacesCanBeOthers(t *testing.T) {
	text, err := rendered(chart, "acme", object{"metacontroller": object{
		"namespace": "watchers", "serviceAccount": "watcher", "podLabels": object{"app.kubernetes.io/name": nil, "app": "watcher"},
	}})
	require.NoError(t, err)
	require.NotContains(t, string(text), system)
	all := parse(t, text)
	content, err := json.Marshal(all)
	require.NoError(t, err)
	require.Equal(t, strings.Count(string(content), `"kind":"CompositeController"`), strings.Count(string(content), `"subjects":[{"kind":"ServiceAccount","name":"watcher","namespace":"watchers"}]`))
	require.Contains(t, string(content), `"service":{"name":"operetta","namespace":"acme","port":80}`)
	require.Contains(t, string(content), `{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"watchers"}},"podSelector":{"matchLabels":{"app":"watcher"}}}`)
	require.Contains(t, all, "Deployment/acme/operetta")
}

func TestTheSchemaRefusesWhatIsWrong(t *testing.T) {
	for want, wrong := range map[string]object{
		"'kind'": {"kind": []any{"podset"}}, "/kinds/0": {"kinds": []any{"podsets"}}, "/replicas": {"replicas": "two"},
		"/image/digest": {"image": object{"digest": "0a0a"}}, "'limit'": {"resources": object{"limit": object{}}},
	} {
		_, err := rendered(chart, system, wrong)
		require.ErrorContains(t, err, "values don't meet the specifications of the schema", want)
		require.ErrorContains(t, err, want)
	}
	render(t, chart, object{"kinds": []any{"build", "dataservice", "modelbox", "myjob", "podbuggertool", "podset"}})
}
