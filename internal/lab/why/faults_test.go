package why_test

import (
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/metacontroller"
)

// fault is planted into a scene. It returns the object that the first cause must name, and words
// that it must have.
type fault func(s *scene) (ref string, words []string)

// faults are all that are tried with each kind.
var faults = map[string]fault{
	"fail":                   failing(player.Fail),
	"hold":                   failing(player.Hold),
	"evict":                  evicted,
	"name-taken":             nameTaken,
	"quota":                  quota,
	"admission-webhook":      webhook,
	"hook-failure":           hookFailure,
	"crd-rule":               crdRule,
	"nobody-syncs":           nobodySyncs,
	"unschedulable":          unschedulable,
	"unbound-claim":          unboundClaim,
	"missing-secret":         missingSecret,
	"missing-volume":         missingVolume,
	"image-not-found":        waiting("ImagePullBackOff", `Back-off pulling image "registry.example.com/nope:1"`),
	"start-error":            ended("StartError", 128),
	"out-of-memory":          ended("OOMKilled", 137),
	"not-ready-node":         lostNode,
	"sandbox":                event("FailedCreatePodSandBox", "network plugin is not ready"),
	"parent-finalizer":       parentFinalizer,
	"workload-quota":         workloadQuota,
	"event-of-events-k8s-io": newEvents,
	"update-refused":         updateRefused,
	"paused":                 paused,
	"suspended":              suspended,
	"deadline-of-a-job":      jobDeadline,
	"finalizer-of-a-child":   childFinalizer,
	"vanished":               vanished,
	"past-the-deadline":      pastTheDeadline,
	"older-of-two":           olderOfTwo,
	"stale-event":            staleEvent,
	"rejected":               rejected("OutOfcpu", "Pod was rejected: Node didn't have enough resource: cpu, requested: 2000, used: 3000, capacity: 4000"),
	"rejected-by-a-device":   rejected("UnexpectedAdmissionError", "Pod was rejected: Allocate failed due to no healthy devices present; cannot allocate unhealthy devices nvidia.com/gpu, which is unexpected"),
	"rejected-by-affinity":   rejected("NodeAffinity", "Pod was rejected: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"),
	"evicted-for-its-disk":   rejected("Evicted", "The node was low on resource: ephemeral-storage. Threshold quantity: 10Gi, available: 9Gi."),
	"terminating-for-ever":   terminating,
	"node-says-nothing":      silentNode,
	"runs-again":             runsAgain,
	"liveness":               liveness,
	"readiness":              readiness,
	"claim-without-a-class":  claimWithoutClass,
	"claim-without-an-event": claimWithoutEvent,
	"no-address":             noAddress,
	"pod-security":           refusedPods("pod-security", `violates PodSecurity "restricted:latest"`),
	"no-service-account":     refusedPods("service-account", "error looking up service account"),
	"webhook-for-pods":       refusedPods("webhook", "denied the request"),
}

// TestFaults plants every fault into a cluster with the sample of every kind: the first cause names
// the object that was planted, and the reason.
func TestFaults(t *testing.T) {
	count := 0
	for name, plant := range faults {
		for _, kind := range kinds {
			t.Run(name+"/"+kind, func(t *testing.T) {
				s := begin(t, kind)
				ref, words := plant(s)
				if ref == "" {
					return // the kind has no such object
				}
				s.requireFirst(s.answer(), ref, words...)
				count++
			})
		}
	}
	t.Logf("%d faults", count)
	require.GreaterOrEqual(t, count, 231)
}

// failing plays with a lasting fault of the child that runs the first Pod.
func failing(what string) fault {
	return func(s *scene) (string, []string) {
		probe := begin(s.TB, s.kind)
		probe.apply()
		owner := probe.runningPod()
		for o := probe.ownerOf(owner); o != nil && kube.RefOf(o) != kube.RefOf(probe.parent()); o = probe.ownerOf(o) {
			owner = o
		}
		s.start(player.Action{Do: what, Target: owner.GetKind() + "/" + owner.GetName()})
		s.apply()
		pod := s.runningPod()
		for range 5 {
			s.Step()
		}
		if what == player.Hold {
			return "Pod/" + pod.GetName(), []string{" run"}
		}
		return "Pod/" + pod.GetName(), []string{"Error", "exit code 1"}
	}
}

