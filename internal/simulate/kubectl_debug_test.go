package simulate

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const debugged = `{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: main, image: "x:1"}]}}`

// debugJob returns a Job without retries that runs kubectl with arguments.
func debugJob(name string, command []any, args ...any) map[string]any {
	container := map[string]any{"name": "c", "image": "kubectl:1", "args": args}
	if command != nil {
		container["command"] = command
	}
	return object("batch/v1", "Job", name, map[string]any{"spec": map[string]any{
		"backoffLimit": 0,
		"template":     map[string]any{"spec": map[string]any{"restartPolicy": "Never", "containers": []any{container}}},
	}})
}

// debugWorld plays Jobs beside the Pod debugged.
func debugWorld(t *testing.T, children ...map[string]any) *World {
	t.Helper()
	y := newToy(jobs)
	y.sync = func(request) any { return answer(true, children...) }
	w := New(Options{Controllers: y.world(t).options.Controllers, Call: y.call})
	apply(t, w, debugged)
	require.NoError(t, w.Play())
	apply(t, w, `{apiVersion: toys.example.com/v1, kind: Toy, metadata: {name: t}, spec: {}}`)
	require.NoError(t, w.Play())
	return w
}

func TestKubectlDebugAddsAContainer(t *testing.T) {
	web := ref("v1", "Pod", "web")
	w := debugWorld(t,
		debugJob("a", []any{"kubectl"}, "debug", "web", "--namespace=default", "--image=tools:1", "--container=a",
			"--profile=general", "--target=main", "--env=A=b", "--", "sh", "-c", "echo $$HOME"),
		debugJob("b", nil, "debug", "pod/web", "--image=tools:2", "--container=b", "--arguments-only", "--", "--help"),
	)
	require.JSONEq(t, `[
		{"name":"a","image":"tools:1","imagePullPolicy":"IfNotPresent","resources":{},"targetContainerName":"main","command":["sh","-c","echo $HOME"],
		 "terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"},
		{"name":"b","image":"tools:2","imagePullPolicy":"IfNotPresent","resources":{},"args":["--help"],
		 "terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"}]`,
		text(t, w.Get(web), "spec", "ephemeralContainers"))
	require.Equal(t, "3", text(t, w.Get(web), "metadata", "generation"))
	require.Contains(t, text(t, w.Get(web), "status", "ephemeralContainerStatuses"), `"running"`)
	require.Equal(t, "complete", Progress(w.Get(ref("batch/v1", "Job", "a"))))

	edited := w.Get(web).DeepCopy()
	delete(edited.Object["spec"].(map[string]any), "ephemeralContainers")
	raw, err := edited.MarshalJSON()
	require.NoError(t, err)
	require.Error(t, w.Apply(raw), "nobody takes it away by an update")
}

func TestKubectlDebugIsRefused(t *testing.T) {
	for want, args := range map[string][]any{
		`Error from server (NotFound): pods \"other\" not found`:                                           {"debug", "other", "--image=x", "--container=a"},
		`The Pod \"web\" is invalid: spec.ephemeralContainers[0].name: Duplicate value: \"main\"`:          {"debug", "web", "--image=x", "--container=main"},
		`The Pod \"web\" is invalid: spec.ephemeralContainers[0].targetContainerName: Not found: \"none\"`: {"debug", "web", "--image=x", "--container=a", "--target=none"},
		`Error from server (NotFound): pods \"web\" not found`:                                             {"debug", "web", "--image=x", "--container=a", "--namespace=other"},
	} {
		w := debugWorld(t, debugJob("j", []any{"kubectl"}, args...))
		require.Contains(t, Progress(w.Get(ref("batch/v1", "Job", "j"))), "failed")
		require.Contains(t, podsText(t, w), want)
		require.Equal(t, "null", text(t, w.Get(ref("v1", "Pod", "web")), "spec", "ephemeralContainers"))
	}
	twice := []any{"debug", "web", "--image=x", "--container=a"}
	w := debugWorld(t, debugJob("one", []any{"kubectl"}, twice...), debugJob("two", []any{"kubectl"}, twice...))
	require.Contains(t, podsText(t, w), `spec.ephemeralContainers: Forbidden: existing ephemeral containers \"a\" may not be changed`)
	require.Equal(t, "complete", Progress(w.Get(ref("batch/v1", "Job", "one"))))
	require.Contains(t, Progress(w.Get(ref("batch/v1", "Job", "two"))), "failed")
}

// podsText returns the statuses of all Pods.
func podsText(t *testing.T, w *World) string {
	t.Helper()
	all := ""
	for _, pod := range w.server.List("v1", "Pod") {
		all += text(t, pod, "status", "containerStatuses")
	}
	return all
}

func TestRestoreBringsRelatedObjectsBack(t *testing.T) {
	y := newToy(configMaps)
	y.sync = func(request) any { return answer(true) }
	w := New(Options{Controllers: y.world(t).options.Controllers, Call: y.call})
	require.NoError(t, w.Restore(toJSON(t, `
parent: {apiVersion: toys.example.com/v1, kind: Toy, metadata: {name: t, namespace: ns}}
related: {Pod.v1: {ns/web: {apiVersion: v1, kind: Pod, metadata: {name: web, namespace: ns, ownerReferences: [{apiVersion: v1, kind: X, name: x, uid: u}]}, spec: {containers: [{name: main, image: "x:1"}]}, status: {phase: Succeeded}}}}
`)))
	require.NoError(t, w.Play())
	pod := w.Get(Ref{APIVersion: "v1", Kind: "Pod", Namespace: "ns", Name: "web"})
	require.Equal(t, `"Succeeded"`, text(t, pod, "status", "phase"))
	require.Empty(t, pod.GetOwnerReferences())
	require.True(t, w.IsForeign(pod))
}
