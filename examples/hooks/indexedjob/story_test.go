package indexedjob_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/operettatest"

	"example.com/metacontroller/examples/hooks/indexedjob"
)

const count = `
apiVersion: ctl.enisoc.com/v1
kind: IndexedJob
metadata: {name: count}
spec:
  completions: 5
  parallelism: 2
  template:
    spec: {restartPolicy: Never, containers: [{name: main, image: "busybox:1.37"}]}
`

// TestEachIndexRunsOnce, two at a time.
func TestEachIndexRunsOnce(t *testing.T) {
	world := operettatest.NewWorld(t, operettatest.Options{}, indexedjob.Controller())
	world.Apply(count)
	world.Until("the job is complete", func() bool {
		active := 0
		for _, pod := range world.Objects("Pod") {
			if phase := pod.Object["status"].(map[string]any)["phase"]; phase != "Succeeded" {
				active++
			}
		}
		require.LessOrEqual(t, active, 2)
		return world.Condition("IndexedJob/count", "Complete").Status == "True"
	})
	require.Equal(t, []string{"count-0", "count-1", "count-2", "count-3", "count-4"}, world.Names("Pod"))
	world.Delete("Pod/count-3")
	world.Edit("IndexedJob/count", "{spec: {completions: 9}}")
	world.Play()
	require.Len(t, world.Names("Pod"), 4, "a complete job makes no Pod")
	world.RequireCondition("IndexedJob/count", "Ready", "True Complete")
}

// TestAFailedPodIsRunAgainOnceItIsDeleted by hand.
func TestAFailedPodIsRunAgainOnceItIsDeleted(t *testing.T) {
	world := operettatest.NewWorld(t, operettatest.Options{Fail: []string{"Pod/count-1"}}, indexedjob.Controller())
	world.Apply(count)
	world.Play()
	world.RequireCondition("IndexedJob/count", "Ready", "False PodFailed")
	world.RequireCondition("IndexedJob/count", "Stalled", "True PodFailed")
	world.Do("mend")
	world.Delete("Pod/count-1")
	world.Play()
	world.RequireCondition("IndexedJob/count", "Ready", "True Complete")
}
