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

// TestPortsAndLabelsComeAndGo names, renames and moves container ports, and labels the Deployment.
func TestPortsAndLabelsComeAndGo(t *testing.T) {
	stories(t, func(t *testing.T, world *operettatest.World) {
		for _, step := range []struct {
			fields string
			ports  []corev1.ContainerPort
			target intstr.IntOrString
			tier   string
		}{
			{"ports: [{port: 80, targetPort: 8080}]", []corev1.ContainerPort{{ContainerPort: 8080, Protocol: "TCP"}}, intstr.FromInt32(8080), ""},
			{"ports: [{name: http, port: 80, targetPort: web}], containerPorts: [{name: web, containerPort: 8080}], deployment: {labels: {tier: front}, annotations: {example.com/a: b}}",
				[]corev1.ContainerPort{{Name: "web", ContainerPort: 8080, Protocol: "TCP"}}, intstr.FromString("web"), "front"},
			{"ports: [{name: http, port: 80, targetPort: web}], containerPorts: [{name: other, containerPort: 8080}, {name: web, containerPort: 3000}], deployment: {labels: {tier: back}}",
				[]corev1.ContainerPort{{Name: "other", ContainerPort: 8080, Protocol: "TCP"}, {Name: "web", ContainerPort: 3000, Protocol: "TCP"}}, intstr.FromString("web"), "back"},
			{"ports: [{name: http, port: 80, targetPort: 3000}]", []corev1.ContainerPort{{Name: "http", ContainerPort: 3000, Protocol: "TCP"}}, intstr.FromInt32(3000), ""},
		} {
			world.Apply("{apiVersion: model.github.com/v1, kind: ModelBox, metadata: {name: web}, spec: {image: nginx, replicas: 1, " + step.fields + "}}")
			world.Play()
			world.RequireCondition("ModelBox/web", "Ready", "True Available")
			var deployment appsv1.Deployment
			world.Decode("Deployment/web", &deployment)
			require.Equal(t, step.ports, deployment.Spec.Template.Spec.Containers[0].Ports)
			require.Equal(t, step.tier, deployment.Labels["tier"])
			require.Equal(t, step.tier == "front", deployment.Annotations["example.com/a"] == "b")
			var service corev1.Service
			world.Decode("Service/web", &service)
			require.Equal(t, step.target, service.Spec.Ports[0].TargetPort)
		}
	})
}

// TestRolloutRestart does what kubectl rollout restart does. Its annotation is not ours, so it stays, and
// an update of the ModelBox later leaves it there, too.
func TestRolloutRestart(t *testing.T) {
	stories(t, func(t *testing.T, world *operettatest.World) {
		const box = "{apiVersion: model.github.com/v1, kind: ModelBox, metadata: {name: web}, spec: {replicas: 1, podAnnotations: {example.com/a: b}, image: "
		const key, restartedAt = "kubectl.kubernetes.io/restartedAt", "2026-01-02T03:04:05Z"
		world.Apply(box + "nginx}}")
		world.Play()
		before := world.Names("Pod")
		world.Edit("Deployment/web", "{spec: {template: {metadata: {annotations: {"+key+": '"+restartedAt+"'}}}}}")
		world.Play()
		world.RequireCondition("ModelBox/web", "Ready", "True Available")
		require.NotEqual(t, before, world.Names("Pod"), "the Pods are new")
		world.Apply(box + "nginx:2}}")
		world.Play()
		world.RequireCondition("ModelBox/web", "Ready", "True Available")
		var deployment appsv1.Deployment
		world.Decode("Deployment/web", &deployment)
		require.Equal(t, map[string]string{key: restartedAt, "example.com/a": "b"}, deployment.Spec.Template.Annotations)
		require.Equal(t, "nginx:2", deployment.Spec.Template.Spec.Containers[0].Image)
	})
}
