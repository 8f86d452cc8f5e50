package operator

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRolloutIsJudged(t *testing.T) {
	for name, test := range map[string]struct {
		kind, object string
		want         Summary
	}{
		"default of one replica": {"Deployment", `{"status":{"replicas":1,"readyReplicas":1,"updatedReplicas":1,"availableReplicas":1}}`, Summary{State: Done, Reason: "Available", Message: "1 of 1 replicas are available"}},
		"not observed":           {"StatefulSet", `{"metadata":{"generation":4},"spec":{"replicas":0},"status":{"observedGeneration":3}}`, Summary{State: Progressing, Reason: "RollingOut", Message: "waiting for the StatefulSet controller to observe generation 4"}},
		"to be updated":          {"Deployment", `{"spec":{"replicas":3},"status":{"replicas":3,"readyReplicas":3,"updatedReplicas":1,"availableReplicas":3}}`, Summary{State: Progressing, Reason: "RollingOut", Message: "1 of 3 replicas are updated"}},
		"old ones are left":      {"Deployment", `{"spec":{"replicas":1},"status":{"replicas":3,"readyReplicas":3,"updatedReplicas":1,"availableReplicas":3}}`, Summary{State: Progressing, Reason: "RollingOut", Message: "waiting for old replicas to terminate: 2"}},
		"scaled down":            {"StatefulSet", `{"spec":{"replicas":0},"status":{"replicas":1,"updatedReplicas":1}}`, Summary{State: Progressing, Reason: "RollingOut", Message: "waiting for surplus replicas to terminate: 1"}},
		"not available":          {"StatefulSet", `{"spec":{"replicas":2},"status":{"replicas":2,"readyReplicas":2,"updatedReplicas":2,"availableReplicas":1}}`, Summary{State: Progressing, Reason: "ReplicasUnavailable", Message: "1 of 2 replicas are available"}},
		"of a ReplicaSet":        {"ReplicaSet", `{"spec":{"replicas":2},"status":{"replicas":2,"readyReplicas":2,"availableReplicas":2}}`, Summary{State: Done, Reason: "Available", Message: "2 of 2 replicas are available"}},
		"of a DaemonSet":         {"DaemonSet", `{"status":{"desiredNumberScheduled":2,"currentNumberScheduled":2,"numberReady":2,"updatedNumberScheduled":2,"numberAvailable":2}}`, Summary{State: Done, Reason: "Available", Message: "2 of 2 replicas are available"}},
		"given up":               {"Deployment", `{"spec":{"replicas":1},"status":{"conditions":[{"type":"Progressing","status":"False","reason":"ProgressDeadlineExceeded","message":"timed out"},{"type":"ReplicaFailure","status":"True","message":"quota"}]}}`, Summary{State: Failed, Reason: "ProgressDeadlineExceeded", Message: "timed out Pods cannot be created: quota"}},
		"former given up":        {"Deployment", `{"metadata":{"generation":2},"spec":{"replicas":1},"status":{"observedGeneration":1,"conditions":[{"type":"Progressing","status":"False","reason":"ProgressDeadlineExceeded","message":"timed out"}]}}`, Summary{State: Progressing, Reason: "RollingOut", Message: "waiting for the Deployment controller to observe generation 2"}},
		"without room":           {"Deployment", `{"spec":{"replicas":1},"status":{"conditions":[{"type":"Progressing","status":"True"},{"type":"ReplicaFailure","status":"True","message":"quota"}]}}`, Summary{State: Degraded, Reason: "ReplicaFailure", Message: "quota"}},
		"without a ReplicaSet":   {"Deployment", `{"metadata":{"generation":2},"spec":{"replicas":1},"status":{"observedGeneration":1,"conditions":[{"type":"Progressing","status":"False","reason":"ReplicaSetCreateError","message":"quota"}]}}`, Summary{State: Degraded, Reason: "ReplicaFailure", Message: "quota"}},
		"paused": {"Deployment", `{"spec":{"replicas":1},"status":{"conditions":[{"type":"Progressing","status":"Unknown","reason":"DeploymentPaused"}]}}`,
			Summary{State: Degraded, Reason: "DeploymentPaused", Message: "0 of 1 replicas are updated, and the Deployment is paused: resume it, with kubectl rollout resume"}},
		"done in spite of it": {"Deployment", `{"spec":{"replicas":0},"status":{"conditions":[{"type":"ReplicaFailure","status":"True","message":"quota"}]}}`, Summary{State: Done, Reason: "Available", Message: "0 of 0 replicas are available"}},
	} {
		t.Run(name, func(t *testing.T) {
			var w Workload
			require.NoError(t, json.Unmarshal([]byte(test.object), &w))
			w.Kind = test.kind
			require.Equal(t, test.want, w.Rollout().Summary())
		})
	}
}

// TestCompletedRolloutStaysSo where Pods fail afterwards.
func TestCompletedRolloutStaysSo(t *testing.T) {
	for name, test := range map[string]struct {
		kind, object string
		want         bool
	}{
		"failed since":   {"Deployment", `{"status":{"replicas":1,"updatedReplicas":1,"conditions":[{"type":"Progressing","status":"True","reason":"NewReplicaSetAvailable"}]}}`, true},
		"under way":      {"Deployment", `{"status":{"replicas":1,"updatedReplicas":1,"conditions":[{"type":"Progressing","status":"True","reason":"ReplicaSetUpdated"}]}}`, false},
		"not observed":   {"Deployment", `{"metadata":{"generation":2},"status":{"observedGeneration":1,"updatedReplicas":1,"conditions":[{"type":"Progressing","status":"True","reason":"NewReplicaSetAvailable"}]}}`, false},
		"a set":          {"StatefulSet", `{"status":{"replicas":1,"updatedReplicas":1,"currentRevision":"a","updateRevision":"a"}}`, true},
		"a set's update": {"StatefulSet", `{"status":{"replicas":1,"updatedReplicas":1,"currentRevision":"a","updateRevision":"b"}}`, false},
		"of a DaemonSet": {"DaemonSet", `{"status":{"desiredNumberScheduled":1,"updatedNumberScheduled":1}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			var w Workload
			require.NoError(t, json.Unmarshal([]byte(test.object), &w))
			w.Kind = test.kind
			require.Equal(t, test.want, w.Status.HasCompleted(w.Rollout()))
		})
	}
}

func TestListed(t *testing.T) {
	require.Equal(t, "", Listed(nil, ", "))
	require.Equal(t, "a, b, c", Listed([]string{"a", "b", "c"}, ", "))
	require.Equal(t, "a; b; c and 2 more", Listed([]string{"a", "b", "c", "d", "e"}, "; "))
}