func evicted(s *scene) (string, []string) {
	s.apply()
	pod := s.runningPod()
	require.True(s, s.Do(player.Action{Do: "evict", Target: "Pod/" + pod.GetName()}))
	return "Pod/" + pod.GetName(), []string{"TerminationByKubelet", "low on resource: memory"}
}

// firstChild returns the first child that the sample asks for.
func firstChild(s *scene) kube.Object {
	probe := begin(s.TB, s.kind)
	probe.apply()
	return probe.until(func() kube.Object {
		if owned := probe.Owned(probe.parent()); len(owned) > 0 {
			return owned[0]
		}
		return nil
	})
}

func nameTaken(s *scene) (string, []string) {
	child := firstChild(s).DeepCopy()
	child.SetOwnerReferences(nil)
	child.SetLabels(nil)
	child.SetUID("")
	child.SetResourceVersion("")
	unstructured.RemoveNestedField(child.Object, "status")
	if selector, found, _ := unstructured.NestedStringMap(child.Object, "spec", "selector", "matchLabels"); found {
		child.SetLabels(selector)
	}
	text, err := child.MarshalJSON()
	require.NoError(s, err)
	require.NoError(s, s.Apply(text))
	s.apply()
	for range 4 {
		s.Step()
	}
	if s.kind != "podset" { // which goes on with the next free numbers
		require.NoError(s, s.Play())
	}
	return child.GetKind() + "/" + child.GetName(), []string{"NameTaken", "belongs to nobody"}
}

func quota(s *scene) (string, []string) {
	child := firstChild(s)
	s.Do(player.Action{Do: "quota", Target: child.GetKind()})
	s.apply()
	for range 6 {
		s.Step()
	}
	return child.GetKind() + "/" + child.GetName(), []string{"Refused", "exceeded quota"}
}

// workloadQuota refuses the Pods of a workload, of which an event tells.
func workloadQuota(s *scene) (string, []string) {
	return workloadRefusal(s, player.Action{Do: "quota", Target: "Pod"})
}

func workloadRefusal(s *scene, refusal player.Action) (string, []string) {
	if kind := firstChild(s).GetKind(); kind == "Pod" {
		return "", nil
	}
	s.apply()
	for s.kind == "podbuggertool" && len(s.List("rbac.authorization.k8s.io/v1", "RoleBinding")) == 0 {
		s.Step()
	}
	s.Do(refusal)
	for range 6 {
		s.Step()
	}
	for _, event := range s.Events() {
		about, _, _ := unstructured.NestedStringMap(event.Object, "involvedObject")
		return about["kind"] + "/" + about["name"], []string{"FailedCreate", "exceeded quota"}
	}
	return "", nil
}

func webhook(s *scene) (string, []string) {
	child := firstChild(s)
	s.Ask(func(asked player.Asked) error {
		if kube.RefOf(asked.Desired).Kind == child.GetKind() {
			return errors.New(`admission webhook "policy.example.com" denied the request: no images of others`)
		}
		return nil
	})
	s.apply()
	for range 6 {
		s.Step()
	}
	return child.GetKind() + "/" + child.GetName(), []string{"Refused", "policy.example.com"}
}

func hookFailure(s *scene) (string, []string) {
	s.failure = "the desired state could not be computed"
	s.apply()
	for range 3 {
		s.Step()
	}
	return s.parentRef(), []string{"SyncError", "the desired state could not be computed"}
}

func (s *scene) parentRef() string { return s.parent().GetKind() + "/" + s.parent().GetName() }

