package explore

import (
	"fmt"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/metacontroller"
)

// checkScaled checks that a hook does not lower a number of replicas below the minimum of the
// autoscaler that owns it. What Metacontroller had not heard of, the hook could not know.
func (r *Run) checkScaled(w player.Write) {
	if w.By != "the hook" || w.Before == nil || w.After == nil {
		return
	}
	for _, autoscaler := range autoscalersOf(r.World, w.Ref) {
		_, hasScaled, _ := unstructured.NestedString(autoscaler.Object, "status", "lastScaleTime")
		least, _, _ := unstructured.NestedInt64(autoscaler.Object, "spec", "minReplicas")
		was, now := replicasOf(w.Before), replicasOf(w.After)
		if heard := r.World.Heard(w.Ref); hasScaled && now < least && now < was && heard != nil && replicasOf(heard) == was {
			r.violated(lawScaled, fmt.Sprintf("%s is scaled from %d to %d, and the minReplicas of %s are %d: leave spec.replicas out of the child",
				w.Ref, was, now, kube.RefOf(autoscaler), least))
		}
	}
}

// autoscalersOf returns the autoscalers of an object.
func autoscalersOf(world *player.World, target kube.Ref) (list []kube.Object) {
	for _, object := range world.List(metacontroller.HorizontalPodAutoscaler.APIVersion, metacontroller.HorizontalPodAutoscaler.Kind) {
		if player.TargetOf(object) == target {
			list = append(list, object)
		}
	}
	return list
}

func replicasOf(object kube.Object) int64 {
	replicas, _, _ := unstructured.NestedInt64(object.Object, "spec", "replicas")
	return replicas
}

// measure makes an autoscaler measure more or less than its target, if there is one.
func (c *chance) measure() bool {
	autoscaler := c.pick(func(object kube.Object) bool {
		return kube.RefOf(object).Is(metacontroller.HorizontalPodAutoscaler)
	})
	if autoscaler == nil || c.IntN(2) == 0 {
		return false
	}
	return c.do(player.Action{Do: "metric", Target: autoscaler.GetName(), Detail: []string{"40", "150", "300"}[c.IntN(3)]})
}
