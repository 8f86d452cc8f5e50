package build_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/hooks/build"
	"github.com/operetta-dev/operetta/operettatest"
)

// story is a Build in a world, told step by step.
type story struct {
	*testing.T

	world *operettatest.World
}

func tell(t *testing.T, options operettatest.Options) *story {
	return &story{t, operettatest.NewWorld(t, options, build.Controller())}
}

// want applies a Build of a revision, with further fields.
func (s *story) want(revision string, fields ...string) {
	s.Helper()
	s.world.Apply(fmt.Sprintf(`{apiVersion: ci.zt.vapi.cc/v1, kind: Build, metadata: {name: shop}, spec: {
		image: golang, script: make, source: {git: {url: "https://git.example.com/shop", revision: %s}}%s}}`,
		revision, strings.Join(append([]string{""}, fields...), ", ")))
}

// until plays step by step until something holds, and never sees more than so
// many builds at once.
func (s *story) until(most int, holds func() bool) {
	s.Helper()
	s.world.Until("the story goes on", func() bool {
		require.LessOrEqual(s, len(s.building()), most, "too many builds at once")
		return holds()
	})
}

// building returns the revisions of which a Pod has not ended, be it on its way
// out.
func (s *story) building() []string {
	var revisions []string
	for _, pod := range s.world.Objects("Pod") {
		if phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase"); phase != "Succeeded" && phase != "Failed" {
			revisions = append(revisions, pod.GetAnnotations()["ci.zt.vapi.cc/revision"])
		}
	}
	return revisions
}

func (s *story) isBuilding(revision string) func() bool {
	return func() bool { return slices.Contains(s.building(), revision) }
}

// jobs returns the revisions of the Jobs that are there.
func (s *story) jobs() []string {
	var revisions []string
	for _, job := range s.world.Objects("Job") {
		revisions = append(revisions, job.GetAnnotations()["ci.zt.vapi.cc/revision"])
	}
	slices.Sort(revisions)
	return revisions
}

// history returns what the status tells, as in "v2 Succeeded", the newest first.
func (s *story) history() []string {
	list, _, err := unstructured.NestedSlice(s.parent().Object, "status", "history")
	require.NoError(s, err)
	var results []string
	for _, entry := range list {
		result := entry.(map[string]any)
		results = append(results, fmt.Sprint(result["revision"], " ", result["result"]))
	}
	return results
}

func (s *story) parent() operettatest.Object { return s.world.MustGet("Build/shop") }

func (s *story) requireReady(want string) {
	s.Helper()
	s.world.RequireCondition("Build/shop", "Ready", want)
}

// jobOf returns the Job of a revision, as in Job/shop-0123456789, as a world without
// faults makes it.
func jobOf(t *testing.T, revision string) string {
	s := tell(t, operettatest.Options{})
	s.want(revision)
	s.world.Play()
	return "Job/" + s.world.Names("Job")[0]
}

// hold keeps the Pods of a revision running.
func hold(t *testing.T, revision string) operettatest.Options {
	return operettatest.Options{Hold: []string{jobOf(t, revision)}}
}

func TestReplaceNeverBuildsTwoAtOnce(t *testing.T) {
	s := tell(t, hold(t, "v1"))
	s.want("v1")
	s.until(1, s.isBuilding("v1"))
	for range 5 {
		s.world.Step()
	}
	require.Equal(t, []string{"v1"}, s.building(), "it is held")
	s.want("v2")
	s.until(1, s.isBuilding("v2"))
	s.world.Play()
	s.requireReady("True Succeeded")
	require.Equal(t, []string{"v2"}, s.jobs())
	require.Equal(t, []string{"v2 Succeeded"}, s.history())
}

func TestReplaceRightAfterAsking(t *testing.T) {
	s := tell(t, operettatest.Options{})
	s.want("v1")
	s.world.Step()
	s.want("v2")
	s.until(1, s.isBuilding("v2"))
	s.world.Play()
	require.Equal(t, []string{"v2 Succeeded"}, s.history())
}

func TestForbidRunsTheNewestWhenTheOldOneHasEnded(t *testing.T) {
	s := tell(t, hold(t, "v1"))
	s.want("v1", "concurrencyPolicy: Forbid", "timeoutSeconds: 60")
	s.until(1, s.isBuilding("v1"))
	s.want("v2", "concurrencyPolicy: Forbid")
	for range 5 {
		s.world.Step()
	}
	s.requireReady("False Waiting")
	require.Equal(t, []string{"v1"}, s.building())
	s.want("v3", "concurrencyPolicy: Forbid")
	s.until(1, s.isBuilding("v3"))
	s.world.Play()
	s.requireReady("True Succeeded")
	require.Equal(t, []string{"v3 Succeeded", "v1 Failed"}, s.history(), "v2 is skipped, and v1 ran into its timeout")
}

