package explore

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/metacontroller"
)

// TestEditsAreFound: the first that breaks a law, in the order of the fields, however many
// processors play them.
func TestEditsAreFound(t *testing.T) {
	const images = `{"type":"string","enum":["x:1","x:2","x:3","x:4","x:5"]}`
	for name, c := range map[string]struct {
		breaks  func(*toy) bool
		played  int
		created map[string]any
	}{
		"none":             {func(*toy) bool { return false }, 14, nil},
		"one that is new":  {func(parent *toy) bool { return parent.Spec.Image > "x:2" }, 3, map[string]any{"spec": map[string]any{"image": "x:3"}}},
		"one that is live": {func(parent *toy) bool { return parent.Spec.Image > "x:3" && parent.Generation > 1 }, 6, nil},
	} {
		for _, apply := range []player.Strategy{player.DynamicApply, player.ServerSideApply} {
			t.Run(name+"/"+string(apply), func(t *testing.T) {
				controller := toys(images, `{"type":"object"}`, func(parent *toy) []metacontroller.Object {
					config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: parent.Name}}
					if c.breaks(parent) {
						return []metacontroller.Object{config, config}
					}
					return []metacontroller.Object{config}
				}, metacontroller.Child{Resource: metacontroller.ConfigMap, Update: metacontroller.InPlace})
				for range 5 {
					s := toyScenario(apply, controller, `{"image":"x:1"}`)
					require.NoError(t, s.prepare(t.Context()))
					findings, played := s.findByEdits(t.Context())
					require.Equal(t, c.played, played)
					if name == "none" {
						require.Empty(t, findings)
						continue
					}
					require.Len(t, findings, 1)
					require.Equal(t, lawAnswers, findings[0].Law, findings[0].Detail)
					require.Equal(t, c.created, findings[0].Created)
					require.Equal(t, c.created == nil, len(findings[0].Schedule) > 0)
				}
			})
		}
	}
}
