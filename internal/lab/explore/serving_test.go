package explore

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/metacontroller"
)

// TestAnEditLeavesNoServiceWithoutAReadyPod: one that selects the Pods of the newest image leads to none
// while they start. Where the Deployment or the spec may have none, that is meant.
func TestAnEditLeavesNoServiceWithoutAReadyPod(t *testing.T) {
	for name, test := range map[string]struct {
		follows, selectsAll bool
		strategy            appsv1.DeploymentStrategyType
		edit                string
		isFound             bool
	}{
		"the newest Pods":                {follows: true, edit: `{"spec":{"image":"b"}}`, isFound: true},
		"the newest Pods, Recreate":      {follows: true, edit: `{"spec":{"image":"b"}}`, strategy: "Recreate"},
		"all Pods":                       {edit: `{"spec":{"image":"b"}}`},
		"all Pods, Recreate":             {edit: `{"spec":{"image":"b"}}`, strategy: "Recreate"},
		"what the spec says, nobody is":  {follows: true, selectsAll: true, edit: `{"spec":{"image":"b"}}`},
		"the newest Pods, and no change": {follows: true, edit: `{"metadata":{"labels":{"a":"b"}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			children := func(parent *toy) []metacontroller.Object {
				selector := map[string]string{"toy": "t"}
				labels, selected := map[string]string{"toy": "t", "image": parent.Spec.Image}, map[string]string{"toy": "t"}
				if test.follows {
					selected["image"] = parent.Spec.Image
				}
				if test.selectsAll && parent.Spec.Image == "b" {
					selected["image"] = "nobody"
				}
				return []metacontroller.Object{
					&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: parent.Name}, Spec: appsv1.DeploymentSpec{
						Selector: &metav1.LabelSelector{MatchLabels: selector}, Strategy: appsv1.DeploymentStrategy{Type: test.strategy},
						Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: parent.Spec.Image}}}},
					}},
					&corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: parent.Name}, Spec: corev1.ServiceSpec{Selector: selected, Ports: []corev1.ServicePort{{Port: 80}}}},
				}
			}
			kinds := []metacontroller.Child{{Resource: metacontroller.Deployment, Update: metacontroller.InPlace}, {Resource: metacontroller.Service, Update: metacontroller.InPlace}}
			s := toyScenario(player.DynamicApply, toys(`{"type":"string"}`, `{"type":"object"}`, children, kinds...), `{"image":"a"}`)
			require.NoError(t, s.prepare(t.Context()))
			run := s.Play(Schedule{{Do: "calm", Target: "60"}, {Do: "edit", Target: "Toy/t", Detail: test.edit}})
			if !test.isFound {
				require.Nil(t, run.Broken)
				return
			}
			require.NotNil(t, run.Broken)
			require.Equal(t, lawServing, run.Broken.Law)
		})
	}
}
