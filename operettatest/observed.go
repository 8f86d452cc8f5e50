package operettatest

import (
	"fmt"
	"testing"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/internal/documents"
)

// Child returns an object with only a name, for example a ConfigMap that only
// has to exist.
func Child(apiVersion, kind, name string) Object {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(apiVersion)
	object.SetKind(kind)
	object.SetName(name)
	return object
}

// Deployment returns one whose status is about its newest generation, with this
// many updated replicas, some of them ready.
func Deployment(name string, replicas, ready int) Object {
	available, progressing := "False", "ReplicaSetUpdated"
	if ready >= replicas {
		available, progressing = "True", "NewReplicaSetAvailable"
	}
	return With(Child("apps/v1", "Deployment", name), fmt.Sprintf(`{metadata: {generation: 1}, spec: {replicas: %d}, status: {
		observedGeneration: 1, replicas: %[1]d, updatedReplicas: %[1]d, readyReplicas: %d, availableReplicas: %[2]d, unavailableReplicas: %d,
		conditions: [{type: Available, status: %q}, {type: Progressing, status: "True", reason: %s}]}}`,
		replicas, ready, max(0, replicas-ready), available, progressing))
}

// StatefulSet returns one whose status is about its newest generation, with
// this many updated replicas, some of them ready.
func StatefulSet(name string, replicas, ready int) Object {
	return With(Child("apps/v1", "StatefulSet", name), fmt.Sprintf(`{metadata: {generation: 1}, spec: {replicas: %d}, status: {
		observedGeneration: 1, replicas: %[1]d, currentReplicas: %[1]d, updatedReplicas: %[1]d, readyReplicas: %d, availableReplicas: %[2]d,
		currentRevision: %s-1, updateRevision: %[3]s-1}}`, replicas, ready, name))
}

// Job returns one that runs, or that has ended with the condition Complete or
// Failed.
func Job(name, end string) Object {
	status := `{active: 1, ready: 1}`
	switch end {
	case "Complete":
		status = `{succeeded: 1, conditions: [{type: Complete, status: "True"}]}`
	case "Failed":
		status = `{failed: 1, conditions: [{type: Failed, status: "True", reason: BackoffLimitExceeded}]}`
	}
	return With(Child("batch/v1", "Job", name), `{metadata: {generation: 1}, status: `+status+`}`)
}

// Pod returns one in a phase. A Running Pod is ready.
func Pod(name string, phase corev1.PodPhase) Object {
	ready := "False"
	if phase == corev1.PodRunning {
		ready = "True"
	}
	return With(Child("v1", "Pod", name), fmt.Sprintf(`{status: {phase: %s, conditions: [{type: PodScheduled, status: "True"},
		{type: ContainersReady, status: %q}, {type: Ready, status: %[2]q}]}}`, phase, ready))
}

// With returns a copy of an object, changed by a merge patch in YAML, as in
// {metadata: {generation: 2}}. It panics if the patch is not YAML.
func With(object Object, patch string) Object {
	text, err := yaml.YAMLToJSONStrict([]byte(patch))
	changes := map[string]any{}
	if err == nil {
		err = kjson.UnmarshalCaseSensitivePreserveInts(text, &changes)
	}
	if err != nil {
		panic(fmt.Sprintf("the patch %s: %s", patch, err))
	}
	return &unstructured.Unstructured{Object: kube.MergePatch(object.DeepCopy().Object, changes)}
}

// documentsOf returns the non-empty documents of a YAML stream in JSON.
func documentsOf(t testing.TB, text string) [][]byte {
	t.Helper()
	objects, err := documents.Objects([]byte(text))
	require.NoError(t, err)
	return objects
}
