package player

import (
	"fmt"
	"strings"
	"testing"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/metacontroller"
)

var (
	autoscalers = metacontroller.Child{Resource: metacontroller.HorizontalPodAutoscaler, Update: metacontroller.InPlace}
	budgets     = metacontroller.Child{Resource: metacontroller.PodDisruptionBudget, Update: metacontroller.InPlace}
	cronJobs    = metacontroller.Child{Resource: metacontroller.CronJob, Update: metacontroller.InPlace}
	ingresses   = metacontroller.Child{Resource: metacontroller.Ingress, Update: metacontroller.InPlace}
	replicaSets = metacontroller.Child{Resource: metacontroller.ReplicaSet, Update: metacontroller.InPlace}
)

func autoscaler(apiVersion, kind, name string) map[string]any {
	return object("autoscaling/v2", "HorizontalPodAutoscaler", "web", map[string]any{"spec": map[string]any{
		"minReplicas": 2, "maxReplicas": 6, "scaleTargetRef": map[string]any{"apiVersion": apiVersion, "kind": kind, "name": name},
	}})
}

// do performs an action, and plays on.
func do(t *testing.T, w *World, text string) {
	t.Helper()
	action, err := ParseAction(text)
	require.NoError(t, err)
	require.True(t, w.Do(action), text)
	require.NoError(t, w.Play())
}

// TestAutoscalerScalesItsTarget, whatever has a number of replicas, as far as the metric that a
// story sets asks for.
func TestAutoscalerScalesItsTarget(t *testing.T) {
	for _, apply := range []Strategy{DynamicApply, ServerSideApply} {
		for _, child := range []map[string]any{
			deployment("web", "x:1", nil), statefulSet(map[string]any{"podManagementPolicy": "Parallel"}),
			object("apps/v1", "ReplicaSet", "web", map[string]any{"spec": deployment("web", "x:1", nil)["spec"]}),
		} {
			kind := child["kind"].(string)
			name := child["metadata"].(map[string]any)["name"].(string)
			t.Run(kind+"/"+string(apply), func(t *testing.T) {
				y := newToy(deployments, statefulSets, replicaSets, autoscalers)
				y.sync = func(request) any { return answer(true, child, autoscaler("apps/v1", kind, name)) }
				w := y.world(t, func(o *Options) { o.Apply = apply })
				require.NoError(t, w.Play())
				at := ref("apps/v1", kind, name)
				hpa := kube.Ref{APIVersion: "autoscaling/v2", Kind: "HorizontalPodAutoscaler", Namespace: "default", Name: "web"}
				require.Equal(t, "2", text(t, w.Get(at), "spec", "replicas"), "at least")
				require.Equal(t, "2 of 2 replicas", kube.Progress(w.Get(hpa)))
				for _, step := range []struct {
					percent  int
					replicas string
				}{{180, "4"}, {105, "4"}, {1000, "6"}, {100, "6"}, {50, "3"}, {0, "2"}} {
					do(t, w, fmt.Sprintf("metric web %d", step.percent))
					require.Equal(t, step.replicas, text(t, w.Get(at), "spec", "replicas"), "%d%%", step.percent)
					require.Equal(t, step.replicas, text(t, w.Get(at), "status", "readyReplicas"))
				}
				managed := text(t, w.Get(at), "metadata", "managedFields")
				require.Contains(t, managed, `{"apiVersion":"apps/v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{}}},"manager":"kube-controller-manager","operation":"Update","subresource":"scale"}`)
				require.Equal(t, apply == ServerSideApply, strings.Contains(managed, `"operation":"Apply"`))
			})
		}
	}
}

// TestAutoscalerTakesTheNumber that was applied, and loses it to who applies another.
func TestAutoscalerTakesTheNumber(t *testing.T) {
	var replicas any = 3
	y := newToy(deployments, autoscalers)
	y.sync = func(request) any {
		return answer(true, deployment("web", "x:1", replicas), autoscaler("apps/v1", "Deployment", "web"))
	}
	w := y.world(t, func(o *Options) { o.Apply = ServerSideApply })
	require.NoError(t, w.Play())
	web := ref("apps/v1", "Deployment", "web")
	require.Contains(t, text(t, w.Get(web), "metadata", "managedFields"), "f:replicas")
	replicas = nil
	action, _ := ParseAction("metric web 150")
	require.True(t, w.Do(action))
	w.Step()
	managed := text(t, w.Get(web), "metadata", "managedFields")
	require.Equal(t, 1, strings.Count(managed, "f:replicas"), managed)
	require.NoError(t, w.Play())
	require.Equal(t, "5", text(t, w.Get(web), "spec", "replicas"))
	replicas = 4
	apply(t, w, `{apiVersion: toys.example.com/v1, kind: Toy, metadata: {name: t}, spec: {x: 1}}`)
	require.NoError(t, w.Play())
	require.Equal(t, "4", text(t, w.Get(web), "spec", "replicas"))
	require.NotContains(t, text(t, w.Get(web), "metadata", "managedFields"), "kube-controller-manager")
}

