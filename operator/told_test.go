package operator

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// told returns a Pod of an age with a status in JSON.
func told(t *testing.T, name string, age time.Duration, status string) Pod {
	t.Helper()
	pod := Pod{PodTimes: PodTimes{CreationTimestamp: metav1.NewTime(noon.Add(-age))}, Status: new(PodStatus)}
	pod.Name, pod.Namespace = name, "n"
	require.NoError(t, json.Unmarshal([]byte(status), pod.Status))
	return pod
}

const (
	rejected = `{"phase":"Failed","reason":"OutOfcpu","message":"Pod was rejected: Node didn't have enough resource: cpu"}`
	pressed  = `{"phase":"Failed","reason":"Evicted","message":"The node was low on resource: memory. ","conditions":[
		{"type":"DisruptionTarget","status":"True","reason":"TerminationByKubelet","message":"The node was low on resource: memory. "}]}`
	ready    = `{"phase":"Running","conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[{"name":"c","ready":true,"started":true,"state":{"running":{}}}]}`
	killedAt = `{"phase":"Running","conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[{"name":"c","ready":true,"started":true,"restartCount":3,
		"state":{"running":{}},"lastState":{"terminated":{"exitCode":137,"reason":"OOMKilled","finishedAt":"2026-06-01T11:55:00Z"}}}]}`
	gated    = `{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"SchedulingGated","message":"Scheduling is blocked due to non-empty scheduling gates"}]}`
	silent   = `{"phase":"Running","conditions":[{"type":"Ready","status":"False"}],"containerStatuses":[{"name":"c","ready":true,"started":true,"state":{"running":{}}}]}`
	creating = `{"phase":"Pending","startTime":"2026-06-01T11:59:00Z","conditions":[{"type":"Ready","status":"False","reason":"ContainersNotReady"}],
		"containerStatuses":[{"name":"c","started":false,"state":{"waiting":{"reason":"ContainerCreating"}}}]}`
	unready = `{"phase":"Running","conditions":[{"type":"Ready","status":"False","reason":"ContainersNotReady","lastTransitionTime":"2026-06-01T11:58:00Z"}],
		"containerStatuses":[{"name":"c","started":true,"state":{"running":{}}}]}`
)

// What people have reported of storage, nodes and networks.
const (
	boot = `{"phase":"Running","conditions":[{"type":"PodReadyToStartContainers","status":"False","lastTransitionTime":"2026-06-01T11:50:00Z"},{"type":"Ready","status":"False","reason":"ContainersNotReady"}],
		"containerStatuses":[{"name":"c","started":false,"restartCount":2,"state":{"terminated":{"exitCode":255,"reason":"Unknown"}}}]}`
	again = `{"phase":"Running","startTime":"2026-06-01T09:00:00Z","conditions":[{"type":"PodReadyToStartContainers","status":"False","lastTransitionTime":"2026-06-01T11:59:00Z"}],
		"containerStatuses":[{"name":"c","started":false,"restartCount":2,"state":{"waiting":{"reason":"ContainerCreating"}}}]}`
	unbegun  = `{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"True","lastTransitionTime":"2026-06-01T11:30:00Z"}]}`
	gateShut = `{"phase":"Running","startTime":"2026-06-01T11:00:00Z","conditions":[{"type":"ContainersReady","status":"True"},{"type":"Ready","status":"False","reason":"ReadinessGatesNotReady",
		"message":"corresponding condition of pod readiness gate \"target-health\" does not exist.","lastTransitionTime":"2026-06-01T11:00:00Z"}],
		"containerStatuses":[{"name":"c","ready":true,"started":true,"state":{"running":{}}}]}`
	proxy = `{"phase":"Pending","startTime":"2026-06-01T11:00:00Z","initContainerStatuses":[{"name":"proxy","started":false,"state":{"running":{}}}],
		"containerStatuses":[{"name":"c","started":false,"state":{"waiting":{"reason":"PodInitializing"}}}]}`
	hook = `{"phase":"Running","containerStatuses":[{"name":"c","started":false,"state":{"waiting":{"reason":"PostStartHookError",
		"message":"Exec lifecycle hook ([sh -c x]) for Container \"c\" in Pod \"a_n(1)\" failed - error: command 'sh -c x' exited with 1: hunter2, message: \"hunter2\""}}}]}`
	evicted = `{"phase":"Failed","reason":"Evicted","message":"The node was low on resource: memory. ","conditions":[{"type":"DisruptionTarget","status":"True",
		"reason":"TerminationByKubelet","message":"The node was low on resource: memory. "}]}`
)

