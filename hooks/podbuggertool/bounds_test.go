package podbuggertool_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks/podbuggertool"
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operettatest"
)

// TestRefusedJobsCostLittle has a quota for Jobs that is used up, and is raised.
func TestRefusedJobsCostLittle(t *testing.T) {
	controller := podbuggertool.Controller()
	var began time.Time
	sums := make([]int, 12)
	counting := func(operettatest.Call) operettatest.Call {
		return func(now time.Time, path string, body []byte) (int, []byte, error) {
			hook := metacontroller.HookName(path[strings.LastIndex(path, "/")+1:])
			answer, err := controller.Call(hook, now, body)
			require.NoError(t, err)
			for _, child := range answer.Children {
				if minute := int(now.Sub(began) / time.Minute); child.Kind == "Job" && !child.Kept && minute < len(sums) {
					sums[minute]++
				}
			}
			return http.StatusOK, answer.Body, nil
		}
	}
	world := operettatest.NewWorld(t, operettatest.Options{Late: true, Around: counting, Simulation: debugging()}, controller)
	for n := range 40 {
		world.Apply(fmt.Sprintf(`{apiVersion: v1, kind: Pod, metadata: {name: web-%d, labels: {app: web}}, spec: {containers: [{name: a, image: a}]}}`, n))
	}
	world.Play()
	began = world.Now()
	world.Do("quota Job")
	world.Apply("{apiVersion: apps.jicki.cn/v1alpha1, kind: PodBuggerTool, metadata: {name: debug}, spec: {selector: {matchLabels: {app: web}}, image: busybox}}")
	for world.Now().Before(began.Add(10 * time.Minute)) {
		if !world.Step() {
			world.Do("wait 10s")
		}
	}
	require.Positive(t, sums[0])
	require.LessOrEqual(t, sums[0], 100, sums)
	for _, sum := range sums[1:] {
		require.LessOrEqual(t, sum, 8, sums)
	}
	require.Equal(t, "ChildBlocked", world.Condition("PodBuggerTool/debug", "Ready").Reason)
	world.Do("mend")
	world.Play()
	world.RequireCondition("PodBuggerTool/debug", "Ready", "True Injected")
}