// crdRule puts a spec into the dump that a rule of the CRD refuses.
func crdRule(s *scene) (string, []string) {
	text, err := os.ReadFile("../../../hooks/" + s.kind + "/testdata/rules.yaml")
	require.NoError(s, err)
	var rules map[string]struct{ Message, Before, Bad, BadName string }
	require.NoError(s, yaml.Unmarshal(text, &rules))
	s.apply()
	require.NoError(s, s.Play())
	for _, name := range slices.Sorted(maps.Keys(rules)) {
		rule := rules[name]
		if rule.Before != "" || rule.BadName != "" {
			continue
		}
		var spec map[string]any
		require.NoError(s, yaml.Unmarshal([]byte(rule.Bad), &spec))
		s.replace(s.parent(), func(fields map[string]any) { fields["spec"] = spec })
		return s.parentRef(), []string{"NoAnswer", rule.Message[:min(60, len(rule.Message))]}
	}
	return "", nil
}

// updateRefused has the dump of a child that the API server does not let Metacontroller update.
func updateRefused(s *scene) (string, []string) {
	s.apply()
	require.NoError(s, s.Play())
	for _, child := range s.Owned(s.parent()) {
		if child.GetKind() == "Pod" || child.GetKind() == "Job" {
			continue // it is never updated
		}
		s.replace(child, func(fields map[string]any) {
			fields["metadata"].(map[string]any)["annotations"].(map[string]any)[metacontroller.HashAnnotation] = "other"
		})
		s.warn(s.parent(), "SyncError", `Sync error: can't reconcile children for x a/b: `+child.GetKind()+` "`+child.GetName()+`" is invalid: spec: field is immutable`)
		return child.GetKind() + "/" + child.GetName(), []string{"Refused", "field is immutable"}
	}
	return "", nil
}

func paused(s *scene) (string, []string) {
	s.apply()
	deployment := s.child("Deployment")
	if deployment == nil {
		return "", nil
	}
	s.replace(deployment, func(fields map[string]any) { fields["spec"].(map[string]any)["paused"] = true })
	for _, pod := range s.List("v1", "Pod") {
		s.dropped = map[string]bool{"Pod/" + pod.GetName(): true}
	}
	return "Deployment/" + deployment.GetName(), []string{"DeploymentPaused", "spec.paused"}
}

func suspended(s *scene) (string, []string) {
	s.apply()
	job := s.child("Job")
	if job == nil {
		return "", nil
	}
	s.replace(job, func(fields map[string]any) {
		fields["spec"].(map[string]any)["suspend"] = true
		fields["status"] = map[string]any{}
	})
	return "Job/" + job.GetName(), []string{"Suspended", "spec.suspend"}
}

// jobDeadline leaves no Pod of a Job that took too long.
func jobDeadline(s *scene) (string, []string) {
	s.apply()
	job := s.child("Job")
	if job == nil {
		return "", nil
	}
	s.replace(job, func(fields map[string]any) {
		fields["status"] = map[string]any{"conditions": []any{map[string]any{
			"type": "Failed", "status": "True", "reason": "DeadlineExceeded", "message": "Job was active longer than specified deadline",
		}}}
	})
	return "Job/" + job.GetName(), []string{"DeadlineExceeded", "active longer"}
}

func childFinalizer(s *scene) (string, []string) {
	s.apply()
	s.runningPod()
	child := s.Owned(s.parent())[0]
	s.replace(child, func(fields map[string]any) {
		metadata := fields["metadata"].(map[string]any)
		metadata["deletionTimestamp"] = s.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
		metadata["finalizers"] = []any{"example.com/audit"}
		metadata["annotations"] = map[string]any{metacontroller.HashAnnotation: "other"}
	})
	return child.GetKind() + "/" + child.GetName(), []string{"Terminating", "example.com/audit"}
}

func vanished(s *scene) (string, []string) {
	s.apply()
	pod := s.runningPod()
	child := s.Owned(s.parent())[0]
	s.dropped = map[string]bool{child.GetKind() + "/" + child.GetName(): true}
	switch s.kind { // those that never run a second time by themselves
	case "build":
		return "Pod/" + pod.GetName(), []string{"running"}
	case "myjob":
		return s.parentRef(), []string{"not observed at the moment"}
	}
	return child.GetKind() + "/" + child.GetName(), []string{"Missing", "does not exist"}
}

