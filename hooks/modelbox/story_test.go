package modelbox_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"

	"github.com/operetta-dev/operetta/hooks/modelbox"
	"github.com/operetta-dev/operetta/operettatest"
)

// stories tells a story once for each way in which Metacontroller applies children.
func stories(t *testing.T, tell func(t *testing.T, world *operettatest.World)) {
	for _, serverSide := range []bool{false, true} {
		t.Run(fmt.Sprint("server-side ", serverSide), func(t *testing.T) {
			options := operettatest.Options{MaxSteps: 1000, ServerSideApply: serverSide}
			tell(t, operettatest.NewWorld(t, options, modelbox.Controller()))
		})
	}
}

// TestNodePortThatIsTaken edits a node port twice, first to one that another
// Service has.
func TestNodePortThatIsTaken(t *testing.T) {
	stories(t, func(t *testing.T, world *operettatest.World) {
		const box = "{apiVersion: model.github.com/v1, kind: ModelBox, metadata: {name: web}, spec: {image: nginx, replicas: 1, ports: [{port: 80, nodePort: "
		world.Apply("{apiVersion: v1, kind: Service, metadata: {name: other}, spec: {type: NodePort, ports: [{port: 80, nodePort: 30011}]}}")
		world.Apply(box + "30010}]}}")
		world.Play()
		world.RequireCondition("ModelBox/web", "Ready", "True Available")

		world.Apply(box + "30011}]}}")
		world.Play()
		world.RequireCondition("ModelBox/web", "Ready", "False UpdateBlocked")
		message := world.Condition("ModelBox/web", "Ready").Message
		require.Contains(t, message, "Service/web not updated after 30s: the API server may refuse the update for a node port that is taken")
		require.Contains(t, message, "`kubectl events -n default --for modelboxes.model.github.com/web`")
		require.Equal(t, "True", world.Condition("ModelBox/web", "Stalled").Status)

		world.Apply(box + "30012}]}}")
		world.Play()
		world.RequireCondition("ModelBox/web", "Ready", "True Available")
		require.Empty(t, world.Condition("ModelBox/web", "Stalled").Status)
	})
}

// TestWhatBecomesEmptyIsRolledOutOnce takes away all that is in some objects, and restarts
// Metacontroller, which applies all again.
func TestWhatBecomesEmptyIsRolledOutOnce(t *testing.T) {
	stories(t, func(t *testing.T, world *operettatest.World) {
		const box = "{apiVersion: model.github.com/v1, kind: ModelBox, metadata: {name: web}, spec: {image: nginx, "
		world.Apply(box + "securityContext: {privileged: false, capabilities: {drop: [ALL]}}, affinity: {podAffinity: {}, nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}]}]}}}, " +
			"sidecars: [{name: s, image: a, lifecycle: {preStop: {sleep: {seconds: 1}}}}]}}")
		world.Play()
		for _, empty := range []string{"securityContext: {capabilities: {}}, affinity: {nodeAffinity: {}}", "securityContext: {}, affinity: {}"} {
			world.Apply(box + empty + ", sidecars: [{name: s, image: a, lifecycle: {}}]}}")
			world.Play()
			before := world.MustGet("Deployment/web").GetGeneration()
			world.Do("restart")
			world.Play()
			require.Equal(t, before, world.MustGet("Deployment/web").GetGeneration(), empty)
		}
	})
}

// TestVolumeGetsASource gives a volume that had none, for which the API server fills in an
// emptyDir, a source: it refuses a volume with two.
func TestVolumeGetsASource(t *testing.T) {
	stories(t, func(t *testing.T, world *operettatest.World) {
		const box = "{apiVersion: model.github.com/v1, kind: ModelBox, metadata: {name: web}, spec: {image: nginx, volumes: [{name: models"
		world.Apply(box + "}]}}")
		world.Play()
		world.RequireCondition("ModelBox/web", "Ready", "True Available")

		world.Apply(box + ", configMap: {name: models}}]}}")
		world.Play()
		world.RequireCondition("ModelBox/web", "Ready", "True Available")
		var deployment appsv1.Deployment
		world.Decode("Deployment/web", &deployment)
		require.Equal(t, "models", deployment.Spec.Template.Spec.Volumes[0].ConfigMap.Name)
	})
}

// TestVolumeKeepsItsSource takes away all that is in the source of a volume.
func TestVolumeKeepsItsSource(t *testing.T) {
	stories(t, func(t *testing.T, world *operettatest.World) {
		const box = "{apiVersion: model.github.com/v1, kind: ModelBox, metadata: {name: web}, spec: {image: nginx, volumes: [{name: info, "
		for _, source := range [][2]string{
			{"downwardAPI: {defaultMode: 256, items: [{path: labels, fieldRef: {fieldPath: metadata.labels}}]}", "downwardAPI: {}"},
			{"projected: {defaultMode: 256, sources: [{secret: {name: s}}]}", "projected: {}"},
		} {
			world.Apply(box + source[0] + "}]}}")
			world.Play()
			world.Apply(box + source[1] + "}]}}")
			world.Play()
			var deployment appsv1.Deployment
			world.Decode("Deployment/web", &deployment)
			require.Nil(t, deployment.Spec.Template.Spec.Volumes[0].EmptyDir, source[1])
			require.Empty(t, world.Condition("ModelBox/web", "ChildrenUpdated").Status, source[1])
		}
	})
}

// TestOrderOfInitContainers puts one before another. Under dynamic-apply Metacontroller keeps
// the order that it observes, and adds the new one at the end.
func TestOrderOfInitContainers(t *testing.T) {
	for _, serverSide := range []bool{false, true} {
		t.Run(fmt.Sprint("server-side ", serverSide), func(t *testing.T) {
			world := operettatest.NewWorld(t, operettatest.Options{MaxSteps: 1000, ServerSideApply: serverSide}, modelbox.Controller())
			const box = "{apiVersion: model.github.com/v1, kind: ModelBox, metadata: {name: web}, spec: {image: nginx, initContainers: [%s{name: migrate, image: m}]}}"
			world.Apply(fmt.Sprintf(box, ""))
			world.Play()
			world.RequireCondition("ModelBox/web", "Ready", "True Available")
			require.Empty(t, world.Condition("ModelBox/web", "ChildrenUpdated").Status)

			world.Apply(fmt.Sprintf(box, "{name: backup, image: b}, "))
			world.Play()
			world.RequireCondition("ModelBox/web", "Ready", "True Available")
			require.Empty(t, world.Condition("ModelBox/web", "ChildrenUpdated").Status)
		})
	}
}

// TestServiceAccountIsTakenBack names a ServiceAccount and removes the name again:
// the API server stores it with two names.
func TestServiceAccountIsTakenBack(t *testing.T) {
	stories(t, func(t *testing.T, world *operettatest.World) {
		account := func() string {
			world.Play()
			var deployment appsv1.Deployment
			world.Decode("Deployment/web", &deployment)
			return deployment.Spec.Template.Spec.ServiceAccountName
		}
		const box = "{apiVersion: model.github.com/v1, kind: ModelBox, metadata: {name: web}, spec: {image: nginx"
		world.Apply(box + ", serviceAccountName: robot}}")
		require.Equal(t, "robot", account())
		world.Apply(box + "}}")
		require.Empty(t, account())
	})
}
