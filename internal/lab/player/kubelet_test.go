package player

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/operetta-dev/operetta/internal/lab/cluster/apiserver"
	"github.com/operetta-dev/operetta/internal/lab/cluster/controllers"
	"github.com/operetta-dev/operetta/internal/lab/kube"
)

// everything is a Pod to which each trouble can happen.
const everything = `{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {restartPolicy: POLICY,
  initContainers: [{name: setup, image: i}, {name: proxy, image: s, restartPolicy: Always}],
  containers: [{name: web, image: "x:1", command: [serve], startupProbe: PROBE, livenessProbe: PROBE, readinessProbe: PROBE}, {name: other, image: "other:1"}]}}`

const toTry = `{failureThreshold: 2, periodSeconds: 5, exec: {command: [check]}}`

// TestEachTrouble wants each to show in the Pod, or in an Event, in the words for it, to stay until it is mended,
// and to be over then.
func TestEachTrouble(t *testing.T) {
	for _, trouble := range controllers.Troubles() {
		for _, policy := range []string{"Always", "OnFailure", "Never"} {
			if trouble.Name == "completes" && policy != "Always" {
				continue
			}
			t.Run(trouble.Name+policy, func(t *testing.T) {
				w := New(Options{Actions: []Action{{Do: Fail, Target: "Pod/p", Detail: trouble.Name}}})
				apply(t, w, strings.NewReplacer("POLICY", policy, "PROBE", toTry).Replace(everything))
				restarts, waits := map[int32]bool{}, map[string]bool{}
				w.Watch(func(c Write) {
					if pod := apiserver.Typed[corev1.Pod](w.server, c.Ref); pod != nil {
						requireWhole(t, pod, restarts, waits)
					}
				}, nil, nil)
				require.NoError(t, w.Play())
				require.Empty(t, w.InVain())
				pod := w.Get(ref("v1", "Pod", "p"))
				said := mustJSON(t, pod.Object["status"])
				for _, event := range w.Events() {
					said += mustJSON(t, event.Object["message"])
				}
				words := strings.NewReplacer("Completed, ", "", "exit code ", `"exitCode":`).Replace(trouble.Words)
				if !strings.HasSuffix(trouble.Name, "-probe") { // whose words are those of a status
					require.Contains(t, strings.ReplaceAll(said, `\"`, `"`), words)
				}
				require.NotEqual(t, "True", kube.ConditionOf(pod, "Ready").Status, said)
				if text(t, pod, "status", "phase") == `"Failed"` {
					return
				}
				require.True(t, w.Do(Action{Do: "mend"}))
				require.NoError(t, w.Play())
				pod = w.Get(ref("v1", "Pod", "p"))
				require.Contains(t, []string{`"Running"`, `"Succeeded"`}, text(t, pod, "status", "phase"))
				require.Equal(t, policy == "Always", kube.ConditionOf(pod, "Ready").Status == "True")
			})
		}
	}
}

// requireWhole wants each container of a Pod to have one state, and restarts to be counted with their end.
func requireWhole(t *testing.T, pod *corev1.Pod, restarts map[int32]bool, waits map[string]bool) {
	for _, s := range append(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses...) {
		states := 0
		for _, is := range []bool{s.State.Running != nil, s.State.Waiting != nil, s.State.Terminated != nil} {
			if is {
				states++
			}
		}
		require.Equal(t, 1, states, s)
		require.Equal(t, s.RestartCount > 0, s.RestartCount > 0 && s.LastTerminationState.Terminated != nil, s)
		restarts[s.RestartCount] = true
		if s.State.Waiting != nil {
			waits[s.State.Waiting.Reason] = true
		}
	}
}

