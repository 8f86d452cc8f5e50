package operator_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/operator"
)

func status(t *testing.T, text string) *operator.PodStatus {
	var status operator.PodStatus
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), &status))
	return &status
}

func TestActivity(t *testing.T) {
	for text, want := range map[string]string{
		"{}":               "its phase is Pending",
		"{phase: Running}": "its phase is Running",
		"{phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, message: '0/3 nodes are available: 3 Insufficient nvidia.com/gpu.'}]}":     "it is not scheduled: Unschedulable: 0/3 nodes are available: 3 Insufficient nvidia.com/gpu.",
		"{phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: SchedulingGated}]}":                                                                       "it is not scheduled: SchedulingGated",
		"{phase: Running, conditions: [{type: Ready, status: 'False', message: 'containers with unready status: [a]'}], containerStatuses: [{name: a, state: {running: {}}}]}": "its phase is Running: containers with unready status: [a]",
		"{phase: Unknown, reason: NodeLost, message: Node n1 is unresponsive}":                                                                                                 "its phase is Unknown: NodeLost: Node n1 is unresponsive",

		// Containers that wait.
		"{phase: Pending, initContainerStatuses: [{name: clone, state: {waiting: {reason: ErrImagePull, message: 'x/y:1: not found'}}}]}":                                                              "clone is waiting: ErrImagePull: x/y:1: not found",
		"{phase: Running, containerStatuses: [{name: a, state: {}}, {name: b, state: {waiting: {reason: Crash}}}]}":                                                                                    "b is waiting: Crash",
		"{containerStatuses: [{name: a, state: {waiting: {reason: ContainerCreating}}}, {name: b, state: {waiting: {reason: CreateContainerConfigError, message: 'secret \"s\" not found'}}}]}":        `b is waiting: CreateContainerConfigError: secret "s" not found`,
		"{containerStatuses: [{name: a, state: {waiting: {reason: ContainerCreating}}}, {name: b, state: {running: {}}}]}":                                                                             "a is waiting: ContainerCreating",
		"{containerStatuses: [{name: a, state: {waiting: {reason: A}}}, {name: b, state: {waiting: {reason: B, message: B}}}]}":                                                                        "a is waiting: A; b is waiting: B",
		"{containerStatuses: [{name: a, state: {waiting: {reason: CrashLoopBackOff, message: back-off 10s}}}]}":                                                                                        "a is waiting: CrashLoopBackOff",
		"{containerStatuses: [{name: a, state: {waiting: {reason: CrashLoopBackOff, message: back-off 10s}}, lastState: {terminated: {exitCode: 2, reason: Error, message: secret of the program}}}]}": "a is waiting: CrashLoopBackOff, after it ended: Error, exit code 2",
		"{containerStatuses: [{name: a, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 128, reason: StartError, message: exec format error}}}]}":                     "a is waiting: CrashLoopBackOff, after it ended: StartError, exit code 128: exec format error",

		// Init containers.
		"{phase: Pending, initContainerStatuses: [{name: prep, state: {terminated: {exitCode: 0, reason: OOMKilled}}}], containerStatuses: [{name: main, state: {waiting: {reason: PodInitializing}}}]}":                                                                "prep has ended: OOMKilled, exit code 0",
		"{phase: Pending, initContainerStatuses: [{name: proxy, state: {running: {}}}, {name: wait, state: {running: {}}}, {name: last, state: {waiting: {reason: PodInitializing}}}], containerStatuses: [{name: main, state: {waiting: {reason: PodInitializing}}}]}": "init container wait is running",
		"{phase: Pending, initContainerStatuses: [{name: proxy, state: {running: {}}}], containerStatuses: [{name: main, state: {waiting: {reason: ContainerCreating}}}]}":                                                                                              "main is waiting: ContainerCreating",
		"{phase: Running, initContainerStatuses: [{name: proxy, state: {running: {}}}], containerStatuses: [{name: main, state: {running: {}}}]}":                                                                                                                       "its phase is Running",

		// Containers that run and are not ready.
		"{phase: Running, containerStatuses: [{name: a, started: false, state: {running: {}}}]}":                                                                                "a runs, and its startup probe has not succeeded yet",
		"{phase: Running, containerStatuses: [{name: a, started: true, state: {running: {}}}]}":                                                                                 "a runs, and its readiness probe does not succeed",
		"{phase: Running, containerStatuses: [{name: a, started: true, ready: true, state: {running: {}}}]}":                                                                    "its phase is Running",
		"{phase: Running, containerStatuses: [{name: a, restartCount: 12, started: false, state: {running: {}}, lastState: {terminated: {exitCode: 137, reason: OOMKilled}}}]}": "a runs again after 12 restarts; it ended: OOMKilled, exit code 137",
		"{phase: Running, containerStatuses: [{name: a, restartCount: 1, state: {running: {}}, lastState: {terminated: {exitCode: 0, reason: Completed}}}]}":                    "a runs again after a restart; it ended: Completed, exit code 0",
		"{phase: Pending, initContainerStatuses: [{name: get, restartCount: 2, state: {running: {}}, lastState: {terminated: {exitCode: 1, reason: Error}}}]}":                  "get runs again after 2 restarts; it ended: Error, exit code 1",

		// Containers that have ended while others go on.
		"{phase: Running, containerStatuses: [{name: main, state: {terminated: {exitCode: 0, reason: Completed}}}, {name: istio-proxy, state: {running: {}}}]}": "main has completed; istio-proxy is still running",
		"{phase: Running, containerStatuses: [{name: main, state: {terminated: {exitCode: 1}}}, {name: other, state: {waiting: {reason: ErrImagePull}}}]}":      "main has ended: Error, exit code 1; other is waiting: ErrImagePull",
	} {
		require.Equal(t, want, status(t, text).Activity(), text)
	}
	long := status(t, "{conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, message: "+strings.Repeat("x", 10_000)+"}]}")
	require.Less(t, len(long.Activity()), 400)
}

