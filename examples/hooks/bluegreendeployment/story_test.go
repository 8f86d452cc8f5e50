package bluegreendeployment_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/operettatest"

	"example.com/metacontroller/examples/hooks/bluegreendeployment"
)

const web = `
apiVersion: ctl.enisoc.com/v1
kind: BlueGreenDeployment
metadata: {name: web}
spec:
  replicas: 2
  minReadySeconds: 5
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "web:1"}]}
  service:
    metadata: {name: front}
    spec: {selector: {app: web}, ports: [{port: 80}]}
`

// images returns the images of the Pods that the Service selects.
func images(t *testing.T, world *operettatest.World) (list []string) {
	t.Helper()
	service := world.MustGet("Service/front")
	color := service.Object["spec"].(map[string]any)["selector"].(map[string]any)["color"]
	for _, pod := range world.Objects("Pod") {
		if pod.GetLabels()["color"] == color && pod.GetDeletionTimestamp() == nil {
			list = append(list, pod.Object["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)["image"].(string))
		}
	}
	return list
}

func image(name string) string {
	return `{spec: {template: {spec: {containers: [{name: main, image: "` + name + `"}]}}}}`
}

// TestARolloutIsNeverSeenHalfDone: the Service selects two Pods of one image at any time.
func TestARolloutIsNeverSeenHalfDone(t *testing.T) {
	for _, serverSide := range []bool{false, true} {
		world := operettatest.NewWorld(t, operettatest.Options{ServerSideApply: serverSide}, bluegreendeployment.Controller())
		world.Apply(web)
		world.Play()
		require.Equal(t, []string{"web:1", "web:1"}, images(t, world))
		for _, next := range []string{"web:2", "web:3", "web:2"} {
			before := images(t, world)
			world.Edit("BlueGreenDeployment/web", image(next))
			world.Until(next+" is Ready", func() bool {
				if selected := images(t, world); selected[0] != next {
					require.Equal(t, before, selected)
				} else {
					require.Equal(t, []string{next, next}, selected)
				}
				return world.Condition("BlueGreenDeployment/web", "Ready").Status == "True" && images(t, world)[0] == next
			})
			world.Play()
			require.Len(t, world.Names("Pod"), 2, "the other color is scaled down")
		}
	}
}

// TestABadTemplateIsNeverSwitchedTo, and is given up for the next one.
func TestABadTemplateIsNeverSwitchedTo(t *testing.T) {
	world := operettatest.NewWorld(t, operettatest.Options{Fail: []string{"Image/web:bad"}}, bluegreendeployment.Controller())
	world.Apply(web)
	world.Play()
	world.Edit("BlueGreenDeployment/web", image("web:bad"))
	require.NoError(t, world.TryPlay())
	world.RequireCondition("BlueGreenDeployment/web", "Ready", "False ReplicasUnavailable")
	require.Equal(t, []string{"web:1", "web:1"}, images(t, world))
	world.Edit("BlueGreenDeployment/web", image("web:2"))
	world.Play()
	world.RequireCondition("BlueGreenDeployment/web", "Ready", "True Available")
	require.Equal(t, []string{"web:2", "web:2"}, images(t, world))
}

// TestANewNameOfTheService keeps the color: the status remembers it.
func TestANewNameOfTheService(t *testing.T) {
	world := operettatest.NewWorld(t, operettatest.Options{}, bluegreendeployment.Controller())
	world.Apply(web)
	world.Play()
	world.Edit("BlueGreenDeployment/web", image("web:2"))
	world.Play()
	world.Edit("BlueGreenDeployment/web", "{spec: {service: {metadata: {name: other}}}}")
	world.Play()
	require.Equal(t, []string{"other"}, world.Names("Service"))
	require.Equal(t, "green", world.MustGet("Service/other").Object["spec"].(map[string]any)["selector"].(map[string]any)["color"])
}