func TestAutoscalerOfACustomResource(t *testing.T) {
	y := newToy(deployments)
	y.CRD = metacontroller.NewCRD([]byte(strings.NewReplacer("{status: {}}", "{status: {}, scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size}}",
		`{type: integer, x-kubernetes-validations: [{rule: "self >= oldSelf", message: "a toy does not shrink"}]}`, "{type: integer, default: 3}").Replace(toyCRD)))
	y.sync = func(r request) any {
		return answer(true, deployment("web", "x:1", r.Parent["spec"].(map[string]any)["size"]))
	}
	w := y.world(t)
	apply(t, w, string(toJSON(t, `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web},
		spec: {minReplicas: 2, maxReplicas: 6, scaleTargetRef: {apiVersion: toys.example.com/v1, kind: Toy, name: t}}}`)))
	require.NoError(t, w.Play())
	do(t, w, "metric web 200")
	require.Equal(t, "6", text(t, w.Get(toyRef), "spec", "size"))
	require.Equal(t, "6", text(t, w.Get(ref("apps/v1", "Deployment", "web")), "status", "readyReplicas"))
}

// TestAutoscalerSaysWhyItDoesNotScale: there is no target, or it has no number, or is stopped.
func TestAutoscalerSaysWhyItDoesNotScale(t *testing.T) {
	for kind, c := range map[string]struct{ condition, reason string }{
		"Deployment": {"ScalingActive", "ScalingDisabled"}, "DaemonSet": {"AbleToScale", "FailedGetScale"}, "StatefulSet": {"AbleToScale", "FailedGetScale"},
	} {
		y := newToy(deployments, daemonSets, autoscalers)
		daemons := object("apps/v1", "DaemonSet", "web", map[string]any{"spec": deployment("web", "x:1", nil)["spec"]})
		y.sync = func(request) any {
			return answer(true, deployment("web", "x:1", 0), daemons, autoscaler("apps/v1", kind, "web"))
		}
		w := y.world(t)
		require.NoError(t, w.Play())
		hpa := w.List("autoscaling/v2", "HorizontalPodAutoscaler")[0]
		condition := kube.ConditionOf(hpa, c.condition)
		require.Equal(t, []string{"False", c.reason}, []string{condition.Status, condition.Reason}, kind)
	}
}

// TestBudgetCountsAndHoldsBack evictions through the API, and none by a node.
func TestBudgetCountsAndHoldsBack(t *testing.T) {
	for spec, want := range map[string]struct{ healthy, allowed string }{
		"maxUnavailable: 1": {"3", "1"}, "maxUnavailable: 50%": {"2", "2"}, "minAvailable: 4": {"4", "0"}, "minAvailable: 30%": {"2", "2"},
	} {
		y := newToy(deployments, budgets)
		y.sync = func(request) any {
			budget := map[string]any{}
			name, value, _ := strings.Cut(spec, ": ")
			budget[name] = value
			if !strings.Contains(value, "%") {
				budget[name] = int64(value[0] - '0')
			}
			budget["selector"] = map[string]any{"matchLabels": map[string]any{"a": "b"}}
			return answer(true, deployment("web", "x:1", 4), object("policy/v1", "PodDisruptionBudget", "web", map[string]any{"spec": budget}))
		}
		w := y.world(t)
		require.NoError(t, w.Play())
		budget := w.List("policy/v1", "PodDisruptionBudget")[0]
		require.Equal(t, want.healthy, text(t, budget, "status", "desiredHealthy"), spec)
		require.Equal(t, want.allowed, text(t, budget, "status", "disruptionsAllowed"), spec)
		require.Equal(t, "4", text(t, budget, "status", "currentHealthy"))

		drained := 0
		for _, pod := range w.List("v1", "Pod") {
			action, _ := ParseAction("drain " + kube.RefOf(pod).String())
			if w.Do(action) {
				drained++
			}
		}
		require.Equal(t, want.allowed, fmt.Sprint(drained), spec)
		require.NoError(t, w.Play())
		require.Equal(t, want.allowed, text(t, w.List("policy/v1", "PodDisruptionBudget")[0], "status", "disruptionsAllowed"), "they are replaced")
		do(t, w, "evict "+kube.RefOf(w.List("v1", "Pod")[0]).String())
	}
}