// pastTheDeadline holds the Pods of a rollout until its progress deadline: that follows from the Pods.
func pastTheDeadline(s *scene) (string, []string) {
	ref, _ := failing(player.Hold)(s)
	_ = s.Play() // for ten minutes
	if !strings.HasPrefix(s.answer().Reason, "ProgressDeadline") {
		return "", nil
	}
	return ref, []string{"ContainersNotReady"}
}

// staleEvent has an event about a sync that failed before one that did not.
func staleEvent(s *scene) (string, []string) {
	_, words := failing(player.Fail)(s)
	_ = s.Play()
	s.warn(s.parent(), "SyncError", "Sync error: sync hook failed: no answer within 8s")
	return "Pod/" + s.pod().GetName(), words
}

// olderOfTwo has a Pod with the first name fail after another one.
func olderOfTwo(s *scene) (string, []string) {
	ref := s.podStatus(map[string]any{"phase": "Pending", "containerStatuses": []any{
		s.container(map[string]any{"waiting": map[string]any{"reason": "ImagePullBackOff", "message": "the younger one"}}),
	}}, notReady)
	younger := s.extra[0]
	for _, pod := range s.List("v1", "Pod") {
		if kube.RefOf(pod).String() > ref && pod.GetOwnerReferences()[0].UID == younger.GetOwnerReferences()[0].UID {
			s.replace(pod, func(fields map[string]any) {
				old := maps.Clone(notReady)
				old["lastTransitionTime"] = s.Now().Add(-time.Minute).UTC().Format(time.RFC3339)
				fields["status"] = map[string]any{"phase": "Pending", "conditions": []any{old}, "containerStatuses": []any{
					s.container(map[string]any{"waiting": map[string]any{"reason": "ErrImageNeverPull", "message": "the older one"}}),
				}}
			})
			return "Pod/" + pod.GetName(), []string{"the older one"}
		}
	}
	return "", nil
}

func nobodySyncs(s *scene) (string, []string) {
	s.apply()
	s.until(func() kube.Object {
		if list := s.Parents(); len(list) > 0 {
			return list[0]
		}
		s.Step()
		return nil
	})
	s.replace(s.parent(), func(fields map[string]any) { delete(fields, "status") })
	return s.parentRef(), []string{"NotSynced"}
}

// podStatus replaces the status of a Pod in the dump.
func (s *scene) podStatus(status map[string]any, conditions ...map[string]any) string {
	s.apply()
	pod := s.runningPod()
	at := s.Now().UTC().Format(time.RFC3339)
	list := []any{}
	for _, c := range conditions {
		c = maps.Clone(c)
		c["lastTransitionTime"] = at
		list = append(list, c)
	}
	status["conditions"] = list
	s.replace(pod, func(fields map[string]any) { fields["status"] = status })
	return "Pod/" + pod.GetName()
}

var notReady = map[string]any{"type": "Ready", "status": "False", "reason": "ContainersNotReady"}

func unschedulable(s *scene) (string, []string) {
	ref := s.podStatus(map[string]any{"phase": "Pending"},
		map[string]any{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes are available: 3 Insufficient cpu."})
	return ref, []string{"condition PodScheduled", "Unschedulable", "Insufficient cpu"}
}

func unboundClaim(s *scene) (string, []string) {
	s.apply()
	pod := s.runningPod()
	s.extra = append(s.extra, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "PersistentVolumeClaim",
		"metadata": map[string]any{"name": "data", "namespace": pod.GetNamespace(), "uid": "claim", "creationTimestamp": s.Now().UTC().Format(time.RFC3339)}, "status": map[string]any{"phase": "Pending"},
	}})
	s.warn(s.extra[0], "ProvisioningFailed", `storageclass.storage.k8s.io "fast" not found`)
	s.replace(pod, func(fields map[string]any) {
		fields["spec"].(map[string]any)["volumes"] = []any{map[string]any{"name": "data", "persistentVolumeClaim": map[string]any{"claimName": "data"}}}
		fields["status"] = map[string]any{"phase": "Pending", "conditions": []any{map[string]any{
			"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "pod has unbound immediate PersistentVolumeClaims", "lastTransitionTime": s.Now().UTC().Format(time.RFC3339),
		}}}
	})
	return "PersistentVolumeClaim/data", []string{"ProvisioningFailed", `"fast" not found`}
}

