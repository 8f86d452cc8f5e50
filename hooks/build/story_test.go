package build_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/hooks/build"
	"github.com/operetta-dev/operetta/internal/simulate"
	"github.com/operetta-dev/operetta/metacontroller"
)

// story is a Build in a world, told step by step.
type story struct {
	*testing.T

	world *simulate.World
}

func tell(t *testing.T, faults ...simulate.Fault) *story {
	return &story{t, simulate.New(simulate.Options{
		Controllers: []metacontroller.Controller{build.Controller()},
		Call:        simulate.Direct(build.Controller()),
		Faults:      faults,
	})}
}

// want applies a Build of a revision, with further fields.
func (s *story) want(revision string, fields ...string) {
	s.Helper()
	object, err := yaml.YAMLToJSON(fmt.Appendf(nil, `{apiVersion: ci.zt.vapi.cc/v1, kind: Build, metadata: {name: shop}, spec: {
		image: golang, script: make, source: {git: {url: "https://git.example.com/shop", revision: %s}}%s}}`,
		revision, strings.Join(append([]string{""}, fields...), ", ")))
	require.NoError(s, err)
	require.NoError(s, s.world.Apply(object))
}

// play plays until all is quiet.
func (s *story) play() {
	s.Helper()
	require.NoError(s, s.world.Play())
}

// until plays step by step until something holds, and never sees more than so
// many builds at once.
func (s *story) until(most int, holds func() bool) {
	s.Helper()
	for range 100 {
		s.world.Step()
		require.LessOrEqual(s, len(s.building()), most, "too many builds at once")
		if holds() {
			return
		}
	}
	require.Fail(s, "it never comes to that")
}

// objects returns the objects of a kind.
func (s *story) objects(kind string) []simulate.Object {
	return slices.DeleteFunc(slices.Clone(s.world.Objects()), func(o simulate.Object) bool { return o.GetKind() != kind })
}

// building returns the revisions of which a Pod has not ended, be it on its way
// out.
func (s *story) building() []string {
	var revisions []string
	for _, pod := range s.objects("Pod") {
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
	for _, job := range s.objects("Job") {
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

func (s *story) parent() simulate.Object { return s.objects("Build")[0] }

func (s *story) requireReady(status, reason string) {
	s.Helper()
	ready := simulate.Condition(s.parent(), "Ready")
	require.Equal(s, status+" "+reason, ready.Status+" "+ready.Reason, ready.Message)
}

// hold keeps the Pods of a revision running. The names of the Jobs are known
// from those that a world without the fault makes.
func hold(t *testing.T, revision string) simulate.Fault {
	s := tell(t)
	s.want(revision)
	s.play()
	return simulate.Fault{What: simulate.Hold, Kind: "Job", Name: s.objects("Job")[0].GetName()}
}

func TestReplaceNeverBuildsTwoAtOnce(t *testing.T) {
	s := tell(t, hold(t, "v1"))
	s.want("v1")
	s.until(1, s.isBuilding("v1"))
	s.want("v2")
	s.until(1, s.isBuilding("v2"))
	s.play()
	s.requireReady("True", "Succeeded")
	require.Equal(t, []string{"v2"}, s.jobs())
	require.Equal(t, []string{"v2 Succeeded"}, s.history())
}

func TestReplaceRightAfterAsking(t *testing.T) {
	s := tell(t, hold(t, "v1"))
	s.want("v1")
	s.world.Step()
	s.want("v2")
	s.until(1, s.isBuilding("v2"))
	s.play()
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
	s.requireReady("False", "Waiting")
	require.Equal(t, []string{"v1"}, s.building())
	s.want("v3", "concurrencyPolicy: Forbid")
	s.until(1, s.isBuilding("v3"))
	s.play()
	s.requireReady("True", "Succeeded")
	require.Equal(t, []string{"v3 Succeeded", "v1 Failed"}, s.history(), "v2 is skipped, and v1 ran into its timeout")
}

func TestAllowBuildsBoth(t *testing.T) {
	s := tell(t, hold(t, "v1"))
	s.want("v1", "concurrencyPolicy: Allow")
	s.until(2, s.isBuilding("v1"))
	s.want("v2", "concurrencyPolicy: Allow")
	s.until(2, func() bool { return len(s.building()) == 2 })
	s.play()
	s.requireReady("True", "Succeeded")
	require.Equal(t, []string{"v1", "v2"}, s.jobs())
	require.Equal(t, []string{"v2 Succeeded"}, s.history())
}

func TestThereAndBackAndOnceMore(t *testing.T) {
	s := tell(t)
	s.want("v1")
	s.play()
	s.want("v2")
	s.play()
	require.Equal(t, []string{"v2 Succeeded", "v1 Succeeded"}, s.history())
	s.want("v1")
	s.play()
	s.requireReady("True", "AlreadyBuilt")
	require.Equal(t, []string{"v1", "v2"}, s.jobs())
	s.want("v1", "runId: again")
	s.play()
	s.requireReady("True", "Succeeded")
	require.Equal(t, []string{"v1", "v1", "v2"}, s.jobs())
	require.Equal(t, []string{"v1 Succeeded", "v2 Succeeded", "v1 Succeeded"}, s.history())
}

func TestFinishedBuildThatIsCleanedUpDoesNotRunAgain(t *testing.T) {
	for _, limit := range []string{"historyLimit: 3", "historyLimit: 0"} {
		s := tell(t)
		s.want("v1", limit)
		s.play()
		for _, job := range s.objects("Job") {
			require.NoError(t, s.world.Delete(simulate.RefOf(job)))
		}
		s.play()
		require.Empty(t, s.jobs())
		require.Empty(t, s.objects("Pod"))
		s.requireReady("True", "Succeeded")
	}
}

func TestJobThatIsDeletedWhileItRunsIsMadeAgain(t *testing.T) {
	s := tell(t)
	s.want("v1")
	s.until(1, s.isBuilding("v1"))
	first := s.objects("Job")[0]
	require.NoError(t, s.world.Delete(simulate.RefOf(first)))
	s.until(1, func() bool { jobs := s.objects("Job"); return len(jobs) == 1 && jobs[0].GetUID() != first.GetUID() })
	s.play()
	s.requireReady("True", "Succeeded")
}

func TestHistoryIsTrimmed(t *testing.T) {
	s := tell(t)
	for i := range 14 {
		s.want(fmt.Sprintf("v%d", i), "historyLimit: 2")
		s.play()
	}
	require.Equal(t, []string{"v12", "v13"}, s.jobs())
	require.Len(t, s.history(), 10)
	require.Equal(t, "v13 Succeeded", s.history()[0])
	s.want("v5", "historyLimit: 2")
	s.play()
	s.requireReady("True", "AlreadyBuilt")
	s.want("v0", "historyLimit: 2")
	s.play()
	require.Equal(t, "v0 Succeeded", s.history()[0], "what is forgotten is built again")
}

func TestFailureNamesTheStep(t *testing.T) {
	name := hold(t, "v1").Name
	s := tell(t, simulate.Fault{What: simulate.Fail, Kind: "Job", Name: name})
	s.want("v1")
	s.play()
	s.requireReady("False", "Failed")
	require.Equal(t, "True", simulate.Condition(s.parent(), "Stalled").Status)
	require.Contains(t, simulate.Condition(s.parent(), "Ready").Message, "step build failed with exit code 1")
	s.want("v2")
	s.play()
	s.requireReady("True", "Succeeded")
}
