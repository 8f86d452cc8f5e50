package myjob_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/hooks/myjob"
	"github.com/operetta-dev/operetta/internal/simulate"
	"github.com/operetta-dev/operetta/metacontroller"
)

// lostStatuses is how many syncs a MyJob has at most, and one.
const lostStatuses = 7

// TestPodRunsOnceWhateverStatusIsLost loses the status of each sync, and of all
// from the first to it: the Pod is created once, and its end is told.
func TestPodRunsOnceWhateverStatusIsLost(t *testing.T) {
	for _, test := range []struct {
		spec, result string
		faults       []simulate.Fault
		children     int
	}{
		{"", "Succeeded", nil, 1},
		{"ttlSecondsAfterFinished: 0, ", "Succeeded", nil, 0},
		{"ttlSecondsAfterFinished: 1, ", "Succeeded", nil, 0},
		{"ttlSecondsAfterFinished: 0, ", "Failed", []simulate.Fault{{What: simulate.Fail, Kind: "Pod", Name: "pi"}}, 0},
	} {
		for _, apply := range []simulate.Strategy{simulate.DynamicApply, simulate.ServerSideApply} {
			for last := range lostStatuses {
				for _, first := range []int{1, last} {
					t.Run(fmt.Sprint(test.spec, test.result, " ", apply, " ", first, "-", last), func(t *testing.T) {
						world := simulate.New(simulate.Options{
							Controllers: controllers(), Call: simulate.LoseStatus(simulate.Direct(controllers()...), first, last), Apply: apply, Faults: test.faults,
						})
						text, err := yaml.YAMLToJSON([]byte(`{apiVersion: myjob.github.com/v1beta1, kind: MyJob, metadata: {name: pi},
							spec: {` + test.spec + `template: {spec: {containers: [{name: pi, image: perl}]}}}}`))
						require.NoError(t, err)
						require.NoError(t, world.Apply(text))
						require.NoError(t, world.Play())

						created := 0
						for _, step := range world.Steps {
							for _, event := range step.Events {
								if event.Verb == simulate.Created && event.Object.GetKind() == "Pod" {
									created++
								}
							}
						}
						require.Equal(t, 1, created)
						require.Len(t, world.Outcomes(), 1)
						outcome := world.Outcomes()[0]
						require.Empty(t, outcome.Failure)
						require.Equal(t, test.result, outcome.Parent.Object["status"].(map[string]any)["result"])
						require.Equal(t, test.children, outcome.Children)
					})
				}
			}
		}
	}
}

func controllers() []metacontroller.Controller {
	return []metacontroller.Controller{myjob.Controller()}
}