func (s *scene) container(state map[string]any) map[string]any {
	return map[string]any{"name": "main", "restartCount": int64(0), "state": state}
}

// waiting has the first container wait for something.
func waiting(reason, message string) fault {
	return func(s *scene) (string, []string) {
		ref := s.podStatus(map[string]any{"phase": "Pending", "containerStatuses": []any{
			s.container(map[string]any{"waiting": map[string]any{"reason": reason, "message": message}}),
		}}, notReady)
		return ref, []string{reason, message}
	}
}

func missingSecret(s *scene) (string, []string) {
	return waiting("CreateContainerConfigError", `secret "login" not found`)(s)
}

// ended has the first container end, and start again and again.
func ended(reason string, code int64) fault {
	return func(s *scene) (string, []string) {
		dead := map[string]any{"terminated": map[string]any{"reason": reason, "exitCode": code, "finishedAt": s.Now().UTC().Format(time.RFC3339)}}
		status := s.container(map[string]any{"waiting": map[string]any{"reason": "CrashLoopBackOff", "message": "back-off 5m0s"}})
		status["lastState"] = dead
		ref := s.podStatus(map[string]any{"phase": "Running", "containerStatuses": []any{status}}, notReady)
		return ref, []string{"CrashLoopBackOff", reason}
	}
}

// event has the Pod start, and an event say why it does not go on.
func event(reason, message string) fault {
	return func(s *scene) (string, []string) {
		ref := s.podStatus(map[string]any{"phase": "Pending", "containerStatuses": []any{
			s.container(map[string]any{"waiting": map[string]any{"reason": "ContainerCreating"}}),
		}}, notReady)
		s.warn(s.pod(), reason, message)
		s.warn(s.pod(), "Allocated", "this is no trouble")
		s.extra[len(s.extra)-1].Object["type"] = "Normal"
		return ref, []string{"event", reason, message}
	}
}

func missingVolume(s *scene) (string, []string) {
	return event("FailedMount", `MountVolume.SetUp failed for volume "config" : configmap "settings" not found`)(s)
}

func newEvents(s *scene) (string, []string) {
	ref, words := event("FailedAttachVolume", "volume is attached to another node")(s)
	last := s.extra[len(s.extra)-2].Object
	last["apiVersion"], last["regarding"], last["note"] = "events.k8s.io/v1", last["involvedObject"], last["message"]
	last["eventTime"] = last["firstTimestamp"]
	for _, field := range []string{"involvedObject", "message", "firstTimestamp", "lastTimestamp"} {
		delete(last, field)
	}
	return ref, words
}

func lostNode(s *scene) (string, []string) {
	s.podStatus(map[string]any{"phase": "Running"}, notReady)
	node, _, _ := unstructured.NestedString(s.pod().Object, "spec", "nodeName")
	s.extra = append(s.extra, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": node, "uid": "node"},
		"status": map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown", "message": "Kubelet stopped posting node status.", "lastTransitionTime": s.Now().UTC().Format(time.RFC3339)}}},
	}})
	return "Node/" + node, []string{"Ready=Unknown", "NodeStatusUnknown", "Kubelet stopped"}
}

func parentFinalizer(s *scene) (string, []string) {
	s.apply()
	require.NoError(s, s.Play())
	s.replace(s.parent(), func(fields map[string]any) {
		metadata := fields["metadata"].(map[string]any)
		metadata["deletionTimestamp"] = s.Now().UTC().Format(time.RFC3339)
		metadata["finalizers"] = []any{"example.com/audit"}
	})
	return s.parentRef(), []string{"Deleting", "example.com/audit"}
}

// TestConverged: a sample that has converged has no cause.
func TestConverged(t *testing.T) {
	for _, kind := range kinds {
		s := begin(t, kind)
		s.apply()
		require.NoError(t, s.Play())
		answer := s.answer()
		require.Empty(t, answer.Because, kind)
		require.Empty(t, answer.NotSeen, kind)
		var text strings.Builder
		answer.Text(&text)
		require.Contains(t, text.String(), "Ready, nothing holds it", kind)
	}
}
