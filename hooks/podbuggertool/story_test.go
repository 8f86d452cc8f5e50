package podbuggertool_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks/podbuggertool"
	"github.com/operetta-dev/operetta/hooks/podbuggertool/invariants"
	"github.com/operetta-dev/operetta/operettatest"
	"github.com/operetta-dev/operetta/simulation"
)

// story is a world with what its tests ask of it.
type story struct {
	*operettatest.World

	t *testing.T
}

// stories tells a story once for each way in which Metacontroller applies
// children and writes requests.
func stories(t *testing.T, options operettatest.Options, tell func(s story)) {
	t.Helper()
	for _, serverSide := range []bool{false, true} {
		for _, version := range []string{"v1", "v2"} {
			t.Run(fmt.Sprint("server-side ", serverSide, ", ", version), func(t *testing.T) {
				options.ServerSideApply, options.HookVersion = serverSide, version
				tell(newStory(t, options))
			})
		}
	}
}

// debugging is what the Pods of the Jobs do.
func debugging() simulation.Kinds {
	return simulation.Kinds{"podbuggertool": {Workload: invariants.Workload}}
}

func newStory(t *testing.T, options operettatest.Options) story {
	t.Helper()
	options.Simulation = debugging()
	return story{t: t, World: operettatest.NewWorld(t, options, podbuggertool.Controller())}
}

// tool applies a PodBuggerTool.
func (s story) tool(name, spec string) {
	s.t.Helper()
	s.Apply("{apiVersion: apps.jicki.cn/v1alpha1, kind: PodBuggerTool, metadata: {name: " + name + "}, spec: " + spec + "}")
}

// shop applies a Deployment.
func (s story) shop(replicas int) {
	s.t.Helper()
	s.Apply(fmt.Sprintf(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: shop}, spec: {replicas: %d, selector: {matchLabels: {app: shop}},
		template: {metadata: {labels: {app: shop}}, spec: {containers: [{name: shop, image: "nginx:1"}]}}}}`, replicas))
}

// pod applies a Pod that runs for ever.
func (s story) pod(name, labels string) {
	s.t.Helper()
	s.Apply(fmt.Sprintf(`{apiVersion: v1, kind: Pod, metadata: {name: %s, labels: %s}, spec: {containers: [{name: main, image: "nginx:1"}]}}`, name, labels))
}

// rests plays until nothing changes.
func (s story) rests() {
	s.t.Helper()
	s.Play()
	for _, name := range s.Names("PodBuggerTool") {
		require.Empty(s.t, s.Failure("PodBuggerTool/"+name))
	}
	s.allowsNoMoreThanItNeeds()
}

// status returns a tool's status.
func (s story) status(name string) podbuggertool.Status {
	s.t.Helper()
	var tool podbuggertool.PodBuggerTool
	s.Decode("PodBuggerTool/"+name, &tool)
	return tool.Status
}

// ready requires that the tool is Ready, and that it reads so.
func (s story) ready(name, reads string) {
	s.t.Helper()
	require.Equal(s.t, operettatest.Condition{Status: "True", Reason: "Injected", Message: strings.Replace(reads, "/", " of ", 1) + " running Pods have the container"},
		s.Condition("PodBuggerTool/"+name, "Ready"))
	require.Equal(s.t, reads, s.status(name).Ready)
	require.Empty(s.t, s.Names("Job"), "a Job whose work is done goes")
}

// containers returns the ephemeral containers of each Pod that has some, as in
// web: toolbox=busybox:1.
func (s story) containers() []string {
	var list []string
	for _, object := range s.Objects("Pod") {
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

// until plays until there is an object of a kind.
func (s story) until(kind string) {
	s.t.Helper()
	s.Until("there is a "+kind, func() bool { return len(s.Names(kind)) > 0 })
}

// jobsEver returns how many Jobs there ever were.
func (s story) jobsEver() int { return len(s.Created("Job")) }

// toolAndPod makes the tool and one Pod that matches.
func (s story) toolAndPod() {
	s.tool("toolbox", toolbox)
	s.pod("web", "{app: shop}")
}

// firstJob returns the name of the first Job of a story, for a fault to strike: the UIDs
// of a simulation, and with them the names, are always the same.
func firstJob(t *testing.T, tell func(s story)) string {
	t.Helper()
	s := newStory(t, operettatest.Options{})
	tell(s)
	s.Play()
	return s.Created("Job")[0]
}
