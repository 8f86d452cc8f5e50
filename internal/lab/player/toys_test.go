package player

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/metacontroller"
)

// request is what a toy hook is sent.
type request struct {
	Controller map[string]any                       `json:"controller"`
	Parent     map[string]any                       `json:"parent"`
	Children   map[string]map[string]map[string]any `json:"children"`
	Related    map[string]map[string]map[string]any `json:"related"`
	Finalizing *bool                                `json:"finalizing"`
}

// generation returns the parent's generation.
func (r request) generation() int64 {
	n, _ := r.Parent["metadata"].(map[string]any)["generation"].(float64)
	return int64(n)
}

// child returns an observed child, or nil.
func (r request) child(key, name string) map[string]any { return r.Children[key]["default/"+name] }

// toy is an operator whose hooks answer whatever a test wants.
type toy struct {
	metacontroller.Controller

	sync, finalize, customize func(r request) any
	bodies                    []string // of all requests, as hook name and body
}

// kinds of children that toys have.
var (
	deployments = child("apps/v1", "Deployment", "deployments", metacontroller.InPlace)
	services    = child("v1", "Service", "services", metacontroller.InPlace)
	configMaps  = child("v1", "ConfigMap", "configmaps", metacontroller.InPlace)
	pods        = child("v1", "Pod", "pods", metacontroller.OnDelete)
	jobs        = child("batch/v1", "Job", "jobs", metacontroller.OnDelete)
)

func child(apiVersion, kind, plural string, update metacontroller.UpdateMethod) metacontroller.Child {
	return metacontroller.Child{Resource: named(apiVersion, kind, plural), Update: update}
}

// newToy returns an operator for the kind Toy.
func newToy(children ...metacontroller.Child) *toy {
	return &toy{Controller: metacontroller.Controller{
		Parent: named("toys.example.com/v1", "Toy", "toys"), Children: children,
	}}
}

func (y *toy) call(_ time.Time, path string, body []byte) (int, []byte, error) {
	var r request
	if err := json.Unmarshal(body, &r); err != nil {
		return http.StatusBadRequest, []byte(err.Error()), nil
	}
	hook := strings.TrimPrefix(path, "/toy/")
	y.bodies = append(y.bodies, hook+" "+string(body))
	answer := map[string]func(request) any{"sync": y.sync, "finalize": y.finalize, "customize": y.customize}[hook](r)
	switch answer := answer.(type) {
	case error:
		return http.StatusInternalServerError, []byte(answer.Error() + "\n"), nil
	case string:
		return http.StatusOK, []byte(answer), nil
	default:
		text, err := json.Marshal(answer)
		return http.StatusOK, text, err
	}
}

// world returns a World with one Toy named t.
func (y *toy) world(t testing.TB, change ...func(*Options)) *World {
	options := Options{Controllers: []metacontroller.Controller{y.Controller}, Call: y.call}
	for _, apply := range change {
		apply(&options)
	}
	w := New(options)
	apply(t, w, `{apiVersion: toys.example.com/v1, kind: Toy, metadata: {name: t}, spec: {}}`)
	return w
}

var toyRef = kube.Ref{APIVersion: "toys.example.com/v1", Kind: "Toy", Namespace: "default", Name: "t"}

// apply applies a document that is written in YAML.
func apply(t testing.TB, w *World, text string) {
	t.Helper()
	require.NoError(t, w.Apply(toJSON(t, text)))
}

// answer returns a response with the status Ready and children.
func answer(ready bool, children ...map[string]any) map[string]any {
	status := "False"
	if ready {
		status = "True"
	}
	return map[string]any{
		"status":   map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": status, "reason": "Toy", "message": "m"}}},
		"children": append([]map[string]any{}, children...),
	}
}

// object returns an object with a name and more.
func object(apiVersion, kind, name string, rest map[string]any) map[string]any {
	content := map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name}}
	for key, value := range rest {
		content[key] = value
	}
	return content
}

func configMap(name, value string) map[string]any {
	return object("v1", "ConfigMap", name, map[string]any{"data": map[string]any{"key": value}})
}

func podSpec(image, restartPolicy string) map[string]any {
	return map[string]any{
		"restartPolicy": restartPolicy,
		"containers":    []any{map[string]any{"name": "c", "image": image}},
	}
}

func template(image string) map[string]any {
	return map[string]any{"metadata": map[string]any{"labels": map[string]any{"a": "b"}}, "spec": podSpec(image, "Always")}
}

func deployment(name, image string, replicas any) map[string]any {
	spec := map[string]any{"selector": map[string]any{"matchLabels": map[string]any{"a": "b"}}, "template": template(image)}
	if replicas != nil {
		spec["replicas"] = replicas
	}
	return object("apps/v1", "Deployment", name, map[string]any{"spec": spec})
}

// ref returns the reference to an object in the default namespace.
func ref(apiVersion, kind, name string) kube.Ref {
	return kube.Ref{APIVersion: apiVersion, Kind: kind, Namespace: "default", Name: name}
}

// text returns an object's field as JSON, and "null" for none.
func text(t testing.TB, object kube.Object, path ...string) string {
	t.Helper()
	require.NotNil(t, object)
	var value any = object.Object
	for _, name := range path {
		fields, _ := value.(map[string]any)
		value = fields[name]
	}
	encoded, err := json.Marshal(value)
	require.NoError(t, err)
	return string(encoded)
}

// story tells the events as lines, without those about custom resources.
func story(w *World) []string {
	var lines []string
	for _, step := range w.Steps {
		for _, e := range step.Events {
			switch {
			case e.Object == nil:
				lines = append(lines, fmt.Sprintf("%d %s", step.Number, e.Detail))
			case w.IsOfParent(e.Object) && e.Verb != Failed:
			case e.Detail != "":
				lines = append(lines, fmt.Sprintf("%d %s %s: %s", step.Number, kube.RefOf(e.Object), e.Verb, e.Detail))
			case e.Verb == Reported:
				lines = append(lines, fmt.Sprintf("%d %s %s", step.Number, kube.RefOf(e.Object), kube.Progress(e.Object)))
			default:
				lines = append(lines, fmt.Sprintf("%d %s %s by %s", step.Number, kube.RefOf(e.Object), e.Verb, e.By))
			}
		}
	}
	return lines
}

func named(apiVersion, kind, plural string) metacontroller.Resource {
	return metacontroller.Resource{APIVersion: apiVersion, Kind: kind, Plural: plural}
}