// TestTheCauseIsQuoted: it stands at the end of what the kubelet says, and before what the scheduler says
// of preemption. The sentences are those of containerd and of the scheduler.
func TestTheCauseIsQuoted(t *testing.T) {
	image := `"us-central1-docker.pkg.dev/acme-ml-platform-prod/model-serving/sentiment-analysis-server@sha256:5b0bcabd1ed22e9fb1310cf6c2dec7cdef19f0ad69efa1f392e94a4333501270"`
	require.Equal(t, `Back-off pulling image `+image[:77]+` ... abd1ed22e9fb1310cf6c2dec7cdef19f0ad69efa1f392e94a4333501270": ErrImagePull: failed to pull and unpack image "...": failed to resolve reference "...": unexpected status from HEAD request: 403 Forbidden`,
		operator.Quoted("Back-off pulling image "+image+": ErrImagePull: failed to pull and unpack image "+image+": failed to resolve reference "+image+": unexpected status from HEAD request: 403 Forbidden"))
	nodes := "0/14 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 3 Insufficient nvidia.com/gpu, 4 node(s) didn't match Pod's node affinity/selector, 6 node(s) had untolerated taint {workload: batch}."
	require.Equal(t, nodes, operator.Quoted(nodes+" preemption: 0/14 nodes are available: 11 Preemption is not helpful for scheduling, 3 No preemption victims found for incoming pod."))
	require.Equal(t, `exceeded quota: "a"`, operator.Quoted(`exceeded quota: "a"`))
}

func TestIsStuck(t *testing.T) {
	for text, want := range map[string]bool{
		"{}": false,
		"{conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable}]}":                                         true,
		"{containerStatuses: [{name: a, state: {waiting: {reason: ContainerCreating}}}]}":                                      false,
		"{initContainerStatuses: [{name: a, state: {running: {}}}]}":                                                           false,
		"{containerStatuses: [{name: a, state: {waiting: {reason: ImagePullBackOff}}}]}":                                       true,
		"{containerStatuses: [{name: a, state: {terminated: {exitCode: 0}}}, {name: b, state: {running: {}}}]}":                true,
		"{phase: Running, containerStatuses: [{name: a, state: {running: {}}}], conditions: [{type: Ready, status: 'False'}]}": false,
		"{containerStatuses: [{name: a, started: false, state: {running: {}}}]}":                                               false,
		"{containerStatuses: [{name: a, state: {running: {}}, lastState: {terminated: {exitCode: 1}}}]}":                       true,
	} {
		require.Equal(t, want, status(t, text).IsStuck(), text)
	}
}

