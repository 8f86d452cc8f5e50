package cli

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/corpus"
)

// planted returns a request with secrets in every place that one can be in.
func planted(t *testing.T, c corpus.Case, secrets []secretKind) []byte {
	var request map[string]any
	require.NoError(t, json.Unmarshal(c.Request, &request))
	request["controller"] = map[string]any{"secret": secrets[0].text}
	parent := request["parent"].(map[string]any)
	plantMetadata(parent, secrets)
	spec, _ := parent["spec"].(map[string]any)
	switch c.Controller.Name() {
	case "podset", "myjob":
		template, _ := spec["template"].(map[string]any)
		if template != nil {
			plantTemplate(template, secrets)
		}
	case "modelbox":
		plantContainer(spec, "envs", secrets)
		spec["podAnnotations"] = notes(secrets)
	case "build":
		plantBuild(spec, secrets)
	case "podbuggertool":
		spec["env"], spec["args"] = variables(secrets), arguments(secrets)
	case "dataservice":
		for key, component := range spec {
			if component, ok := component.(map[string]any); ok && (key == "eureka" || key == "auth" || key == "web") && component["image"] != nil && component["storage"] == nil && component["kind"] == nil {
				component["env"] = entries(secrets)
				component["config"] = entries(secrets)
			}
		}
	}
	plantStatus(parent, secrets)
	for _, where := range []string{"children", "related"} {
		groups, _ := request[where].(map[string]any)
		for _, group := range groups {
			for _, object := range group.(map[string]any) {
				plantObject(object.(map[string]any), secrets)
			}
		}
	}
	encoded, err := json.Marshal(request)
	require.NoError(t, err)
	return encoded
}

func plantBuild(spec map[string]any, secrets []secretKind) {
	steps, _ := spec["steps"].([]any)
	if steps == nil {
		steps = []any{spec}
	}
	for _, step := range steps {
		step := step.(map[string]any)
		step["env"] = variables(secrets)
		if step["command"] == nil && step["args"] == nil {
			step["script"] = text(secrets)
		} else {
			step["args"] = arguments(secrets)
		}
	}
}

func plantObject(object map[string]any, secrets []secretKind) {
	plantMetadata(object, secrets)
	applied := map[string]any{"apiVersion": object["apiVersion"], "kind": object["kind"], "data": entries(secrets), "spec": map[string]any{
		"containers": []any{map[string]any{"name": "c", "image": "x:1", "env": variables(secrets), "args": arguments(secrets)}}, "replicas": 1,
	}, "metadata": map[string]any{"name": object["metadata"].(map[string]any)["name"], "annotations": notes(secrets)}}
	encoded, _ := json.Marshal(applied)
	annotations := object["metadata"].(map[string]any)["annotations"].(map[string]any)
	annotations["metacontroller.k8s.io/last-applied-configuration"] = string(encoded)
	annotations["kubectl.kubernetes.io/last-applied-configuration"] = string(encoded)
	spec, _ := object["spec"].(map[string]any)
	switch kind := object["kind"]; {
	case kind == "ConfigMap" || kind == "Secret":
		object["data"], object["stringData"], object["binaryData"] = entries(secrets), entries(secrets), encodedEntries(secrets)
	case spec == nil:
	case kind == "Pod":
		plantPod(spec, secrets)
	default:
		if template, ok := spec["template"].(map[string]any); ok {
			plantTemplate(template, secrets)
		} else if kind != "Service" {
			spec["template"] = map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "c", "image": "x", "env": variables(secrets)}}}}
		}
	}
	plantStatus(object, secrets)
}

func plantTemplate(template map[string]any, secrets []secretKind) {
	metadata, _ := template["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
		template["metadata"] = metadata
	}
	metadata["annotations"] = notes(secrets)
	if spec, ok := template["spec"].(map[string]any); ok {
		plantPod(spec, secrets)
	}
}

func plantPod(spec map[string]any, secrets []secretKind) {
	attributes := entries(secrets)
	for i, name := range []string{"name", "bucketName", "type", "connectionMode", "state"} {
		attributes[name] = secrets[i%len(secrets)].text
	}
	volumes, _ := spec["volumes"].([]any)
	spec["volumes"] = append(volumes, map[string]any{"name": "planted", "csi": map[string]any{"driver": "csi.example.com", "volumeAttributes": attributes}})
	for _, list := range []string{"containers", "initContainers"} {
		containers, _ := spec[list].([]any)
		for _, container := range containers {
			plantContainer(container.(map[string]any), "env", secrets)
		}
	}
}

