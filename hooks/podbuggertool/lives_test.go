package podbuggertool_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks/podbuggertool"
	"github.com/operetta-dev/operetta/internal/simulate"
)

const toolbox = `{selector: {matchLabels: {app: shop}}, image: "busybox:1"}`

func TestPodsComeLaterAndAreReplaced(t *testing.T) {
	stories(t, func(s story) {
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
		require.NoError(s.t, s.Delete(ref("v1", "Pod", replaced)))
		s.rests()
		s.ready("toolbox", "3/3")
		require.Equal(s.t, 4, s.jobsEver())
		for _, line := range s.containers() {
			require.True(s.t, strings.HasSuffix(line, ": toolbox=busybox:1"), line)
		}
	})
}

func TestTwoBroadToolsDebugEachPodOnceAndNotEachOther(t *testing.T) {
	broad := `{selector: {matchExpressions: [{key: nothing, operator: DoesNotExist}]}, image: "%s"}`
	stories(t, func(s story) {
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
	begin := story.toolAndPod
	job := firstJob(t, begin)
	stories(t, func(s story) {
		begin(s)
		s.rests()
		status := s.status("toolbox")
		require.Equal(s.t, []podbuggertool.PodStatus{{
			Name: "web", State: podbuggertool.PodFailed,
			Message: "Job/" + job + " has failed: BackoffLimitExceeded; kubectl said: Error",
		}}, status.Pods)
		require.Equal(s.t, "True", simulate.Condition(s.Get(ref("apps.jicki.cn/v1alpha1", "PodBuggerTool", "toolbox")), "Stalled").Status)

		s.tool("toolbox", `{selector: {matchLabels: {app: shop}}, image: "busybox:1", maxPods: 3}`)
		s.rests()
		require.Equal(s.t, []string{job}, s.jobs(), "it is kept, and tried no more")
		require.Equal(s.t, 1, s.jobsEver())

		s.tool("toolbox", `{selector: {matchLabels: {app: shop}}, image: "busybox:1", command: [sleep, infinity]}`)
		s.rests()
		s.ready("toolbox", "1/1")
		require.Equal(s.t, 2, s.jobsEver())
		require.Empty(s.t, simulate.Condition(s.Get(ref("apps.jicki.cn/v1alpha1", "PodBuggerTool", "toolbox")), "Stalled").Status)
	}, simulate.Fault{What: simulate.Fail, Kind: "Job", Name: job})
}

func TestFailedJobIsTriedAgainForAnotherPodOfThatName(t *testing.T) {
	begin := story.toolAndPod
	stories(t, func(s story) {
		begin(s)
		s.rests()
		require.Equal(s.t, int32(1), s.status("toolbox").Failed)
		require.NoError(s.t, s.Delete(ref("v1", "Pod", "web")))
		s.rests()
		require.Empty(s.t, s.jobs(), "the Job goes with its Pod")
		s.pod("web", "{app: shop}")
		s.rests()
		s.ready("toolbox", "1/1")
	}, simulate.Fault{What: simulate.Fail, Kind: "Job", Name: firstJob(t, begin)})
}

func TestDeletedJobIsAskedForAgain(t *testing.T) {
	begin := story.toolAndPod
	job := firstJob(t, begin)
	stories(t, func(s story) {
		begin(s)
		s.rests()
		require.Empty(s.t, s.UnmetFaults())
		s.ready("toolbox", "1/1")
		require.Equal(s.t, 2, s.jobsEver())
		require.Equal(s.t, []string{"web: toolbox=busybox:1"}, s.containers())
	}, simulate.Fault{What: simulate.Vanish, Kind: "Job", Name: job, Step: 6})
}

func TestMaxPodsPassOnToTheNextOldest(t *testing.T) {
	stories(t, func(s story) {
		for _, name := range []string{"c", "a", "b"} {
			s.pod(name, "{app: shop}")
			s.rests()
		}
		s.tool("toolbox", `{selector: {matchLabels: {app: shop}}, image: "busybox:1", maxPods: 1}`)
		s.rests()
		s.ready("toolbox", "1/1")
		require.Equal(s.t, []string{"c: toolbox=busybox:1"}, s.containers(), "the oldest")
		require.Equal(s.t, int32(2), s.status("toolbox").Skipped)

		require.NoError(s.t, s.Delete(ref("v1", "Pod", "c")))
		s.rests()
		require.Equal(s.t, []string{"a: toolbox=busybox:1"}, s.containers())

		s.tool("toolbox", `{selector: {matchLabels: {app: shop}}, image: "busybox:1", maxPods: 2}`)
		s.rests()
		s.ready("toolbox", "2/2")
		require.Equal(s.t, []string{"a: toolbox=busybox:1", "b: toolbox=busybox:1"}, s.containers())
	})
}

func TestPodThatFinishesIsLetGo(t *testing.T) {
	stories(t, func(s story) {
		s.tool("toolbox", toolbox)
		s.rests()
		s.apply(`{apiVersion: v1, kind: Pod, metadata: {name: batch, labels: {app: shop}}, spec: {restartPolicy: Never, containers: [{name: main, image: "perl:5"}]}}`)
		s.rests()
		require.Equal(s.t, 1, s.ever("ServiceAccount"), "it ran, and matched")
		require.Empty(s.t, s.jobs(), "and was done before the Job was")
		require.Equal(s.t, int32(0), s.status("toolbox").Matched)
	})
}

func TestCrashingPodKeepsWhatItHas(t *testing.T) {
	stories(t, func(s story) {
		s.tool("toolbox", toolbox)
		s.pod("web", "{app: shop}")
		s.rests()
		s.ready("toolbox", "1/1")
		require.Equal(s.t, 1, s.jobsEver())
	}, simulate.Fault{What: simulate.Fail, Kind: "Pod", Name: "web"})
}

func TestLaggingViewOfAPodMakesNoSecondJob(t *testing.T) {
	stories(t, func(s story) {
		*s.blur = true
		s.tool("toolbox", toolbox)
		s.pod("web", "{app: shop}")
		s.rests() // for longer than any cache lags
		require.Equal(s.t, []string{"web: toolbox=busybox:1"}, s.containers())
		require.Len(s.t, s.jobs(), 1, "the Job is kept")
		require.Equal(s.t, int32(1), s.status("toolbox").Failed)
		require.Contains(s.t, s.status("toolbox").Pods[0].Message, "has succeeded, and the Pod does not show the container")

		*s.blur = false
		pod := s.Get(ref("v1", "Pod", "web")).DeepCopy()
		pod.SetAnnotations(map[string]string{"the": "cache has caught up"})
		raw, err := pod.MarshalJSON()
		require.NoError(s.t, err)
		require.NoError(s.t, s.Apply(raw))
		s.rests()
		s.ready("toolbox", "1/1")
		require.Equal(s.t, 1, s.jobsEver())
	})
}

func TestMirrorAndTerminatingPodsAreLeftAlone(t *testing.T) {
	stories(t, func(s story) {
		s.apply(`{apiVersion: v1, kind: Pod, metadata: {name: mirror, labels: {app: shop}, annotations: {kubernetes.io/config.mirror: x}}, spec: {containers: [{name: main, image: "nginx:1"}]}}`)
		s.apply(`{apiVersion: v1, kind: Pod, metadata: {name: going, labels: {app: shop}, finalizers: [example.com/hold]}, spec: {containers: [{name: main, image: "nginx:1"}]}}`)
		s.rests()
		require.NoError(s.t, s.Delete(ref("v1", "Pod", "going")))
		s.tool("toolbox", toolbox)
		s.rests()
		require.NotNil(s.t, s.Get(ref("v1", "Pod", "going")))
		require.Zero(s.t, s.jobsEver())
		require.Equal(s.t, int32(0), s.status("toolbox").Matched)
	})
}

func TestChangedImageReachesNewPodsOnly(t *testing.T) {
	stories(t, func(s story) {
		s.tool("toolbox", toolbox)
		s.pod("old", "{app: shop}")
		s.rests()
		s.tool("toolbox", `{selector: {matchLabels: {app: shop}}, image: "busybox:2"}`)
		s.rests()
		require.Equal(s.t, int32(1), s.status("toolbox").Outdated)
		s.pod("young", "{app: shop}")
		s.rests()
		require.Equal(s.t, []string{"old: toolbox=busybox:1", "young: toolbox=busybox:2"}, s.containers())
		status := s.status("toolbox")
		require.Equal(s.t, []int32{2, 2, 1}, []int32{status.Matched, status.Injected, status.Outdated})
		require.Equal(s.t, 2, s.jobsEver())
	})
}

func TestLabelsDecide(t *testing.T) {
	stories(t, func(s story) {
		s.tool("toolbox", toolbox)
		s.pod("web", "{app: cart}")
		s.rests()
		require.Zero(s.t, s.jobsEver())
		relabel := func(app string) {
			pod := s.Get(ref("v1", "Pod", "web")).DeepCopy()
			pod.SetLabels(map[string]string{"app": app})
			raw, err := pod.MarshalJSON()
			require.NoError(s.t, err)
			require.NoError(s.t, s.Apply(raw))
			s.rests()
		}
		relabel("shop")
		s.ready("toolbox", "1/1")
		relabel("cart")
		require.Equal(s.t, int32(0), s.status("toolbox").Matched)
		require.Equal(s.t, []string{"web: toolbox=busybox:1"}, s.containers(), "it stays")
		relabel("shop")
		s.ready("toolbox", "1/1")
		require.Equal(s.t, 1, s.jobsEver(), "and is found again")
	})
}

func TestDeletedToolLeavesContainersOnly(t *testing.T) {
	begin := func(s story) {
		s.tool("toolbox", toolbox)
		s.pod("web", "{app: shop}")
		s.pod("web-2", "{app: shop}")
	}
	stories(t, func(s story) {
		begin(s)
		s.rests()
		require.Len(s.t, s.jobs(), 1, "one has failed")
		s.DeleteParents()
		s.rests()
		for _, object := range s.Objects() {
			require.Contains(s.t, []string{"Namespace", "Pod"}, object.GetKind())
		}
		require.Len(s.t, s.kind("Pod"), 2)
		require.Len(s.t, s.containers(), 1)
		s.tool("toolbox", `{selector: {matchLabels: {app: shop}}, image: "busybox:1", args: [sh]}`)
		s.rests()
		require.Len(s.t, s.containers(), 2)
		require.Equal(s.t, 3, s.jobsEver(), "what another tool of that name has left counts")
	}, simulate.Fault{What: simulate.Fail, Kind: "Job", Name: firstJob(t, begin)})
}
