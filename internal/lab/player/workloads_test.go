package player

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/metacontroller"
)

// plain plays one child that the hook never changes, until it converges.
func plain(t *testing.T, kind metacontroller.Child, child map[string]any, faults ...Action) *World {
	t.Helper()
	y := newToy(kind)
	y.sync = func(request) any { return answer(true, child) }
	w := y.world(t, func(o *Options) { o.Actions = faults })
	require.NoError(t, w.Play())
	require.Empty(t, w.Outcomes()[0].Failure)
	return w
}

// told returns what the story says of one object, without repetition.
func told(w *World, name string) []string {
	var lines []string
	for _, line := range story(w) {
		if _, rest, found := strings.Cut(line, " "+name+" "); found && rest != "is over" && (len(lines) == 0 || lines[len(lines)-1] != rest) {
			lines = append(lines, rest)
		}
	}
	return lines
}

func statefulSet(spec map[string]any) map[string]any {
	whole := map[string]any{
		"serviceName": "db", "selector": map[string]any{"matchLabels": map[string]any{"a": "b"}}, "template": template("x:1"),
	}
	for key, value := range spec {
		whole[key] = value
	}
	return object("apps/v1", "StatefulSet", "db", map[string]any{"spec": whole})
}

func job(spec map[string]any) map[string]any {
	whole := map[string]any{"template": map[string]any{"spec": podSpec("x:1", "Never")}}
	for key, value := range spec {
		whole[key] = value
	}
	return object("batch/v1", "Job", "j", map[string]any{"spec": whole})
}

var (
	statefulSets = child("apps/v1", "StatefulSet", "statefulsets", metacontroller.InPlace)
	daemonSets   = child("apps/v1", "DaemonSet", "daemonsets", metacontroller.InPlace)
)

func TestDeploymentBecomesReadyStepByStep(t *testing.T) {
	d := deployment("web", "x:1", 2)
	d["spec"].(map[string]any)["minReadySeconds"] = 5
	w := plain(t, deployments, d)
	require.Equal(t, []string{"created by the hook", "0/2 ready, 0 updated", "0/2 ready", "2/2 ready, 0 available", "2/2 ready"}, told(w, "Deployment/web"))
	require.Regexp(t, `^"ReplicaSet \\"web-\w+\\" has successfully progressed."$`,
		mustJSON(t, kube.ConditionOf(w.Get(ref("apps/v1", "Deployment", "web")), "Progressing").Message))
}

// TestReplicaSetKeepsItsNumber of Pods, and gives new ones the template that it has by then.
func TestReplicaSetKeepsItsNumber(t *testing.T) {
	y := newToy(child("apps/v1", "ReplicaSet", "replicasets", metacontroller.InPlace))
	replicas, image := 2, "x:1"
	y.sync = func(request) any {
		return answer(true, object("apps/v1", "ReplicaSet", "web", map[string]any{"spec": map[string]any{
			"replicas": replicas, "minReadySeconds": 5, "selector": map[string]any{"matchLabels": map[string]any{"a": "b"}}, "template": template(image),
		}}))
	}
	w := y.world(t)
	require.NoError(t, w.Play())
	require.Equal(t, []string{"created by the hook", "0/2 ready, 0 updated", "0/2 ready", "2/2 ready, 0 available", "2/2 ready"}, told(w, "ReplicaSet/web"))

	images := func() (list []string) {
		for _, pod := range w.server.List("v1", "Pod") {
			containers, _, _ := unstructured.NestedSlice(pod.Object, "spec", "containers")
			list = append(list, containers[0].(map[string]any)["image"].(string))
		}
		return list
	}
	image, replicas = "x:2", 3
	apply(t, w, `{apiVersion: toys.example.com/v1, kind: Toy, metadata: {name: t}, spec: {x: 1}}`)
	require.NoError(t, w.Play())
	require.ElementsMatch(t, []string{"x:1", "x:1", "x:2"}, images())
	require.NoError(t, w.Delete(kube.RefOf(w.server.List("v1", "Pod")[0])))
	require.NoError(t, w.Play())
	require.Len(t, images(), 3)
	replicas = 0
	apply(t, w, `{apiVersion: toys.example.com/v1, kind: Toy, metadata: {name: t}, spec: {x: 2}}`)
	require.NoError(t, w.Play())
	require.Empty(t, images())
	require.Equal(t, "0/0 ready", kube.Progress(w.Get(ref("apps/v1", "ReplicaSet", "web"))))
}

func TestDeploymentPastItsDeadline(t *testing.T) {
	w := plain(t, deployments, deployment("web", "x:1", 2), Action{Do: Fail, Target: "Deployment/web"})
	d := w.Get(ref("apps/v1", "Deployment", "web"))
	progressing := kube.ConditionOf(d, "Progressing")
	require.Equal(t, "False", progressing.Status)
	require.Equal(t, "ProgressDeadlineExceeded", progressing.Reason)
	require.Regexp(t, `^ReplicaSet "web-\w+" has timed out progressing.$`, progressing.Message)
	require.Equal(t, "Deployment does not have minimum availability.", kube.ConditionOf(d, "Available").Message)
	require.Greater(t, w.Now().Sub(start), 10*time.Minute)
	require.Empty(t, w.InVain())
}

