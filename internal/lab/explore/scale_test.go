package explore

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/metacontroller"
)

// scaled returns an operator with a Deployment that an autoscaler of its own scales, and the
// number of replicas that its hook asks for.
func scaled(replicas func(*toy) *int32) metacontroller.Controller {
	return toys(`{"type":"string","enum":["x:1","x:2"]}`, `{"type":"object"}`, func(parent *toy) []metacontroller.Object {
		labels := map[string]string{"toy": parent.Name}
		deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: parent.Name}}
		deployment.Spec.Replicas = replicas(parent)
		deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
		deployment.Spec.Template.Labels = labels
		deployment.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main", Image: parent.Spec.Image}}
		autoscaler := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Name: parent.Name}}
		autoscaler.Spec.MinReplicas, autoscaler.Spec.MaxReplicas = new(int32(2)), 5
		autoscaler.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: parent.Name}
		return []metacontroller.Object{deployment, autoscaler}
	}, metacontroller.Child{Resource: metacontroller.Deployment, Update: metacontroller.InPlace},
		metacontroller.Child{Resource: metacontroller.HorizontalPodAutoscaler, Update: metacontroller.InPlace})
}

// TestScalingBelowAnAutoscalerIsFound, and a hook that leaves the number to it breaks no law, even
// if it has set one before.
func TestScalingBelowAnAutoscalerIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		replicas func(*toy) *int32
		law      string
	}{
		"a constant": {func(*toy) *int32 { return new(int32(1)) }, lawScaled},
		"a constant after an edit": {func(parent *toy) *int32 {
			if parent.Generation > 1 {
				return new(int32(1))
			}
			return nil
		}, lawScaled},
		"none": {func(*toy) *int32 { return nil }, ""},
		"none any more": {func(parent *toy) *int32 {
			if parent.Generation > 1 {
				return nil
			}
			return new(int32(2))
		}, ""},
	} {
		for _, apply := range []player.Strategy{player.DynamicApply, player.ServerSideApply} {
			t.Run(name+"/"+string(apply), func(t *testing.T) {
				s := toyScenario(apply, scaled(c.replicas), `{"image":"x:1"}`)
				broken := firstBroken(t, s, 15)
				if c.law == "" {
					require.Nil(t, broken)
					return
				}
				require.NotNil(t, broken)
				require.Equal(t, c.law, broken.Law, broken.Detail)
			})
		}
	}
}