// plantContainer plants into a container, or into what has the same fields.
func plantContainer(container map[string]any, env string, secrets []secretKind) {
	container[env] = variables(secrets)
	container["command"], container["args"] = []any{"sh", "-c", text(secrets)}, arguments(secrets)
	var headers []any
	for i, s := range secrets {
		headers = append(headers, map[string]any{"name": fmt.Sprintf("X-Secret-%d", i), "value": s.text})
	}
	container["readinessProbe"] = map[string]any{"exec": map[string]any{"command": arguments(secrets)}}
	container["livenessProbe"] = map[string]any{"httpGet": map[string]any{"port": 80, "path": "/" + secrets[0].text, "httpHeaders": headers}}
}

func plantMetadata(object map[string]any, secrets []secretKind) {
	metadata := object["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	if annotations == nil {
		annotations = map[string]any{}
		metadata["annotations"] = annotations
	}
	maps.Copy(annotations, notes(secrets))
	labels, _ := metadata["labels"].(map[string]any)
	if labels == nil {
		labels = map[string]any{}
		metadata["labels"] = labels
	}
	for i, s := range secrets {
		for _, domain := range []string{"notkubernetes.io", "a.kubernetes.io", "a.operetta.dev", "operetta.dev", "apps.jicki.cn", "ci.zt.vapi.cc", "d3os-product.com.d3os"} {
			labels[fmt.Sprintf("%s/x%d", domain, i)] = s.text
		}
	}
	owned := map[string]any{}
	for _, s := range secrets {
		owned["v:"+s.text], owned[fmt.Sprintf(`k:{"value":%q}`, s.text)] = map[string]any{}, map[string]any{".": map[string]any{}}
	}
	metadata["managedFields"] = []any{map[string]any{"manager": "kubectl", "operation": "Update", "fieldsType": "FieldsV1", "fieldsV1": map[string]any{"f:data": owned}}}
}

func plantStatus(object map[string]any, secrets []secretKind) {
	status, _ := object["status"].(map[string]any)
	if status == nil {
		return
	}
	var nodes []any
	for _, s := range secrets {
		nodes = append(nodes, s.text)
	}
	status["nodes"] = nodes
	conditions, _ := status["conditions"].([]any)
	for _, s := range secrets {
		conditions = append(conditions, map[string]any{"type": "Planted" + variableName(s.name), "status": "False", "reason": s.text, "lastTransitionTime": "2026-01-01T00:00:00Z"})
	}
	status["conditions"] = append(conditions, map[string]any{
		"type": "Planted", "status": "False", "reason": "Planted", "message": text(secrets), "lastTransitionTime": "2026-01-01T00:00:00Z",
	})
	if statuses, ok := status["containerStatuses"].([]any); ok {
		for _, s := range statuses {
			s.(map[string]any)["lastState"] = map[string]any{"terminated": map[string]any{"exitCode": 1, "reason": "Error", "message": text(secrets)}}
		}
	}
}

func variables(secrets []secretKind) []any {
	var list []any
	for i, s := range secrets {
		list = append(list, map[string]any{"name": fmt.Sprintf("%s_%d", variableName(s.name), i), "value": s.text})
	}
	return list
}

func variableName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '.' {
			return '_'
		}
		return r
	}, name)
}

func arguments(secrets []secretKind) []any {
	var list []any
	for _, s := range secrets {
		list = append(list, s.text, "--"+s.name+"="+s.text, "--"+s.name, s.text)
	}
	return list
}

func entries(secrets []secretKind) map[string]any {
	all := map[string]any{}
	for i, s := range secrets {
		all[fmt.Sprintf("%s.%d", s.name, i)] = s.text
	}
	return all
}

func encodedEntries(secrets []secretKind) map[string]any {
	all := entries(secrets)
	for key, value := range all {
		all[key] = base64.StdEncoding.EncodeToString([]byte(value.(string)))
	}
	return all
}

func notes(secrets []secretKind) map[string]any {
	all := map[string]any{}
	for key, value := range entries(secrets) {
		all["example.com/x"+strings.ToLower(key)] = value
	}
	return all
}

func text(secrets []secretKind) string {
	lines := []string{"it failed:"}
	for _, s := range secrets {
		lines = append(lines, s.name+"="+s.text)
	}
	return strings.Join(lines, "\n")
}