// TestDeploymentRollsWithinItsLimits watches the number of Pods in every step
// of a change of the template.
func TestDeploymentRollsWithinItsLimits(t *testing.T) {
	for _, c := range []struct {
		surge, unavailable any
		least, most        int64
	}{{1, 0, 4, 5}, {0, 1, 3, 4}, {"50%", "25%", 3, 6}} {
		y := newToy(deployments)
		y.sync = func(r request) any {
			d := deployment("web", fmt.Sprintf("x:%d", r.generation()), 4)
			d["spec"].(map[string]any)["strategy"] = map[string]any{"rollingUpdate": map[string]any{"maxSurge": c.surge, "maxUnavailable": c.unavailable}}
			return answer(true, d)
		}
		w := y.world(t)
		require.NoError(t, w.Play())
		apply(t, w, `{apiVersion: toys.example.com/v1, kind: Toy, metadata: {name: t}, spec: {x: 1}}`)
		least, most := int64(100), int64(0)
		for w.Step() || w.wait() {
			var ready, all int64
			for _, pod := range w.server.List("v1", "Pod") {
				if pod.GetDeletionTimestamp() == nil {
					all++
					if kube.ConditionOf(pod, "Ready").Status == "True" {
						ready++
					}
				}
			}
			least, most = min(least, ready), max(most, all)
		}
		require.Equal(t, c.least, least, "ready with %v/%v", c.surge, c.unavailable)
		require.Equal(t, c.most, most, "Pods with %v/%v", c.surge, c.unavailable)
		for _, pod := range w.server.List("v1", "Pod") {
			require.Equal(t, "x:2", podImage(t, pod))
		}
		require.Equal(t, `"2"`, text(t, w.Get(ref("apps/v1", "Deployment", "web")), "metadata", "annotations", "deployment.kubernetes.io/revision"))
	}
}

func TestRecreateTakesAllDownFirst(t *testing.T) {
	y := newToy(deployments)
	y.sync = func(r request) any {
		d := deployment("web", fmt.Sprintf("x:%d", r.generation()), 2)
		d["spec"].(map[string]any)["strategy"] = map[string]any{"type": "Recreate"}
		return answer(true, d)
	}
	w := y.world(t)
	require.NoError(t, w.Play())
	apply(t, w, `{apiVersion: toys.example.com/v1, kind: Toy, metadata: {name: t}, spec: {x: 1}}`)
	for w.Step() {
		images := map[string]bool{}
		for _, pod := range w.server.List("v1", "Pod") {
			images[podImage(t, pod)] = true
		}
		require.LessOrEqual(t, len(images), 1, "old and new Pods at once")
	}
	for _, pod := range w.server.List("v1", "Pod") {
		require.Equal(t, "x:2", podImage(t, pod))
	}
}

// podImage returns the image of a Pod's only container.
func podImage(t *testing.T, pod kube.Object) string {
	t.Helper()
	containers, _ := pod.Object["spec"].(map[string]any)["containers"].([]any)
	require.Len(t, containers, 1)
	image, _ := containers[0].(map[string]any)["image"].(string)
	return image
}

func TestScalingDown(t *testing.T) {
	y := newToy(deployments)
	y.sync = func(r request) any { return answer(true, deployment("web", "x:1", 4-3*(r.generation()-1))) }
	w := y.world(t)
	require.NoError(t, w.Play())
	require.Len(t, w.server.List("v1", "Pod"), 4)
	apply(t, w, `{apiVersion: toys.example.com/v1, kind: Toy, metadata: {name: t}, spec: {x: 1}}`)
	require.NoError(t, w.Play())
	require.Len(t, w.server.List("v1", "Pod"), 1)
}

func TestStatefulSetStartsInOrderAndRollsFromTheEnd(t *testing.T) {
	y := newToy(statefulSets)
	y.sync = func(r request) any {
		return answer(true, statefulSet(map[string]any{"replicas": 3, "template": template(fmt.Sprintf("x:%d", r.generation()))}))
	}
	w := y.world(t)
	require.NoError(t, w.Play())
	require.Equal(t, []string{"db-0", "db-1", "db-2"}, podsInOrder(w, Created, 0))
	from := len(w.Steps)
	apply(t, w, `{apiVersion: toys.example.com/v1, kind: Toy, metadata: {name: t}, spec: {x: 1}}`)
	require.NoError(t, w.Play())
	require.Equal(t, []string{"db-2", "db-1", "db-0"}, podsInOrder(w, Deleted, from))
	require.Equal(t, `3`, text(t, w.Get(ref("apps/v1", "StatefulSet", "db")), "status", "updatedReplicas"))
}

