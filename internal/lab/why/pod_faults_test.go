package why_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/internal/lab/player"
)

// rejected has a kubelet refuse a Pod, or throw it out: it has failed without a container that has.
func rejected(reason, message string) fault {
	return func(s *scene) (string, []string) {
		return s.podStatus(map[string]any{"phase": "Failed", "reason": reason, "message": message}), []string{reason, message}
	}
}

// terminating has a Pod that is being deleted for longer than its grace period, as on a node that is lost.
func terminating(s *scene) (string, []string) {
	s.apply()
	pod := s.runningPod()
	s.replace(pod, func(fields map[string]any) {
		metadata := fields["metadata"].(map[string]any)
		metadata["deletionTimestamp"] = s.Now().Add(-time.Minute).UTC().Format(time.RFC3339)
		metadata["deletionGracePeriodSeconds"] = int64(30)
	})
	return "Pod/" + pod.GetName(), []string{"Terminating", "longer than its grace period", "--force"}
}

// silentNode has the Pods that the node controller has marked: Ready is False, and has no reason.
func silentNode(s *scene) (string, []string) {
	running := s.container(map[string]any{"running": map[string]any{"startedAt": s.Now().UTC().Format(time.RFC3339)}})
	running["ready"], running["started"] = true, true
	ref := s.podStatus(map[string]any{"phase": "Running", "containerStatuses": []any{running}}, map[string]any{"type": "Ready", "status": "False"})
	node, _, _ := unstructured.NestedString(s.pod().Object, "spec", "nodeName")
	return ref, []string{"no kubelet says why", "Node/" + node}
}

// restarted returns the status of a container that runs, and has ended before.
func (s *scene) restarted(ended map[string]any) map[string]any {
	ended["finishedAt"] = s.Now().Add(-5 * time.Second).UTC().Format(time.RFC3339)
	status := s.container(map[string]any{"running": map[string]any{"startedAt": s.Now().UTC().Format(time.RFC3339)}})
	status["restartCount"], status["ready"], status["started"], status["lastState"] = int64(12), false, false, map[string]any{"terminated": ended}
	return status
}

func runsAgain(s *scene) (string, []string) {
	ref := s.podStatus(map[string]any{"phase": "Running", "containerStatuses": []any{
		s.restarted(map[string]any{"reason": "OOMKilled", "exitCode": int64(137)}),
	}}, notReady)
	return ref, []string{"container status", "OOMKilled", "12 restarts"}
}

// liveness has a kubelet kill a container that does not answer its probe.
func liveness(s *scene) (string, []string) {
	ref := s.podStatus(map[string]any{"phase": "Running", "containerStatuses": []any{
		s.restarted(map[string]any{"reason": "Error", "exitCode": int64(137)}),
	}}, notReady)
	s.warn(s.pod(), "Unhealthy", "Liveness probe failed: HTTP probe failed with statuscode: 500")
	return ref, []string{"exit code 137", "Liveness probe failed: HTTP probe failed with statuscode: 500"}
}

func readiness(s *scene) (string, []string) {
	running := s.container(map[string]any{"running": map[string]any{"startedAt": s.Now().UTC().Format(time.RFC3339)}})
	running["ready"], running["started"] = false, true
	ref := s.podStatus(map[string]any{"phase": "Running", "containerStatuses": []any{running}}, notReady)
	s.warn(s.pod(), "Unhealthy", "Readiness probe failed: dial tcp 10.0.0.1:8080: connect: connection refused")
	return ref, []string{"Unhealthy", "Readiness probe failed: dial tcp"}
}

// claimWithoutClass has a claim of which a normal event tells.
func claimWithoutClass(s *scene) (string, []string) {
	ref, _ := unboundClaim(s)
	told := s.extra[slices.IndexFunc(s.extra, func(o *unstructured.Unstructured) bool { return o.GetKind() == "Event" })].Object
	told["type"], told["reason"], told["message"] = "Normal", "FailedBinding", "no persistent volumes available for this claim and no storage class is set"
	return ref, []string{"FailedBinding", "no storage class is set"}
}

// claimWithoutEvent has a claim of which only its Pod tells: the events are gone.
func claimWithoutEvent(s *scene) (string, []string) {
	ref, _ := unboundClaim(s)
	s.extra = slices.DeleteFunc(s.extra, func(o *unstructured.Unstructured) bool { return o.GetKind() == "Event" })
	return ref, []string{"Unbound", "the claim has no volume"}
}

// noAddress has a load balancer that nobody gives an address.
func noAddress(s *scene) (string, []string) {
	if s.kind != "modelbox" {
		return "", nil // the others have no Service that may be one
	}
	text, err := os.ReadFile("../../../deploy/samples/modelbox.yaml")
	require.NoError(s, err)
	fields := map[string]any{}
	require.NoError(s, yaml.Unmarshal(text, &fields))
	fields["spec"].(map[string]any)["serviceType"] = "LoadBalancer"
	text, err = json.Marshal(fields)
	require.NoError(s, err)
	require.NoError(s, s.Apply(text))
	_ = s.Play() // which may give it an address
	service := s.child("Service")
	s.replace(service, func(fields map[string]any) { fields["status"] = map[string]any{"loadBalancer": map[string]any{}} })
	s.warn(service, "SyncLoadBalancerFailed", "Error syncing load balancer: failed to ensure load balancer: quota of addresses exceeded")
	return "Service/" + service.GetName(), []string{"SyncLoadBalancerFailed", "quota of addresses exceeded"}
}

// refusedPods has the Pods of a child refused, as an Event of what makes them tells.
func refusedPods(how, words string) fault {
	return func(s *scene) (string, []string) {
		ref, _ := workloadRefusal(s, player.Action{Do: "refuse", Target: "Pod", Detail: how})
		if ref == "" {
			return "", nil
		}
		return ref, []string{"FailedCreate", words}
	}
}

// TestNoPromiseWhoseTimeHasPassed: an hour later nothing is promised within minutes.
func TestNoPromiseWhoseTimeHasPassed(t *testing.T) {
	for name, test := range map[string]struct {
		plant       fault
		now, passed string
	}{
		"a container": {ended("Error", 1), "the kubelet starts main again, at the latest 5m after it ended", "a start of main is due since "},
		"a node":      {lostNode, "after five minutes the Pods of a node", "the deletion of its Pods is due since "},
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, "modelbox")
			test.plant(s)
			require.Contains(t, textOf(s.answer()), test.now)
			s.waited = time.Hour
			require.NotContains(t, textOf(s.answer()), test.now)
			require.Contains(t, textOf(s.answer()), test.passed)
		})
	}
}

// TestNoCallIsPromisedThatIsDue: the hook says something else than the status, and nobody has called it.
func TestNoCallIsPromisedThatIsDue(t *testing.T) {
	s := begin(t, "modelbox")
	s.apply()
	require.NoError(t, s.Play())
	pod := s.pod()
	s.replace(pod, func(fields map[string]any) { fields["spec"].(map[string]any)["activeDeadlineSeconds"] = int64(60) })
	failing(player.Hold)(s)
	s.replace(s.parent(), func(fields map[string]any) {
		ready := fields["status"].(map[string]any)["conditions"].([]any)[0].(map[string]any)
		ready["reason"] = "Creating"
	})
	require.NotContains(t, textOf(s.answer()), "is due since")
	s.waited = time.Hour
	text := textOf(s.answer())
	require.Contains(t, text, "a call of the hook is due since ")
	require.NotContains(t, text, "called again within")
	require.NotContains(t, text, "activeDeadlineSeconds")
}
