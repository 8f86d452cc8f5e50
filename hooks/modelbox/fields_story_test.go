package modelbox_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/operetta-dev/operetta/operettatest"
)

// TestStrategyComesAndGoes changes the strategy, which the API server refuses with what belongs to
// another.
func TestStrategyComesAndGoes(t *testing.T) {
	stories(t, func(t *testing.T, world *operettatest.World) {
		const box = "{apiVersion: model.github.com/v1, kind: ModelBox, metadata: {name: web}, spec: {image: nginx, replicas: 2"
		zero, one, share := intstr.FromInt32(0), intstr.FromInt32(1), intstr.FromString("25%")
		for fields, want := range map[string]appsv1.DeploymentStrategy{
			", strategy: Recreate": {Type: appsv1.RecreateDeploymentStrategyType},
			", maxSurge: 0, maxUnavailable: 1": {Type: appsv1.RollingUpdateDeploymentStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &zero, MaxUnavailable: &one}},
			"": {Type: appsv1.RollingUpdateDeploymentStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &share, MaxUnavailable: &share}},
		} {
			world.Apply(box + fields + "}}")
			world.Play()
			world.RequireCondition("ModelBox/web", "Ready", "True Available")
			var deployment appsv1.Deployment
			world.Decode("Deployment/web", &deployment)
			require.Equal(t, want, deployment.Spec.Strategy)
		}
	})
}

// TestServicesComeAndGo gives the Service another name, which takes its node port along, and a
// further one that becomes headless under another name.
func TestServicesComeAndGo(t *testing.T) {
	stories(t, func(t *testing.T, world *operettatest.World) {
		const box = "{apiVersion: model.github.com/v1, kind: ModelBox, metadata: {name: web}, spec: {image: nginx, replicas: 1, ports: [{port: 80, nodePort: 30010}]"
		for _, step := range []struct {
			fields string
			want   []string
		}{
			{"", []string{"web"}},
			{", service: {name: front}", []string{"front"}},
			{", service: {sessionAffinity: ClientIP, sessionAffinityConfig: {clientIP: {timeoutSeconds: 5}}}, services: [{name: more, ports: [{port: 81}]}]", []string{"more", "web"}},
			{", services: [{name: headless, serviceType: Headless, ports: [{port: 81}]}]", []string{"headless", "web"}},
			{", serviceType: None, services: [{name: headless, serviceType: Headless, ports: [{port: 81}]}]", []string{"headless"}},
		} {
			fields := step.fields
			if step.want[len(step.want)-1] == "headless" { // a node port needs a Service
				world.Apply("{apiVersion: model.github.com/v1, kind: ModelBox, metadata: {name: web}, spec: {image: nginx, replicas: 1, ports: [{port: 80}]" + fields + "}}")
			} else {
				world.Apply(box + fields + "}}")
			}
			world.Play()
			world.RequireCondition("ModelBox/web", "Ready", "True Available")
			for _, name := range []string{"web", "front", "more", "headless"} {
				require.Equal(t, slices.Contains(step.want, name), world.Get("Service/"+name) != nil, "%s: %s", fields, name)
			}
		}
		require.Nil(t, world.Get("Service/web"))
		var service corev1.Service
		world.Decode("Service/headless", &service)
		require.Equal(t, corev1.ClusterIPNone, service.Spec.ClusterIP)
	})
}

// TestPausedHoldsAnUpdateBack pauses, changes the image, and goes on.
func TestPausedHoldsAnUpdateBack(t *testing.T) {
	stories(t, func(t *testing.T, world *operettatest.World) {
		const box = "{apiVersion: model.github.com/v1, kind: ModelBox, metadata: {name: web}, spec: {replicas: 1, image: "
		world.Apply(box + "nginx}}")
		world.Play()
		world.Apply(box + "nginx:2, paused: true}}")
		world.Play()
		world.RequireCondition("ModelBox/web", "Ready", "False DeploymentPaused")
		require.Equal(t, "0 of 1 replicas are updated; set spec.paused to false to go on", world.Condition("ModelBox/web", "Ready").Message)
		world.Apply(box + "nginx:2}}")
		world.Play()
		world.RequireCondition("ModelBox/web", "Ready", "True Available")
	})
}