func TestAllowBuildsBoth(t *testing.T) {
	s := tell(t, hold(t, "v1"))
	s.want("v1", "concurrencyPolicy: Allow")
	s.until(2, s.isBuilding("v1"))
	s.want("v2", "concurrencyPolicy: Allow")
	s.until(2, func() bool { return len(s.building()) == 2 })
	s.world.Play()
	s.requireReady("True Succeeded")
	require.Equal(t, []string{"v1", "v2"}, s.jobs())
	require.Equal(t, []string{"v2 Succeeded"}, s.history())
}

func TestThereAndBackAndOnceMore(t *testing.T) {
	s := tell(t, operettatest.Options{})
	s.want("v1")
	s.world.Play()
	s.want("v2")
	s.world.Play()
	require.Equal(t, []string{"v2 Succeeded", "v1 Succeeded"}, s.history())
	s.want("v1")
	s.world.Play()
	s.requireReady("True AlreadyBuilt")
	require.Equal(t, []string{"v1", "v2"}, s.jobs())
	s.want("v1", "runId: again")
	s.world.Play()
	s.requireReady("True Succeeded")
	require.Equal(t, []string{"v1", "v1", "v2"}, s.jobs())
	require.Equal(t, []string{"v1 Succeeded", "v2 Succeeded", "v1 Succeeded"}, s.history())
}

func TestFinishedBuildThatIsCleanedUpDoesNotRunAgain(t *testing.T) {
	for _, limit := range []string{"historyLimit: 3", "historyLimit: 0"} {
		s := tell(t, operettatest.Options{})
		s.want("v1", limit)
		s.world.Play()
		for _, job := range s.world.Objects("Job") {
			s.world.Delete("Job/" + job.GetName())
		}
		s.world.Play()
		require.Empty(t, s.jobs())
		require.Empty(t, s.world.Objects("Pod"))
		s.requireReady("True Succeeded")
	}
}

func TestJobThatIsDeletedWhileItRunsIsMadeAgain(t *testing.T) {
	s := tell(t, operettatest.Options{})
	s.want("v1")
	s.until(1, s.isBuilding("v1"))
	first := s.world.Objects("Job")[0]
	s.world.Delete("Job/" + first.GetName())
	s.until(1, func() bool {
		jobs := s.world.Objects("Job")
		return len(jobs) == 1 && jobs[0].GetUID() != first.GetUID()
	})
	s.world.Play()
	s.requireReady("True Succeeded")
}

func TestHistoryIsTrimmed(t *testing.T) {
	s := tell(t, operettatest.Options{})
	for i := range 14 {
		s.want(fmt.Sprintf("v%d", i), "historyLimit: 2")
		s.world.Play()
	}
	require.Equal(t, []string{"v12", "v13"}, s.jobs())
	require.Len(t, s.history(), 10)
	require.Equal(t, "v13 Succeeded", s.history()[0])
	s.want("v5", "historyLimit: 2")
	s.world.Play()
	s.requireReady("True AlreadyBuilt")
	s.want("v0", "historyLimit: 2")
	s.world.Play()
	require.Equal(t, "v0 Succeeded", s.history()[0], "what is forgotten is built again")
}

func TestFailureNamesTheStep(t *testing.T) {
	s := tell(t, operettatest.Options{Fail: []string{jobOf(t, "v1")}})
	s.want("v1")
	s.world.Play()
	s.requireReady("False Failed")
	require.Equal(t, "True", s.world.Condition("Build/shop", "Stalled").Status)
	require.Contains(t, s.world.Condition("Build/shop", "Ready").Message, "step build failed with exit code 1")
	s.want("v2")
	s.world.Play()
	s.requireReady("True Succeeded")
}