// TestCronJobRunsWhenItIsDue, keeps to its policy, and keeps few of its Jobs.
func TestCronJobRunsWhenItIsDue(t *testing.T) {
	for policy, running := range map[string]int{"Allow": 2, "Forbid": 1, "Replace": 1} {
		y := newToy(cronJobs)
		y.sync = func(request) any {
			return answer(true, object("batch/v1", "CronJob", "nightly", map[string]any{"spec": map[string]any{
				"schedule": "0 3 * * *", "concurrencyPolicy": policy, "jobTemplate": map[string]any{"spec": job(nil)["spec"]},
			}}))
		}
		w := y.world(t)
		require.NoError(t, w.Play())
		require.Empty(t, w.List("batch/v1", "Job"), "nothing but a story starts one")
		cron := ref("batch/v1", "CronJob", "nightly")
		for range 5 {
			do(t, w, "due CronJob/nightly")
			do(t, w, "wait 2m")
		}
		require.Len(t, w.List("batch/v1", "Job"), 3)
		require.NotEqual(t, "null", text(t, w.Get(cron), "status", "lastSuccessfulTime"))
		require.Equal(t, "null", text(t, w.Get(cron), "status", "active"))

		w.faults = append(w.faults, newFault(Action{Do: Hold, Target: "CronJob/nightly"}))
		for range 2 {
			do(t, w, "due CronJob/nightly")
			do(t, w, "wait 2m")
		}
		active, _, _ := unstructured.NestedSlice(w.Get(cron).Object, "status", "active")
		require.Len(t, active, running, policy)
	}
}

func TestIngressGetsItsAddress(t *testing.T) {
	w := plain(t, ingresses, object("networking.k8s.io/v1", "Ingress", "web", map[string]any{"spec": map[string]any{"ingressClassName": "x"}}))
	require.Contains(t, text(t, w.Get(ref("networking.k8s.io/v1", "Ingress", "web")), "status", "loadBalancer"), "203.0.113.")
}

// TestProbeOfAnUnknownPortIsNotReady: it can never succeed, and nothing else is wrong.
func TestProbeOfAnUnknownPortIsNotReady(t *testing.T) {
	ports := []any{map[string]any{"name": "http", "containerPort": 80}}
	asks := func(port any) map[string]any { return map[string]any{"httpGet": map[string]any{"port": port}} }
	for name, c := range map[string]struct {
		container map[string]any
		says      string
	}{
		"its port":             {map[string]any{"ports": ports, "readinessProbe": asks("http"), "livenessProbe": asks(80)}, ""},
		"any number":           {map[string]any{"readinessProbe": map[string]any{"tcpSocket": map[string]any{"port": 81}}}, ""},
		"a command":            {map[string]any{"readinessProbe": map[string]any{"exec": map[string]any{"command": []any{"true"}}}}, ""},
		"readiness":            {map[string]any{"ports": ports, "readinessProbe": asks("web")}, "containers with unready status: [c]"},
		"readiness by TCP":     {map[string]any{"readinessProbe": map[string]any{"tcpSocket": map[string]any{"port": "web"}}}, "containers with unready status: [c]"},
		"startup":              {map[string]any{"ports": ports, "startupProbe": asks("web")}, "containers with unready status: [c]"},
		"liveness":             {map[string]any{"ports": ports, "livenessProbe": asks("web")}, "containers with unready status: [c]"},
		"of another container": {map[string]any{"ports": ports, "readinessProbe": asks("side")}, "containers with unready status: [c]"},
	} {
		t.Run(name, func(t *testing.T) {
			d := deployment("web", "x:1", 1)
			c.container["name"], c.container["image"] = "c", "x:1"
			side := map[string]any{"name": "side", "image": "x:1", "ports": []any{map[string]any{"name": "side", "containerPort": 81}}}
			d["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)["containers"] = []any{c.container, side}
			w := plain(t, deployments, d)
			ready := kube.ConditionOf(w.List("v1", "Pod")[0], "Ready")
			require.Equal(t, c.says, ready.Message)
			require.Equal(t, map[bool]string{true: "True", false: "False"}[c.says == ""], ready.Status)
			require.Equal(t, c.says == "", kube.Progress(w.Get(ref("apps/v1", "Deployment", "web"))) == "1/1 ready")
		})
	}
}

// TestEveryBuiltinKindIsActedOn that counts generations, or has no status to wait for.
func TestEveryBuiltinKindIsActedOn(t *testing.T) {
	w := newToy().world(t)
	waits := func(kind metacontroller.Resource) bool {
		one := &unstructured.Unstructured{Object: object(kind.APIVersion, kind.Kind, "x", nil)}
		one.SetGeneration(1)
		return w.builtin.Waits(one)
	}
	for _, kind := range []metacontroller.Resource{
		metacontroller.PersistentVolume, metacontroller.PersistentVolumeClaim, metacontroller.Pod, metacontroller.Service,
		metacontroller.DaemonSet, metacontroller.Deployment, metacontroller.ReplicaSet, metacontroller.StatefulSet,
		metacontroller.CronJob, metacontroller.Job, metacontroller.HorizontalPodAutoscaler, metacontroller.PodDisruptionBudget,
		metacontroller.EndpointSlice, metacontroller.Ingress, metacontroller.NetworkPolicy,
	} {
		require.False(t, waits(kind), kind.Kind)
	}
	require.True(t, waits(named("net.example.com/v1", "Route", "routes")))
}
