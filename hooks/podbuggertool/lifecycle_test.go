package podbuggertool_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/operetta-dev/operetta/hooks/podbuggertool"
	"github.com/operetta-dev/operetta/operettatest"
)

const toolbox = `{selector: {matchLabels: {app: shop}}, image: "busybox:1"}`

func TestPodsComeLaterAndAreReplaced(t *testing.T) {
	stories(t, operettatest.Options{}, func(s story) {
		s.Apply(`{apiVersion: v1, kind: Pod, metadata: {name: going, labels: {app: shop}, finalizers: [example.com/hold]}, spec: {containers: [{name: main, image: "nginx:1"}]}}`)
		s.rests()
		s.Delete("Pod/going") // it stays until its finalizer is removed, and gets no container
		s.tool("toolbox", toolbox)
		s.pod("stranger", "{app: other}")
		s.rests()
		require.Equal(s.t, "0/0", s.status("toolbox").Ready)
		require.Zero(s.t, s.jobsEver())

		s.shop(2)
		s.rests()
		s.ready("toolbox", "2/2")
		require.Len(s.t, s.containers(), 2)
		require.Equal(s.t, 2, s.jobsEver())

		s.shop(3)
		s.rests()
		s.ready("toolbox", "3/3")
		require.Equal(s.t, 3, s.jobsEver(), "those that have it get no Job again")

		replaced, _, _ := strings.Cut(s.containers()[0], ":")
		s.Delete("Pod/" + replaced)
		s.rests()
		s.ready("toolbox", "3/3")
		require.Equal(s.t, 4, s.jobsEver())
		for _, line := range s.containers() {
			require.True(s.t, strings.HasSuffix(line, ": toolbox=busybox:1"), line)
		}
	})
}

func TestContainerIsWhatIsAskedFor(t *testing.T) {
	stories(t, operettatest.Options{}, func(s story) {
		s.tool("toolbox", `{selector: {matchLabels: {app: shop}}, image: "busybox:1", stdin: true, tty: true, volumeMounts: [{name: data, mountPath: /data}]}`)
		s.pod("other", "{app: shop}")
		s.Apply(`{apiVersion: v1, kind: Pod, metadata: {name: web, labels: {app: shop}}, spec: {
			containers: [{name: main, image: "nginx:1"}], volumes: [{name: data, emptyDir: {}}]}}`)
		s.rests()
		require.Equal(s.t, []string{"web: toolbox=busybox:1"}, s.containers())
		require.Contains(s.t, s.status("toolbox").Pods[0].Message, `kubectl said: The Pod "other" is invalid: spec.ephemeralContainers[0].volumeMounts[0].name: Not found: "data"`)
		var pod corev1.Pod
		s.Decode("Pod/web", &pod)
		container := pod.Spec.EphemeralContainers[0]
		require.True(s.t, container.Stdin && container.TTY)
		require.Equal(s.t, []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}, container.VolumeMounts)
	})
}

func TestTwoBroadToolsDebugEachPodOnceAndNotEachOther(t *testing.T) {
	broad := `{selector: {matchExpressions: [{key: nothing, operator: DoesNotExist}]}, image: "%s"}`
	stories(t, operettatest.Options{}, func(s story) {
		s.tool("toolbox", fmt.Sprintf(broad, "busybox:1"))
		s.tool("tracer", fmt.Sprintf(broad, "tracer:1"))
		s.pod("a", "{}")
		s.pod("b", "{}")
		s.rests()
		s.ready("toolbox", "2/2")
		s.ready("tracer", "2/2")
		require.Equal(s.t, 4, s.jobsEver())
		for _, line := range s.containers() {
			require.Contains(s.t, line, "toolbox=busybox:1")
			require.Contains(s.t, line, "tracer=tracer:1")
			require.Equal(s.t, 2, strings.Count(line, "="))
		}
		require.Len(s.t, s.containers(), 2)
	})
}

func TestFailedJobIsTriedAgainForAnotherRecipeOnly(t *testing.T) {
	job := firstJob(t, story.toolAndPod)
	stories(t, operettatest.Options{Fail: []string{"Job/" + job}}, func(s story) {
		s.toolAndPod()
		s.rests()
		status := s.status("toolbox")
		require.Equal(s.t, []podbuggertool.PodStatus{{
			Name: "web", State: podbuggertool.PodFailed,
			Message: "Job/" + job + " has failed: BackoffLimitExceeded; kubectl said: Error, exit code 1",
		}}, status.Pods)
		require.Equal(s.t, "True", s.Condition("PodBuggerTool/toolbox", "Stalled").Status)

		s.tool("toolbox", `{selector: {matchLabels: {app: shop}}, image: "busybox:1", maxPods: 3}`)
		s.rests()
		require.Equal(s.t, []string{job}, s.Names("Job"), "it is kept, and tried no more")
		require.Equal(s.t, 1, s.jobsEver())

		s.tool("toolbox", `{selector: {matchLabels: {app: shop}}, image: "busybox:1", command: [sleep, infinity]}`)
		s.rests()
		s.ready("toolbox", "1/1")
		require.Equal(s.t, 2, s.jobsEver())
		require.Empty(s.t, s.Condition("PodBuggerTool/toolbox", "Stalled").Status)
	})
}

func TestDeletedJobIsAskedForAgain(t *testing.T) {
	job := firstJob(t, story.toolAndPod)
	stories(t, operettatest.Options{Vanish: []string{"Job/" + job + "@6"}}, func(s story) {
		s.toolAndPod()
		s.rests()
		s.ready("toolbox", "1/1")
		require.Equal(s.t, 2, s.jobsEver())
		require.Equal(s.t, []string{"web: toolbox=busybox:1"}, s.containers())
	})
}

func TestDeletedToolLeavesContainersOnly(t *testing.T) {
	begin := func(s story) {
		s.tool("toolbox", toolbox)
		s.pod("web", "{app: shop}")
		s.pod("web-2", "{app: shop}")
	}
	stories(t, operettatest.Options{Fail: []string{"Job/" + firstJob(t, begin)}}, func(s story) {
		begin(s)
		s.rests()
		require.Len(s.t, s.Names("Job"), 1, "one has failed")
		s.Delete("PodBuggerTool/toolbox")
		s.rests()
		for _, object := range s.Objects("") {
			require.Contains(s.t, []string{"Namespace", "Pod"}, object.GetKind())
		}
		require.Len(s.t, s.Objects("Pod"), 2)
		require.Len(s.t, s.containers(), 1)
		s.tool("toolbox", `{selector: {matchLabels: {app: shop}}, image: "busybox:1", args: [sh]}`)
		s.rests()
		require.Len(s.t, s.containers(), 2)
		require.Equal(s.t, 3, s.jobsEver(), "what another tool of that name has left counts")
	})
}
