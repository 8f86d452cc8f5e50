package player

import (
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

func TestStateOf(t *testing.T) {
	parse := func(t *testing.T, text string) Object {
		t.Helper()
		content, err := yaml.YAMLToJSON([]byte(text))
		require.NoError(t, err)
		object, err := ParseObject(content)
		require.NoError(t, err)
		return object
	}

	for text, want := range map[string]State{
		"apiVersion: v1, kind: ConfigMap": Ready,
		"apiVersion: v1, kind: Pod":       Waiting,
		"apiVersion: v1, kind: Pod, status: {phase: Running, conditions: [{type: Ready, status: 'True'}]}":                                                                       Ready,
		"apiVersion: v1, kind: Pod, status: {phase: Running, conditions: [{type: Ready, status: 'False'}], containerStatuses: [{state: {waiting: {reason: CrashLoopBackOff}}}]}": Failing,
		"apiVersion: v1, kind: Pod, status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable}]}":                                        Failing,
		"apiVersion: v1, kind: Pod, status: {phase: Succeeded}":                                                                                                                  Ready,
		"apiVersion: v1, kind: Pod, status: {phase: Failed, reason: Evicted}":                                                                                                    Failing,
		"apiVersion: apps/v1, kind: Deployment, spec: {replicas: 2}":                                                                                                             Waiting,
		"apiVersion: apps/v1, kind: Deployment, spec: {replicas: 0}":                                                                                                             Ready,
		"apiVersion: apps/v1, kind: Deployment, spec: {replicas: 1}, status: {replicas: 1, updatedReplicas: 1, availableReplicas: 1, readyReplicas: 1}":                          Ready,
		"apiVersion: apps/v1, kind: Deployment, spec: {replicas: 1}, status: {conditions: [{type: Progressing, status: 'False', reason: ProgressDeadlineExceeded, message: m}]}": Failing,
		"apiVersion: batch/v1, kind: Job": Waiting,
		"apiVersion: batch/v1, kind: Job, status: {conditions: [{type: Failed, status: 'True'}]}":                              Failing,
		"apiVersion: batch/v1, kind: Job, status: {conditions: [{type: Complete, status: 'True'}]}":                            Ready,
		"apiVersion: v1, kind: Service, spec: {type: ClusterIP}":                                                               Ready,
		"apiVersion: v1, kind: Service, spec: {type: LoadBalancer}":                                                            Waiting,
		"apiVersion: v1, kind: PersistentVolumeClaim, status: {phase: Pending}":                                                Waiting,
		"apiVersion: v1, kind: PersistentVolumeClaim, status: {phase: Bound}":                                                  Ready,
		"apiVersion: x/v1, kind: Toy, status: {conditions: [{type: Ready, status: 'False'}]}":                                  Waiting,
		"apiVersion: x/v1, kind: Toy, status: {conditions: [{type: Ready, status: 'False'}, {type: Stalled, status: 'True'}]}": Failing,
		"apiVersion: x/v1, kind: Toy, status: {conditions: [{type: Ready, status: 'True'}]}":                                   Ready,
		"apiVersion: networking.k8s.io/v1, kind: NetworkPolicy":                                                                Ready,
	} {
		require.Equal(t, want, StateOf(parse(t, "{"+text+", metadata: {name: a}}")), text)
	}
	const owned = "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: a, generation: 1, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: a, controller: true}]}}"
	require.Equal(t, Ready, StateOf(parse(t, owned)), "it has no status of its own")
	require.Equal(t, Waiting, StateOf(parse(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, deletionTimestamp: '2026-01-01T00:00:00Z'}}")))
	require.Equal(t, Waiting, StateOf(parse(t, "{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: a, generation: 1}}")), "nobody writes its status")
}