// TestContainerRunsAndWaitsInTurn holds the times against the kubelet's: at once, then ten seconds, doubled.
func TestContainerRunsAndWaitsInTurn(t *testing.T) {
	w := New(Options{Actions: []Action{{Do: Fail, Target: "Pod/p", Detail: "oom"}}})
	apply(t, w, `{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: web, image: "x:1"}]}}`)
	var states []string
	var ended time.Time
	w.Watch(func(c Write) {
		pod := apiserver.Typed[corev1.Pod](w.server, c.Ref)
		if pod == nil || len(pod.Status.ContainerStatuses) == 0 {
			return
		}
		switch s := pod.Status.ContainerStatuses[0]; {
		case s.State.Terminated != nil:
			ended = w.Now()
			states = append(states, "ended "+s.State.Terminated.Reason)
		case s.State.Waiting != nil:
			ended = w.Now()
			require.Equal(t, "OOMKilled", s.LastTerminationState.Terminated.Reason)
			states = append(states, strings.Join(strings.Fields(s.State.Waiting.Message)[:2], " "))
		case s.Ready:
			states = append(states, "ready")
		case !ended.IsZero():
			states = append(states, "again after "+w.Now().Sub(ended).String())
		}
	}, nil, nil)
	require.NoError(t, w.Play())
	require.Equal(t, []string{
		"ready", "ended OOMKilled",
		"again after 1s", "ready", "back-off 10s", "again after 10s", "ready", "back-off 20s", "again after 20s", "ready", "back-off 40s",
		"again after 40s", "ready", "back-off 1m20s", "again after 1m20s", "ready", "back-off 2m40s", "again after 2m40s", "ready", "back-off 5m0s",
	}, states)
}

// TestTroubleThatCannotHappen is told with the reason.
func TestTroubleThatCannotHappen(t *testing.T) {
	for cause, want := range map[string]string{
		"init": "it has no init container", "sidecar": "it has no native sidecar", "startup-probe": "no container has a startup probe",
	} {
		w := New(Options{Actions: []Action{{Do: Fail, Target: "Pod/p", Detail: cause}}})
		apply(t, w, `{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: web, image: "x:1"}]}}`)
		require.NoError(t, w.Play())
		require.Equal(t, "fail Pod/p "+cause+": Pod/p: "+want, w.InVain()[0].String())
	}
	w := New(Options{Actions: []Action{{At: 9, Do: Fail, Target: "Pod/p", Detail: "pull"}}})
	apply(t, w, `{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: web, image: "x:1"}]}}`)
	require.NoError(t, w.Play())
	require.Equal(t, "fail Pod/p@9 pull: Pod/p: its containers have started", w.InVain()[0].String())
}

// TestGatedPodIsNotScheduled until its gates are gone.
func TestGatedPodIsNotScheduled(t *testing.T) {
	w := New(Options{})
	apply(t, w, `{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {schedulingGates: [{name: example.com/queue}], containers: [{name: web, image: "x:1"}]}}`)
	require.NoError(t, w.Play())
	scheduled := kube.ConditionOf(w.Get(ref("v1", "Pod", "p")), "PodScheduled")
	require.Equal(t, "False SchedulingGated Scheduling is blocked due to non-empty scheduling gates", scheduled.Status+" "+scheduled.Reason+" "+scheduled.Message)
	require.True(t, w.Do(Action{Do: "edit", Target: "Pod/p", Detail: `{"spec":{"schedulingGates":null}}`}))
	require.NoError(t, w.Play())
	require.Equal(t, "True", kube.ConditionOf(w.Get(ref("v1", "Pod", "p")), "Ready").Status)
}

// TestLostNode keeps its Pods until it comes back: not ready after a while, terminating later, never gone.
func TestLostNode(t *testing.T) {
	w := plain(t, statefulSets, statefulSet(map[string]any{"replicas": 1}), Action{Do: LoseNode, Target: "StatefulSet/db"})
	pod := w.Get(ref("v1", "Pod", "db-0"))
	require.NotNil(t, pod.GetDeletionTimestamp())
	ready, target := kube.ConditionOf(pod, "Ready"), kube.ConditionOf(pod, "DisruptionTarget")
	require.Equal(t, "False", ready.Status)
	require.Empty(t, ready.Reason)
	require.Equal(t, "DeletionByTaintManager", target.Reason)
	require.Equal(t, 5*time.Minute, target.Since.Sub(ready.Since))
	require.True(t, w.Do(Action{Do: "mend"}))
	require.NoError(t, w.Play())
	again := w.Get(ref("v1", "Pod", "db-0"))
	require.NotEqual(t, pod.GetUID(), again.GetUID())
	require.Equal(t, "True", kube.ConditionOf(again, "Ready").Status)
}
