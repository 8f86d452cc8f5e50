package player

import (
	"errors"
	"testing"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/simulation"
)

// TestAProgramWritesToTheCluster plays a Job whose Pods add an ephemeral container
// to another Pod, and one whose Pods are refused.
func TestAProgramWritesToTheCluster(t *testing.T) {
	y := newToy(jobs)
	run := func(name string) map[string]any {
		return object("batch/v1", "Job", name, map[string]any{"spec": map[string]any{
			"backoffLimit": 0, "template": map[string]any{"spec": podSpec(name, "Never")},
		}})
	}
	y.sync = func(request) any { return answer(true, run("works"), run("fails")) }
	workload := func(cluster simulation.Cluster, pod *corev1.Pod) error {
		switch pod.Spec.Containers[0].Image {
		case "works":
			return cluster.AddEphemeralContainer("default", "web", corev1.EphemeralContainer{
				EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debug", Image: "tools:1"},
			})
		case "fails":
			return errors.New("no such Pod")
		}
		return nil
	}
	w := New(Options{Controllers: []metacontroller.Controller{y.Controller}, Simulation: simulation.Kinds{y.Name(): {Workload: workload}}, Call: y.call})
	apply(t, w, `{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: main, image: "x:1"}]}}`)
	require.NoError(t, w.Play())
	apply(t, w, toyText+"spec: {}}")
	require.NoError(t, w.Play())
	require.Equal(t, "complete", kube.Progress(w.Get(ref("batch/v1", "Job", "works"))))
	require.Contains(t, kube.Progress(w.Get(ref("batch/v1", "Job", "fails"))), "failed")
	messages := ""
	for _, pod := range w.List("v1", "Pod") {
		messages += text(t, pod, "status", "containerStatuses")
	}
	require.Contains(t, messages, `"message":"no such Pod"`)
	web := w.Get(ref("v1", "Pod", "web"))
	require.Contains(t, text(t, web, "status", "ephemeralContainerStatuses"), `"running"`)

	edited := web.DeepCopy()
	delete(edited.Object["spec"].(map[string]any), "ephemeralContainers")
	raw, err := edited.MarshalJSON()
	require.NoError(t, err)
	require.Error(t, w.Apply(raw), "nobody takes it away by an update")
}