func podsInOrder(w *World, verb Verb, from int) []string {
	var names []string
	for _, step := range w.Steps[from:] {
		for _, e := range step.Events {
			if e.Verb == verb && e.Object.GetKind() == "Pod" {
				names = append(names, e.Object.GetName())
			}
		}
	}
	return names
}

func TestClaimsStayUnlessTheRetentionPolicySaysOtherwise(t *testing.T) {
	for policy, stays := range map[string]bool{"Retain": true, "Delete": false} {
		w := plain(t, statefulSets, statefulSet(map[string]any{
			"persistentVolumeClaimRetentionPolicy": map[string]any{"whenDeleted": policy},
			"volumeClaimTemplates": []any{object("v1", "PersistentVolumeClaim", "data", map[string]any{"spec": map[string]any{
				"accessModes": []any{"ReadWriteOnce"}, "volumeMode": "Filesystem",
				"resources": map[string]any{"requests": map[string]any{"storage": "1Gi"}},
			}, "status": map[string]any{"phase": "Pending"}})},
		}))
		claim := ref("v1", "PersistentVolumeClaim", "data-db-0")
		require.Equal(t, "Bound", kube.Progress(w.Get(claim)))
		w.DeleteParents()
		require.NoError(t, w.Play())
		require.Equal(t, stays, w.Get(claim) != nil, policy)
		require.Nil(t, w.Get(ref("v1", "Pod", "db-0")))
	}
}

func TestDaemonSetRunsOnItsOneNode(t *testing.T) {
	w := plain(t, daemonSets, object("apps/v1", "DaemonSet", "agent", map[string]any{"spec": map[string]any{
		"selector": map[string]any{"matchLabels": map[string]any{"a": "b"}}, "template": template("x:1"),
	}}))
	require.Equal(t, "1/1 ready", kube.Progress(w.Get(ref("apps/v1", "DaemonSet", "agent"))))
}

func TestPodThatServes(t *testing.T) {
	pod := object("v1", "Pod", "p", map[string]any{"spec": podSpec("x:1", "Always")})
	require.Equal(t, []string{"created by the hook", "pending", "scheduled", "running, not ready", "ready"},
		dedupe(told(plain(t, pods, pod), "Pod/p"), "changed by Kubernetes", "pending"))
	require.Equal(t, "running, not ready", kube.Progress(plain(t, pods, pod, Action{Do: Fail, Target: "Pod/p"}).Get(ref("v1", "Pod", "p"))))
}

// dedupe leaves a line out, and puts another after the first.
func dedupe(lines []string, without, second string) []string {
	list := []string{lines[0], second}
	for _, line := range lines[1:] {
		if line != without {
			list = append(list, line)
		}
	}
	return list
}

func TestPodThatEnds(t *testing.T) {
	pod := object("v1", "Pod", "p", map[string]any{"spec": podSpec("x:1", "Never")})
	for want, faults := range map[string][]Action{
		"succeeded":      nil,
		"failed":         {{Do: Fail, Target: "Pod/p"}},
		"ready":          {{Do: Hold, Target: "Pod/p"}},
		"failed Evicted": {{Do: Hold, Target: "Pod/p"}, {Do: Evict, Target: "Pod/p"}},
	} {
		require.Equal(t, want, kube.Progress(plain(t, pods, pod, faults...).Get(ref("v1", "Pod", "p"))), want)
	}
}

func TestDeletedPodsTakeAMomentAndTheirNamesStayTaken(t *testing.T) {
	pod := object("v1", "Pod", "p", map[string]any{"spec": podSpec("x:1", "Always")})
	w := plain(t, pods, pod, Action{Do: Vanish, Target: "Pod/p"})
	require.Contains(t, told(w, "Pod/p"), "deleting by a person")
	require.Equal(t, "ready", kube.Progress(w.Get(ref("v1", "Pod", "p"))))
}

func TestLoadBalancerGetsItsAddress(t *testing.T) {
	service := object("v1", "Service", "s", map[string]any{"spec": map[string]any{
		"type": "LoadBalancer", "ports": []any{map[string]any{"port": 80}},
	}})
	require.Equal(t, "load balancer at 203.0.113.2", kube.Progress(plain(t, services, service).Get(ref("v1", "Service", "s"))))
	require.Empty(t, kube.Progress(plain(t, services, service, Action{Do: Fail, Target: "Service/s"}).Get(ref("v1", "Service", "s"))))
}

func TestObjectInAnotherNamespaceThanItsOwnerIsCollected(t *testing.T) {
	y := newToy(configMaps)
	y.sync = func(request) any {
		c := configMap("c", "1")
		c["metadata"].(map[string]any)["namespace"] = "elsewhere"
		return answer(true, c)
	}
	w := y.world(t, func(o *Options) { o.MaxSteps = 20 })
	for range 5 {
		w.Step()
	}
	require.Nil(t, w.Get(kube.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "elsewhere", Name: "c"}))
}