func TestSuspendCancelsForGood(t *testing.T) {
	for _, policy := range []string{"Replace", "Forbid", "Allow"} {
		s := tell(t, hold(t, "v1"))
		fields := []string{"concurrencyPolicy: " + policy}
		s.want("v1", fields...)
		s.until(1, s.isBuilding("v1"))
		for range 5 {
			s.world.Step()
		}
		s.want("v1", append(fields, "suspend: true")...)
		s.until(1, func() bool { return len(s.jobs()) == 0 })
		require.Equal(t, []string{"v1 Canceled"}, s.history(), "before the Job goes")
		s.world.Play()
		s.requireReady("False Canceled")
		require.Equal(t, "True", s.world.Condition("Build/shop", "Stalled").Status)
		require.Empty(t, s.world.Objects("Pod"))
		s.want("v1", fields...)
		s.world.Play()
		require.Empty(t, s.jobs(), "suspend has canceled it for good")
		s.want("v2", append(fields, "suspend: true")...)
		s.world.Play()
		s.requireReady("False Suspended")
		require.Empty(t, s.jobs())
		s.want("v2", fields...)
		s.world.Play()
		s.requireReady("True Succeeded")
		require.Equal(t, []string{"v2 Succeeded", "v1 Canceled"}, s.history())
	}
}

func TestSuspendAsItIsAskedFor(t *testing.T) {
	for steps := range 8 { // from before the Job is observed to after it has ended
		s := tell(t, operettatest.Options{})
		s.want("v1")
		for range steps {
			s.world.Step()
		}
		s.want("v1", "suspend: true")
		s.world.Play()
		require.Empty(t, s.building())
		s.want("v1", "runId: again")
		s.until(1, func() bool { return s.history() != nil && s.history()[0] == "v1 Succeeded" && len(s.building()) == 0 })
		s.world.Play()
		s.requireReady("True Succeeded")
	}
}

func TestSuspendHoldsBack(t *testing.T) {
	s := tell(t, operettatest.Options{})
	s.want("v1", "suspend: true")
	s.world.Play()
	s.requireReady("False Suspended")
	require.Empty(t, s.jobs())
	s.want("v1")
	s.world.Play()
	s.requireReady("True Succeeded")
	s.want("v1", "suspend: true")
	s.world.Play()
	s.requireReady("True Succeeded")
}

// TestDisruptedBuildIsTriedAgain, but not one whose tests fail; and a pause is no Job that can make no Pod.
func TestDisruptedBuildIsTriedAgain(t *testing.T) {
	const fields = "retryDisruptions: true"
	var job string
	for _, disruption := range []string{"evict %s", "evict %s preempted", "drain %s"} {
		s := tell(t, operettatest.Options{})
		s.want("v1", fields)
		reason := func() string { return s.world.Condition("Build/shop", "Ready").Reason }
		s.until(1, s.isBuilding("v1"))
		job = "Job/" + s.world.Names("Job")[0]
		s.world.Do("hold " + job)
		for range 4 {
			s.until(1, func() bool {
				require.NotEqual(t, "ChildBlocked", reason(), disruption)
				return reason() == "Running" && len(s.building()) == 1
			})
			s.world.Do(fmt.Sprintf(disruption, job))
			s.until(1, func() bool { return len(s.building()) == 0 })
		}
		s.world.Do("mend")
		s.world.Play()
		require.Equal(t, []string{"v1 Succeeded"}, s.history(), disruption)
	}
	s := tell(t, operettatest.Options{Fail: []string{job}})
	s.want("v1", fields)
	s.world.Play()
	require.Equal(t, []string{"v1 Failed"}, s.history())
	require.Len(t, s.world.Objects("Pod"), 1)
}

// TestJobInAQueueIsWaitedFor: Kueue suspends a Job with its label as it is created, and lets it begin later.
func TestJobInAQueueIsWaitedFor(t *testing.T) {
	s := tell(t, operettatest.Options{})
	s.want("v1", "jobMetadata: {labels: {kueue.x-k8s.io/queue-name: ci}}")
	s.until(0, func() bool { return len(s.world.Names("Job")) > 0 })
	job := "Job/" + s.world.Names("Job")[0]
	require.Equal(t, "ci", s.world.MustGet(job).GetLabels()["kueue.x-k8s.io/queue-name"])
	s.world.Edit(job, `{"spec": {"suspend": true}}`)
	s.world.Play()
	require.Empty(t, s.world.Objects("Pod"))
	s.world.RequireCondition("Build/shop", "Ready", "False Waiting")
	s.world.RequireCondition("Build/shop", "Degraded", "False AsExpected")
	s.world.Edit(job, `{"spec": {"suspend": false}}`)
	s.world.Play()
	require.Equal(t, []string{"v1 Succeeded"}, s.history())
}