func TestTell(t *testing.T) {
	gone := told(t, "gone", time.Hour, ready)
	gone.Terminating, gone.DeletionTimestamp = true, metav1.NewTime(noon.Add(-time.Minute))
	for name, test := range map[string]struct {
		pods  []Pod
		want  string
		state State
		again time.Duration
	}{
		"nothing of what is ready":      {pods: []Pod{told(t, "a", time.Hour, ready)}},
		"a gate only waits":             {[]Pod{told(t, "a", time.Hour, gated)}, "a: it is not scheduled: SchedulingGated: Scheduling is blocked due to non-empty scheduling gates", Progressing, 0},
		"a node that does not answer":   {[]Pod{told(t, "a", time.Hour, silent)}, "a: it is called not ready without a reason: its node does not answer", Degraded, 0},
		"a rejected Pod":                {[]Pod{told(t, "a", time.Minute, rejected), told(t, "b", 0, gated)}, "a: it has failed: OutOfcpu: Pod was rejected: Node didn't have enough resource: cpu", Degraded, 0},
		"an evicted Pod was replaced":   {[]Pod{told(t, "a", time.Minute, pressed), told(t, "b", 0, gated)}, "b: it is not scheduled: SchedulingGated: Scheduling is blocked due to non-empty scheduling gates", Progressing, 0},
		"one that was replaced":         {[]Pod{told(t, "a", time.Hour, rejected), told(t, "b", 0, gated)}, "b: it is not scheduled: SchedulingGated: Scheduling is blocked due to non-empty scheduling gates", Progressing, 0},
		"the newest, of any age":        {[]Pod{told(t, "a", time.Hour, rejected)}, "a: it has failed: OutOfcpu: Pod was rejected: Node didn't have enough resource: cpu", Degraded, 0},
		"ready again":                   {[]Pod{told(t, "a", time.Hour, killedAt), told(t, "b", 0, ready)}, "a: c runs again; it ended: OOMKilled, exit code 137", Restarted, 5 * time.Minute},
		"a probe, until it takes long":  {[]Pod{told(t, "a", time.Hour, unready)}, "a: c runs, and its readiness probe does not succeed", Progressing, 8 * time.Minute},
		"a volume, perhaps":             {[]Pod{told(t, "a", time.Minute, creating)}, "a: c is waiting: ContainerCreating, since 11:59:00; see kubectl events -n n --for pod/a", Progressing, 9 * time.Minute},
		"one that does not go":          {[]Pod{gone}, "gone: it is terminating, longer than its grace period: if its node is gone, kubectl delete pod -n n gone --force", Degraded, 0},
		"a node that was started again": {[]Pod{told(t, "a", time.Hour, boot)}, "a: c has ended: Unknown, exit code 255, and it has no sandbox, since 11:50:00; see kubectl events -n n --for pod/a", Degraded, 0},
		"a network, again":              {[]Pod{told(t, "a", time.Hour, again)}, "a: c is waiting: ContainerCreating, since 11:59:00; see kubectl events -n n --for pod/a", Progressing, 9 * time.Minute},
		"a kubelet that does nothing":   {[]Pod{told(t, "a", time.Hour, unbegun)}, "a: it has a node, whose kubelet has not taken it up, since 11:30:00; see kubectl events -n n --for pod/a", Degraded, 0},
		"a load balancer's gate":        {[]Pod{told(t, "a", time.Hour, gateShut)}, `a: its phase is Running: corresponding condition of pod readiness gate "target-health" does not exist.`, Degraded, 0},
		"a sidecar's startup probe":     {[]Pod{told(t, "a", time.Hour, proxy)}, "a: proxy runs, and its startup probe has not succeeded yet", Progressing, 0},
		"no word of a hook's program":   {[]Pod{told(t, "a", time.Hour, hook)}, "a: c is waiting: PostStartHookError: exited with 1", Degraded, 0},
		"an eviction's words once":      {[]Pod{told(t, "a", time.Hour, evicted)}, "a: it has failed: Evicted: The node was low on resource: memory.; TerminationByKubelet", Degraded, 0},
		"what goes comes last":          {[]Pod{gone, told(t, "b", time.Hour, unready)}, "b: c runs, and its readiness probe does not succeed", Progressing, 8 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			told := Tell(test.pods, noon)
			if test.want == "" {
				require.Nil(t, told)
				return
			}
			require.Equal(t, test.want, told.Pod+": "+told.Text)
			require.Equal(t, test.state, told.State)
			require.Equal(t, test.again, told.Next())
		})
	}
	require.Nil(t, Tell([]Pod{told(t, "a", time.Hour, killedAt)}, noon.Add(6*time.Minute)), "it is forgotten")
}

// TestTelling: a summary is what the worst of both is, and what is done stays so.
func TestTelling(t *testing.T) {
	done := Summary{State: Done, Reason: "Ready", Message: "2 of 2."}
	again := done.Telling(&Told{Pod: "a", Text: "it ended", State: Restarted, again: time.Minute})
	require.Equal(t, Summary{State: Restarted, Reason: "Ready", Message: "2 of 2; a: it ended", again: time.Minute}, again)
	require.Equal(t, done, done.Telling(&Told{Pod: "a", State: Degraded}))
	require.Equal(t, done, done.Telling(nil))
	waits := Summary{State: Progressing, Reason: "Waits", Message: "1 of 2"}
	require.Equal(t, Summary{State: Degraded, Reason: "Waits", Message: "1 of 2; a: why"}, waits.Telling(&Told{Pod: "a", Text: "why", State: Degraded}))
	require.Equal(t, Summary{State: Degraded, Reason: "Waits", Message: "1 of 2; a: it ended"}, waits.Telling(&Told{Pod: "a", Text: "it ended", State: Restarted}))
}
