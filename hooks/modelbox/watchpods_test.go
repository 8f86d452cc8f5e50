package modelbox_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks/modelbox"
	"github.com/operetta-dev/operetta/operettatest"
)

// TestWatchPods: a ModelBox whose image does not exist says so while it has never been Ready, unless
// nobody reads its Pods. One that was Ready for half an hour says why it crashes at once or, where
// only those that are not Ready select Pods, when Metacontroller asks for the rules once more.
func TestWatchPods(t *testing.T) {
	const (
		box     = "{apiVersion: model.github.com/v1, kind: ModelBox, metadata: {name: web}, spec: {image: nginx, replicas: 1}}"
		command = "; to see why: kubectl operetta why modelbox/web -n default"
		cause   = "is waiting: "
	)
	for policy, says := range map[string]struct{ created, crashed string }{
		`{"watchPods": "Always"}`:        {cause, cause},
		`{"watchPods": "WhileNotReady"}`: {cause, command},
		`{"watchPods": "Never"}`:         {command, command},
	} {
		t.Run(policy, func(t *testing.T) {
			controller, err := modelbox.Controller().WithPolicy([]byte(policy))
			require.NoError(t, err)
			world := operettatest.NewWorld(t, operettatest.Options{MaxSteps: 1000}, controller)
			message := func() string { return world.Condition("ModelBox/web", "Ready").Message }
			fail := func() {
				world.Until("the Deployment exists", func() bool { return world.Get("Deployment/web") != nil })
				world.Do("fail Deployment/web")
				for range 20 {
					world.Step()
				}
			}

			world.Apply(box)
			fail()
			require.Contains(t, message(), says.created)
			world.Do("mend Deployment/web")
			world.Play()
			world.RequireCondition("ModelBox/web", "Ready", "True Available")

			world.Do("wait 30m")
			world.Do("sync ModelBox/web") // Metacontroller asks for the rules of what is Ready
			world.Play()
			fail()
			require.Contains(t, message(), says.crashed)
			world.Do("wait 20m")
			world.Do("sync ModelBox/web")
			require.Contains(t, message(), says.created)
		})
	}
}
