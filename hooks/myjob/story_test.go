package myjob_test

import (
	"testing"

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
