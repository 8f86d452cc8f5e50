package podbuggertool_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/hooks/podbuggertool"
	"github.com/operetta-dev/operetta/internal/simulate"
	"github.com/operetta-dev/operetta/metacontroller"
)

// story is a world with what its tests ask of it.
type story struct {
	*simulate.World

	t    *testing.T
	blur *bool // whether the hook sees Pods as they were before they were debugged
}

// stories tells a story once for each way in which Metacontroller applies
// children and writes requests.
func stories(t *testing.T, tell func(s story), faults ...simulate.Fault) {
	t.Helper()
	controller := podbuggertool.Controller()
	blur := false
	call := func(now time.Time, path string, body []byte) (int, []byte, error) {
		if blur {
			body = blurred(t, body)
		}
		answer, err := controller.Call(metacontroller.HookName(strings.TrimPrefix(path, "/podbuggertool/")), now, body)
		if err != nil {
			return 500, []byte(err.Error()), nil
		}
		return 200, answer.Body, nil
	}
	for _, apply := range []simulate.Strategy{simulate.DynamicApply, simulate.ServerSideApply} {
		for _, version := range []string{"v1", "v2"} {
			t.Run(string(apply)+"/"+version, func(t *testing.T) {
				blur = false
				tell(story{t: t, blur: &blur, World: simulate.New(simulate.Options{
					Controllers: []metacontroller.Controller{controller}, Call: call,
					Apply: apply, HookVersion: version, Faults: faults,
				})})
			})
		}
	}
}

// blurred returns a request in which no Pod has an ephemeral container: that is
// how a cache looks that lags behind.
func blurred(t *testing.T, body []byte) []byte {
	t.Helper()
	var request map[string]any
	require.NoError(t, json.Unmarshal(body, &request))
	related, _ := request["related"].(map[string]any)
	pods, _ := related["Pod.v1"].(map[string]any)
	for _, pod := range pods {
		delete(pod.(map[string]any)["spec"].(map[string]any), "ephemeralContainers")
	}
	body, err := json.Marshal(request)
	require.NoError(t, err)
	return body
}

// apply applies a document in YAML.
func (s story) apply(format string, args ...any) {
	s.t.Helper()
	text, err := yaml.YAMLToJSON(fmt.Appendf(nil, format, args...))
	require.NoError(s.t, err)
	require.NoError(s.t, s.Apply(text))
}

// tool applies a PodBuggerTool.
func (s story) tool(name, spec string) {
	s.t.Helper()
	s.apply("{apiVersion: apps.jicki.cn/v1alpha1, kind: PodBuggerTool, metadata: {name: %s}, spec: %s}", name, spec)
}

// shop applies a Deployment.
func (s story) shop(replicas int) {
	s.t.Helper()
	s.apply(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: shop}, spec: {replicas: %d, selector: {matchLabels: {app: shop}},
		template: {metadata: {labels: {app: shop}}, spec: {containers: [{name: shop, image: "nginx:1"}]}}}}`, replicas)
}

// pod applies a Pod that runs for ever.
func (s story) pod(name, labels string) {
	s.t.Helper()
	s.apply(`{apiVersion: v1, kind: Pod, metadata: {name: %s, labels: %s}, spec: {containers: [{name: main, image: "nginx:1"}]}}`, name, labels)
}

// rests plays until nothing changes.
func (s story) rests() {
	s.t.Helper()
	require.NoError(s.t, s.Play())
	for _, outcome := range s.Outcomes() {
		require.Empty(s.t, outcome.Failure)
	}
	s.allowsNoMoreThanItNeeds()
}

// status returns a tool's status.
func (s story) status(name string) podbuggertool.Status {
	s.t.Helper()
	var tool podbuggertool.PodBuggerTool
	object := s.Get(ref("apps.jicki.cn/v1alpha1", "PodBuggerTool", name))
	require.NotNil(s.t, object)
	raw, err := json.Marshal(object.Object)
	require.NoError(s.t, err)
	require.NoError(s.t, json.Unmarshal(raw, &tool))
	return tool.Status
}

// ready requires that the tool is Ready, and that it reads so.
func (s story) ready(name, reads string) {
	s.t.Helper()
	require.Equal(s.t, simulate.ConditionText{Status: "True", Reason: "Injected", Message: strings.Replace(reads, "/", " of ", 1) + " running Pods have the container"},
		simulate.Condition(s.Get(ref("apps.jicki.cn/v1alpha1", "PodBuggerTool", name)), "Ready"))
	require.Equal(s.t, reads, s.status(name).Ready)
	require.Empty(s.t, s.jobs(), "a Job whose work is done goes")
}

// containers returns the ephemeral containers of each Pod that has some, as in
// web: toolbox=busybox:1.
func (s story) containers() []string {
	var list []string
	for _, object := range s.kind("Pod") {
		containers, _ := object.Object["spec"].(map[string]any)["ephemeralContainers"].([]any)
		line := object.GetName() + ":"
		for _, c := range containers {
			line += fmt.Sprintf(" %s=%s", c.(map[string]any)["name"], c.(map[string]any)["image"])
		}
		if len(containers) > 0 {
			list = append(list, line)
		}
	}
	return list
}

func (s story) kind(kind string) []simulate.Object {
	return slices.DeleteFunc(s.Objects(), func(object simulate.Object) bool { return object.GetKind() != kind })
}

// jobs returns the names of the Jobs that there are.
func (s story) jobs() []string {
	var names []string
	for _, object := range s.kind("Job") {
		names = append(names, object.GetName())
	}
	return names
}

// jobsEver returns how many Jobs there ever were.
func (s story) jobsEver() int { return s.ever("Job") }

// ever returns how many objects of a kind were ever created.
func (s story) ever(kind string) int {
	count := 0
	for _, step := range s.Steps {
		for _, event := range step.Events {
			if event.Verb == simulate.Created && event.Object.GetKind() == kind {
				count++
			}
		}
	}
	return count
}

func ref(apiVersion, kind, name string) simulate.Ref {
	return simulate.Ref{APIVersion: apiVersion, Kind: kind, Namespace: "default", Name: name}
}

// toolAndPod makes the tool and one Pod that matches.
func (s story) toolAndPod() {
	s.tool("toolbox", toolbox)
	s.pod("web", "{app: shop}")
}

// firstJob returns the name of the first Job of a story, for a fault to strike:
// the UIDs of a simulation, and with them the names, are always the same.
func firstJob(t *testing.T, tell func(s story)) string {
	t.Helper()
	name := ""
	stories(t, func(s story) {
		tell(s)
		require.NoError(s.t, s.Play())
		for _, step := range slices.Backward(s.Steps) {
			for _, event := range step.Events {
				if event.Verb == simulate.Created && event.Object.GetKind() == "Job" {
					name = event.Object.GetName()
				}
			}
		}
	})
	require.NotEmpty(t, name)
	return name
}
