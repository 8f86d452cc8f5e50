package hooks_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks/myjob"
	"github.com/operetta-dev/operetta/internal/testenv"
	"github.com/operetta-dev/operetta/operettatest"
)

// lostStatuses is how many syncs a MyJob has at most, and one.
const lostStatuses = 7

// TestPodRunsOnceWhateverStatusIsLost loses the status of each sync, and of all
// from the first to it: the Pod is created once, and its end is told.
func TestPodRunsOnceWhateverStatusIsLost(t *testing.T) {
	if !testenv.Selected("myjob") {
		t.Skip("it is about MyJob")
	}
	for _, test := range []struct {
		spec, result string
		fail         []string
		children     int
	}{
		{"", "Succeeded", nil, 1},
		{"ttlSecondsAfterFinished: 0, ", "Succeeded", nil, 0},
		{"ttlSecondsAfterFinished: 1, ", "Succeeded", nil, 0},
		{"ttlSecondsAfterFinished: 0, ", "Failed", []string{"Pod/pi"}, 0},
	} {
		for _, serverSide := range []bool{false, true} {
			for last := range lostStatuses {
				for _, first := range []int{1, last} {
					t.Run(fmt.Sprint(test.spec, test.result, " ", serverSide, " ", first, "-", last), func(t *testing.T) {
						world := operettatest.NewWorld(t, operettatest.Options{
							ServerSideApply: serverSide, Fail: test.fail,
							Around: func(direct operettatest.Call) operettatest.Call { return operettatest.LoseStatus(direct, first, last) },
						}, myjob.Controller())
						world.Apply(`{apiVersion: myjob.github.com/v1beta1, kind: MyJob, metadata: {name: pi},
							spec: {` + test.spec + `template: {spec: {containers: [{name: pi, image: perl}]}}}}`)
						world.Play()
						require.Equal(t, []string{"pi"}, world.Created("Pod"))
						require.Equal(t, test.result, world.MustGet("MyJob/pi").Object["status"].(map[string]any)["result"])
						require.Len(t, world.Children(), test.children)
					})
				}
			}
		}
	}
}
