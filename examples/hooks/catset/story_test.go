package catset_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/operettatest"

	"example.com/metacontroller/examples/hooks/catset"
)

const cats = `
apiVersion: ctl.enisoc.com/v1
kind: CatSet
metadata: {name: cat}
spec:
  serviceName: cats
  replicas: 3
  template:
    metadata: {labels: {app: cat}}
    spec: {containers: [{name: main, image: "cat:1", volumeMounts: [{name: data, mountPath: /data}]}]}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`

// changes plays to rest, and returns the names of the Pods each time that they change.
func changes(t *testing.T, world *operettatest.World) (list [][]string) {
	t.Helper()
	last := world.Names("Pod")
	for world.Step() {
		if names := world.Names("Pod"); len(names) != len(last) {
			list, last = append(list, names), names
		}
	}
	world.Play()
	return list
}

// TestPodsComeAndGoInOrder, and their claims stay until the CatSet goes.
func TestPodsComeAndGoInOrder(t *testing.T) {
	world := operettatest.NewWorld(t, operettatest.Options{}, catset.Controller())
	world.Apply(cats)
	require.Equal(t, [][]string{{"cat-0"}, {"cat-0", "cat-1"}, {"cat-0", "cat-1", "cat-2"}}, changes(t, world))
	world.Edit("CatSet/cat", "{spec: {replicas: 1}}")
	require.Equal(t, [][]string{{"cat-0", "cat-1"}, {"cat-0"}}, changes(t, world))
	require.Equal(t, []string{"data-cat-0", "data-cat-1", "data-cat-2"}, world.Names("PersistentVolumeClaim"))
	world.Edit("CatSet/cat", "{spec: {replicas: 2}}")
	require.Equal(t, [][]string{{"cat-0", "cat-1"}}, changes(t, world))
	world.Delete("CatSet/cat")
	require.Equal(t, [][]string{{"cat-0"}, nil}, changes(t, world))
	world.RequireGone()
}

// TestARollGoesFromTheEnd and stops at a Pod that does not become ready, until the template is
// mended.
func TestARollGoesFromTheEnd(t *testing.T) {
	world := operettatest.NewWorld(t, operettatest.Options{Fail: []string{"Image/cat:bad"}}, catset.Controller())
	world.Apply(cats)
	world.Play()
	image := func(name string) string {
		return `{spec: {template: {spec: {containers: [{name: main, image: "` + name + `", volumeMounts: [{name: data, mountPath: /data}]}]}}}}`
	}
	images := func() (list []string) {
		for _, pod := range world.Objects("Pod") {
			list = append(list, pod.Object["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)["image"].(string))
		}
		return list
	}
	world.Edit("CatSet/cat", image("cat:bad"))
	world.Play()
	world.RequireCondition("CatSet/cat", "Ready", "False Starting")
	require.Equal(t, []string{"cat:1", "cat:1", "cat:bad"}, images())
	world.Edit("CatSet/cat", image("cat:2"))
	world.Play()
	world.RequireCondition("CatSet/cat", "Ready", "True Ready")
	require.Equal(t, []string{"cat:2", "cat:2", "cat:2"}, images())
}
