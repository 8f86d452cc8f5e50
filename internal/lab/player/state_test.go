package player

import (
	"testing"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

func TestStateOf(t *testing.T) {
	parse := func(t *testing.T, text string) kube.Object {
		t.Helper()
		content, err := yaml.YAMLToJSON([]byte(text))
		require.NoError(t, err)
		object, err := kube.ParseObject(content)
		require.NoError(t, err)
		return object
	}

	for text, want := range map[string]kube.State{
		"apiVersion: v1, kind: ConfigMap": kube.Ready,
		"apiVersion: v1, kind: Pod":       kube.Waiting,
		"apiVersion: v1, kind: Pod, status: {phase: Running, conditions: [{type: Ready, status: 'True'}]}":                                                                       kube.Ready,
		"apiVersion: v1, kind: Pod, status: {phase: Running, conditions: [{type: Ready, status: 'False'}], containerStatuses: [{state: {waiting: {reason: CrashLoopBackOff}}}]}": kube.Failing,
		"apiVersion: v1, kind: Pod, status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable}]}":                                        kube.Failing,
		"apiVersion: v1, kind: Pod, status: {phase: Succeeded}":                                                                                                                  kube.Ready,
		"apiVersion: v1, kind: Pod, status: {phase: Failed, reason: Evicted}":                                                                                                    kube.Failing,
		"apiVersion: apps/v1, kind: Deployment, spec: {replicas: 2}":                                                                                                             kube.Waiting,
		"apiVersion: apps/v1, kind: Deployment, spec: {replicas: 0}":                                                                                                             kube.Ready,
		"apiVersion: apps/v1, kind: Deployment, spec: {replicas: 1}, status: {replicas: 1, updatedReplicas: 1, availableReplicas: 1, readyReplicas: 1}":                          kube.Ready,
		"apiVersion: apps/v1, kind: Deployment, spec: {replicas: 1}, status: {conditions: [{type: Progressing, status: 'False', reason: ProgressDeadlineExceeded, message: m}]}": kube.Failing,
		"apiVersion: batch/v1, kind: Job": kube.Waiting,
		"apiVersion: batch/v1, kind: Job, status: {conditions: [{type: Failed, status: 'True'}]}":                              kube.Failing,
		"apiVersion: batch/v1, kind: Job, status: {conditions: [{type: Complete, status: 'True'}]}":                            kube.Ready,
		"apiVersion: v1, kind: Service, spec: {type: ClusterIP}":                                                               kube.Ready,
		"apiVersion: v1, kind: Service, spec: {type: LoadBalancer}":                                                            kube.Waiting,
		"apiVersion: v1, kind: PersistentVolumeClaim, status: {phase: Pending}":                                                kube.Waiting,
		"apiVersion: v1, kind: PersistentVolumeClaim, status: {phase: Bound}":                                                  kube.Ready,
		"apiVersion: x/v1, kind: Toy, status: {conditions: [{type: Ready, status: 'False'}]}":                                  kube.Waiting,
		"apiVersion: x/v1, kind: Toy, status: {conditions: [{type: Ready, status: 'False'}, {type: Stalled, status: 'True'}]}": kube.Failing,
		"apiVersion: x/v1, kind: Toy, status: {conditions: [{type: Ready, status: 'True'}]}":                                   kube.Ready,
		"apiVersion: networking.k8s.io/v1, kind: NetworkPolicy":                                                                kube.Ready,
	} {
		require.Equal(t, want, kube.StateOf(parse(t, "{"+text+", metadata: {name: a}}")), text)
	}
	const owned = "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: a, generation: 1, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: a, controller: true}]}}"
	require.Equal(t, kube.Ready, kube.StateOf(parse(t, owned)), "it has no status of its own")
	require.Equal(t, kube.Waiting, kube.StateOf(parse(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, deletionTimestamp: '2026-01-01T00:00:00Z'}}")))
	require.Equal(t, kube.Waiting, kube.StateOf(parse(t, "{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: a, generation: 1}}")), "nobody writes its status")
}
