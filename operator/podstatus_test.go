package operator_test

import (
	"fmt"
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
		"{phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, message: 0/3 nodes}]}": "it is not scheduled: Unschedulable",
		"{phase: Pending, initContainerStatuses: [{name: clone, state: {waiting: {reason: ErrImagePull}}}]}":               "clone is waiting: ErrImagePull",
		"{phase: Running, containerStatuses: [{name: a, state: {}}, {name: b, state: {waiting: {reason: Crash}}}]}":        "b is waiting: Crash",
	} {
		require.Equal(t, want, status(t, text).Activity())
	}
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
