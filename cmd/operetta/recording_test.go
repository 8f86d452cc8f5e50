package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/internal/record"
)

// basis returns the golden case of each hook that says most, of those that are
// answered.
func basis(t *testing.T) []corpus.Case {
	cases, err := corpus.Read("../../testdata", hooks.All())
	require.NoError(t, err)
	longest := map[string]corpus.Case{}
	for _, c := range cases {
		hook := c.Controller.Name() + "/" + string(c.Hook)
		if _, err := c.Call(); err == nil && len(c.Request) > len(longest[hook].Request) {
			longest[hook] = c
		}
	}
	return slices.Collect(maps.Values(longest))
}

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
	for _, s := range secrets {
		headers = append(headers, map[string]any{"name": "X-Secret", "value": s.text})
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
	conditions, _ := status["conditions"].([]any)
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

// disguises returns a secret as it is and in the forms in which it may stand in a
// file.
func disguises(secret string) []string {
	quoted, _ := json.Marshal(secret)
	return []string{
		secret, strings.Trim(string(quoted), `"`), strings.ToLower(secret), base64.StdEncoding.EncodeToString([]byte(secret)),
		base64.RawURLEncoding.EncodeToString([]byte(secret)), hex.EncodeToString([]byte(secret)), url.QueryEscape(secret),
	}
}

// everything returns the names and contents of all files below a folder.
func everything(t *testing.T, dir string) string {
	var all strings.Builder
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		fmt.Fprintf(&all, "%s\n%s\n", strings.TrimPrefix(path, dir), content)
		return err
	}))
	return all.String()
}

// TestNoKindOfSecretIsRecorded plants secrets of all kinds in all places of
// requests to all hooks, and looks for them in what is recorded: the requests,
// the answers, the names of the files and the log.
func TestNoKindOfSecretIsRecorded(t *testing.T) {
	kinds := secretKinds()
	require.GreaterOrEqual(t, len(kinds), 92)
	var log bytes.Buffer
	leaked, hooksSeen := map[string]string{}, map[string]bool{}
	for _, c := range basis(t) {
		most := 14
		if c.Controller.Name() == "dataservice" {
			most = 6 // files of a component
		}
		for secrets := range slices.Chunk(kinds, most) {
			request := planted(t, c, secrets)
			answer, err := c.Controller.Call(c.Hook, c.Now, request)
			require.NoError(t, err, c.Name)
			written := recordOne(t, &log, record.Exchange{Controller: c.Controller, Hook: c.Hook, Now: c.Now, Request: request, Answer: answer.Body})
			require.NotEmpty(t, written, "%s is not recorded: %s", c.Name, log.String())
			look(leaked, c, secrets, written+log.String())
			log.Reset()
		}
		hooksSeen[c.Controller.Name()+"/"+string(c.Hook)] = true
	}
	require.Len(t, hooksSeen, 15, "six operators, three of them with customize")
	for _, kind := range slices.Sorted(maps.Keys(leaked)) {
		t.Errorf("leaked: %-40s in %s", kind, leaked[kind])
	}
	t.Logf("%d of %d kinds of secrets were written out", len(leaked), len(kinds))
}

func recordOne(t *testing.T, log *bytes.Buffer, e record.Exchange) string {
	dir := t.TempDir()
	r, err := record.New(dir, slog.New(slog.NewTextHandler(log, nil)))
	require.NoError(t, err)
	r.Record(e)
	r.Close()
	return everything(t, dir)
}

func look(leaked map[string]string, c corpus.Case, secrets []secretKind, written string) {
	lower := strings.ToLower(written)
	for _, s := range secrets {
		for _, hidden := range s.hidden {
			for _, form := range disguises(hidden) {
				if len(form) > 3 && (strings.Contains(written, form) || strings.Contains(lower, strings.ToLower(form))) {
					leaked[s.kind] = c.Name
				}
			}
		}
	}
}
