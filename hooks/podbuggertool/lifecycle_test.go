package podbuggertool_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks/podbuggertool"
	"github.com/operetta-dev/operetta/operettatest"
)

const toolbox = `{selector: {matchLabels: {app: shop}}, image: "busybox:1"}`

func TestPodsComeLaterAndAreReplaced(t *testing.T) {
	stories(t, operettatest.Options{}, func(s story) {
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
			Message: "Job/" + job + " has failed: BackoffLimitExceeded; kubectl said: Error",
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

func TestFailedJobIsTriedAgainForAnotherPodOfThatName(t *testing.T) {
	stories(t, operettatest.Options{Fail: []string{"Job/" + firstJob(t, story.toolAndPod)}}, func(s story) {
		s.toolAndPod()
		s.rests()
		require.Equal(s.t, int32(1), s.status("toolbox").Failed)
		s.Delete("Pod/web")
		s.rests()
		require.Empty(s.t, s.Names("Job"), "the Job goes with its Pod")
		s.pod("web", "{app: shop}")
		s.rests()
		s.ready("toolbox", "1/1")
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

func TestMaxPodsPassOnToTheNextOldest(t *testing.T) {
	stories(t, operettatest.Options{}, func(s story) {
		for _, name := range []string{"c", "a", "b"} {
			s.pod(name, "{app: shop}")
			s.rests()
		}
		s.tool("toolbox", `{selector: {matchLabels: {app: shop}}, image: "busybox:1", maxPods: 1}`)
		s.rests()
		s.ready("toolbox", "1/1")
		require.Equal(s.t, []string{"c: toolbox=busybox:1"}, s.containers(), "the oldest")
		require.Equal(s.t, int32(2), s.status("toolbox").Skipped)

		s.Delete("Pod/c")
		s.rests()
		require.Equal(s.t, []string{"a: toolbox=busybox:1"}, s.containers())

		s.tool("toolbox", `{selector: {matchLabels: {app: shop}}, image: "busybox:1", maxPods: 2}`)
		s.rests()
		s.ready("toolbox", "2/2")
		require.Equal(s.t, []string{"a: toolbox=busybox:1", "b: toolbox=busybox:1"}, s.containers())
	})
}

func TestPodThatFinishesIsLetGo(t *testing.T) {
	stories(t, operettatest.Options{}, func(s story) {
		s.tool("toolbox", toolbox)
		s.rests()
		s.Apply(`{apiVersion: v1, kind: Pod, metadata: {name: batch, labels: {app: shop}}, spec: {restartPolicy: Never, containers: [{name: main, image: "perl:5"}]}}`)
		s.rests()
		require.Len(s.t, s.Created("ServiceAccount"), 1, "it ran, and matched")
		require.Empty(s.t, s.Names("Job"), "and was done before the Job was")
		require.Equal(s.t, int32(0), s.status("toolbox").Matched)
	})
}

func TestCrashingPodKeepsWhatItHas(t *testing.T) {
	stories(t, operettatest.Options{Fail: []string{"Pod/web"}}, func(s story) {
		s.tool("toolbox", toolbox)
		s.pod("web", "{app: shop}")
		s.rests()
		s.ready("toolbox", "1/1")
		require.Equal(s.t, 1, s.jobsEver())
	})
}

func TestLaggingViewOfAPodMakesNoSecondJob(t *testing.T) {
	stories(t, operettatest.Options{}, func(s story) {
		*s.blur = true
		s.tool("toolbox", toolbox)
		s.pod("web", "{app: shop}")
		s.rests() // for longer than any cache lags
		require.Equal(s.t, []string{"web: toolbox=busybox:1"}, s.containers())
		require.Len(s.t, s.Names("Job"), 1, "the Job is kept")
		require.Equal(s.t, int32(1), s.status("toolbox").Failed)
		require.Contains(s.t, s.status("toolbox").Pods[0].Message, "has succeeded, and the Pod does not show the container")

		*s.blur = false
		s.Edit("Pod/web", "{metadata: {annotations: {the: cache has caught up}}}")
		s.rests()
		s.ready("toolbox", "1/1")
		require.Equal(s.t, 1, s.jobsEver())
	})
}

func TestMirrorAndTerminatingPodsAreLeftAlone(t *testing.T) {
	stories(t, operettatest.Options{}, func(s story) {
		s.Apply(`{apiVersion: v1, kind: Pod, metadata: {name: mirror, labels: {app: shop}, annotations: {kubernetes.io/config.mirror: x}}, spec: {containers: [{name: main, image: "nginx:1"}]}}`)
		s.Apply(`{apiVersion: v1, kind: Pod, metadata: {name: going, labels: {app: shop}, finalizers: [example.com/hold]}, spec: {containers: [{name: main, image: "nginx:1"}]}}`)
		s.rests()
		s.Delete("Pod/going")
		s.tool("toolbox", toolbox)
		s.rests()
		require.NotNil(s.t, s.Get("Pod/going"))
		require.Zero(s.t, s.jobsEver())
		require.Equal(s.t, int32(0), s.status("toolbox").Matched)
	})
}

func TestChangedImageReachesNewPodsOnly(t *testing.T) {
	stories(t, operettatest.Options{}, func(s story) {
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
	stories(t, operettatest.Options{}, func(s story) {
		s.tool("toolbox", toolbox)
		s.pod("web", "{app: cart}")
		s.rests()
		require.Zero(s.t, s.jobsEver())
		relabel := func(app string) {
			s.relabel("web", app)
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

// relabel changes the label by which a Pod matches.
func (s story) relabel(name, app string) {
	s.t.Helper()
	s.Edit("Pod/"+name, "{metadata: {labels: {app: "+app+"}}}")
}

// TestPodThatLeavesAndReturnsIsTriedAgain takes a Pod whose Job has failed out of the match and
// back: a Job is kept for a Pod that matches, and nothing remembers another one.
func TestPodThatLeavesAndReturnsIsTriedAgain(t *testing.T) {
	stories(t, operettatest.Options{Fail: []string{"Job/" + firstJob(t, story.toolAndPod)}}, func(s story) {
		s.toolAndPod()
		s.rests()
		require.Equal(s.t, int32(1), s.status("toolbox").Failed)
		s.relabel("web", "other")
		s.rests()
		require.Empty(s.t, s.Names("Job"))
		s.relabel("web", "shop")
		s.rests()
		require.Equal(s.t, 2, s.jobsEver())
		require.Equal(s.t, int32(1), s.status("toolbox").Failed, "it fails again")
	})
}