func TestFailure(t *testing.T) {
	for text, want := range map[string]string{
		"{}": "",
		"{reason: Evicted, message: 'The node was low on resource: memory.'}": "Evicted: The node was low on resource: memory.",
		"{message: 'Pod was rejected'}":                                       "Pod was rejected",
		"{containerStatuses: [{name: a, state: {terminated: {exitCode: 3, message: of the program}}}], conditions: [{type: DisruptionTarget, status: 'True', reason: PreemptionByScheduler, message: preempting}]}": "PreemptionByScheduler: preempting; a has ended: Error, exit code 3",
	} {
		require.Equal(t, want, status(t, text).Failure(), text)
	}
}

func TestDisruption(t *testing.T) {
	require.Equal(t, "PreemptionByScheduler", status(t, "{conditions: [{type: DisruptionTarget, status: 'True', reason: PreemptionByScheduler}]}").Disruption())
	require.Empty(t, status(t, "{conditions: [{type: DisruptionTarget, status: 'False', reason: PreemptionByScheduler}]}").Disruption())
	require.Empty(t, status(t, "{}").Disruption())
}

func TestHowAPodEnded(t *testing.T) {
	ended := status(t, `
phase: Failed
initContainerStatuses:
- {name: clone, state: {terminated: {exitCode: 0, finishedAt: "2026-01-01T10:00:00Z"}}}
containerStatuses:
- {name: build, state: {terminated: {exitCode: 2, reason: Error, finishedAt: "2026-01-01T10:05:00Z"}}}
- {name: side, state: {terminated: {exitCode: 137, finishedAt: "2026-01-01T10:04:00Z"}}}
`)
	require.True(t, ended.IsDone())
	require.Equal(t, "build", ended.Failed().Name)
	require.Equal(t, "2026-01-01T10:05:00Z", ended.Finished().UTC().Format("2006-01-02T15:04:05Z07:00"))

	running := status(t, "{phase: Running, conditions: [{type: Ready, status: 'True'}]}")
	require.False(t, running.IsDone())
	require.True(t, running.IsReady())
	require.Nil(t, running.Failed())
	finished := running.Finished()
	require.True(t, finished.IsZero())
	require.False(t, status(t, "{conditions: [{type: Ready, status: 'False'}]}").IsReady())
}

func TestSidecarsFailLast(t *testing.T) {
	var spec operator.PodSpec
	require.NoError(t, yaml.Unmarshal([]byte("initContainers: [{name: proxy, restartPolicy: Always}, {name: prepare}]"), &spec))
	require.Equal(t, []string{"proxy"}, spec.Sidecars())
	ended := func(name string, code int) string {
		return fmt.Sprintf("{name: %s, state: {terminated: {exitCode: %d}}}", name, code)
	}
	for text, want := range map[string]string{
		"{initContainerStatuses: [" + ended("proxy", 137) + "], containerStatuses: [" + ended("main", 3) + "]}":                              "main",
		"{initContainerStatuses: [" + ended("proxy", 137) + ", " + ended("prepare", 4) + "], containerStatuses: [{name: main, state: {}}]}":  "prepare",
		"{initContainerStatuses: [" + ended("proxy", 137) + ", " + ended("prepare", 0) + "], containerStatuses: [" + ended("main", 0) + "]}": "proxy",
	} {
		require.Equal(t, want, status(t, text).Failed(spec.Sidecars()...).Name)
	}
}

func TestWindowsHasNoSeccomp(t *testing.T) {
	spec := corev1.PodSpec{OS: &corev1.PodOS{Name: corev1.Windows}}
	require.Nil(t, operator.UsersSecurityContext(&spec))
	spec.SecurityContext = &corev1.PodSecurityContext{RunAsNonRoot: new(true)}
	require.Equal(t, spec.SecurityContext, operator.UsersSecurityContext(&spec))
	spec.OS.Name = corev1.Linux
	require.Equal(t, corev1.SeccompProfileTypeRuntimeDefault, operator.UsersSecurityContext(&spec).SeccompProfile.Type)
	require.True(t, *operator.UsersSecurityContext(&spec).RunAsNonRoot)
}
