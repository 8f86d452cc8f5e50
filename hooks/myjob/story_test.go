package myjob_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks/myjob"
	"github.com/operetta-dev/operetta/operettatest"
)

// TestSuspendDoesNotWaitForSomethingElse: the hook tells in the status why the Pod goes before
// it goes, and nobody but the hook asks for another request then.
func TestSuspendDoesNotWaitForSomethingElse(t *testing.T) {
	world := operettatest.NewWorld(t, operettatest.Options{Hold: []string{"Pod/mig"}}, myjob.Controller())
	apply := func(suspend string) {
		world.Apply("{apiVersion: myjob.github.com/v1beta1, kind: MyJob, metadata: {name: mig}, spec: {suspend: " + suspend +
			", template: {spec: {containers: [{name: main, image: a}]}}}}")
		world.Play()
	}
	apply("false")
	require.Len(t, world.Objects("Pod"), 1)
	apply("true")
	require.Empty(t, world.Objects("Pod"))
	apply("false")
	world.RequireCondition("MyJob/mig", "Complete", "True Completed")
}

func TestDeadlineEndsAProgramThatHangs(t *testing.T) {
	world := operettatest.NewWorld(t, operettatest.Options{Hold: []string{"Pod/mig"}}, myjob.Controller())
	world.Apply("{apiVersion: myjob.github.com/v1beta1, kind: MyJob, metadata: {name: mig}, spec: {activeDeadlineSeconds: 60, backoffLimit: 3, " +
		"template: {spec: {containers: [{name: main, image: a}]}}}}")
	world.Play()
	world.RequireCondition("MyJob/mig", "Failed", "True DeadlineExceeded")
	require.Len(t, world.Objects("Pod"), 1)
}

// TestDeadlineCountsTheWaitForANode: the kubelet counts from the time the Pod came to its node.
func TestDeadlineCountsTheWaitForANode(t *testing.T) {
	world := operettatest.NewWorld(t, operettatest.Options{}, myjob.Controller())
	world.Apply("{apiVersion: myjob.github.com/v1beta1, kind: MyJob, metadata: {name: mig}, spec: {activeDeadlineSeconds: 60, backoffLimit: 3, " +
		"template: {spec: {schedulingGates: [{name: example.com/queue}], containers: [{name: main, image: a}]}}}}")
	world.Play()
	world.RequireCondition("MyJob/mig", "Failed", "True DeadlineExceeded")
	require.Empty(t, world.Objects("Pod"))
}

// TestDisruptedPodIsFollowedByAnother, which does not count, after a pause; and a failure is none.
func TestDisruptedPodIsFollowedByAnother(t *testing.T) {
	const mig = "{apiVersion: myjob.github.com/v1beta1, kind: MyJob, metadata: {name: mig}, spec: {backoffLimit: 0, retryDisruptions: true, " +
		"template: {spec: {containers: [{name: main, image: a}]}}}}"
	for _, disruption := range []string{"evict Pod/%s", "evict Pod/%s preempted", "drain Pod/%s"} {
		world := operettatest.NewWorld(t, operettatest.Options{Hold: []string{"MyJob/mig"}}, myjob.Controller())
		world.Apply(mig)
		for _, pod := range []string{"mig", "mig-attempt-2", "mig-attempt-3"} {
			world.Until(pod+" runs", func() bool {
				status := world.MustGet("MyJob/mig").Object["status"].(map[string]any)
				require.NotEqual(t, "completed", status["phase"], disruption)
				return status["phase"] == "running" && status["podName"] == pod
			})
			world.Do(fmt.Sprintf(disruption, pod))
		}
		before := world.Now()
		world.Do("mend")
		world.Play()
		world.RequireCondition("MyJob/mig", "Complete", "True Completed")
		require.GreaterOrEqual(t, world.Now().Sub(before), 40*time.Second, disruption)
		require.EqualValues(t, 3, world.MustGet("MyJob/mig").Object["status"].(map[string]any)["disrupted"])
	}
	world := operettatest.NewWorld(t, operettatest.Options{Fail: []string{"MyJob/mig"}}, myjob.Controller())
	world.Apply(mig)
	world.Play()
	world.RequireCondition("MyJob/mig", "Failed", "True Error")
	require.Len(t, world.Objects("Pod"), 1)
}
