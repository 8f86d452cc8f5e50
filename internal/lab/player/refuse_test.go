package player

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/metacontroller"
)

// conditions returns the types, states and reasons of an object's conditions, in their order.
func conditions(object kube.Object) (list []string) {
	for _, c := range kube.ConditionsIn(object.Object["status"]) {
		list = append(list, strings.Join([]string{c.Type, c.Status, c.Reason}, " "))
	}
	return list
}

// warnings returns the Events of a kind of objects.
func warnings(w *World, kind string) (list []string) {
	for _, event := range w.Events() {
		text := func(path ...string) string {
			value, _, _ := unstructured.NestedString(event.Object, path...)
			return value
		}
		if text("involvedObject", "kind") == kind {
			list = append(list, text("source", "component")+" "+text("reason")+" "+text("message"))
		}
	}
	return list
}

// refusing plays a child while Pods are refused, for some steps.
func refusing(t *testing.T, kind metacontroller.Child, child map[string]any, how string) *World {
	t.Helper()
	y := newToy(kind)
	y.sync = func(request) any { return answer(true, child) }
	w := y.world(t)
	action, err := ParseAction(how)
	require.NoError(t, err)
	require.True(t, w.Do(action))
	for range 4 {
		w.Step()
	}
	return w
}

// TestRefusedPodsOfADeployment are told of by its ReplicaSet and at once by the Deployment, beyond
// the progress deadline, and no longer when it is over. One that changes moves to the end.
func TestRefusedPodsOfADeployment(t *testing.T) {
	w := refusing(t, deployments, deployment("web", "x:1", 2), "quota Pod")
	web := ref("apps/v1", "Deployment", "web")
	require.Less(t, w.Now().Sub(start), 10*time.Second)
	require.Equal(t, []string{"Progressing True NewReplicaSetCreated", "Available False MinimumReplicasUnavailable", "ReplicaFailure True FailedCreate"}, conditions(w.Get(web)))
	failure := kube.ConditionOf(w.Get(web), "ReplicaFailure")
	require.Regexp(t, `^pods "web-\w+-\w+" is forbidden: exceeded quota: compute, requested: pods=1, used: pods=0, limited: pods=0$`, failure.Message)
	sets := w.List("apps/v1", "ReplicaSet")
	require.Len(t, sets, 1)
	require.Equal(t, failure, kube.ConditionOf(sets[0], "ReplicaFailure"))
	require.Len(t, warnings(w, "ReplicaSet"), 1)
	require.Regexp(t, `^replicaset-controller FailedCreate Error creating: pods "web-`, warnings(w, "ReplicaSet")[0])

	require.NoError(t, w.Play())
	require.Equal(t, []string{"Available False MinimumReplicasUnavailable", "ReplicaFailure True FailedCreate", "Progressing False ProgressDeadlineExceeded"}, conditions(w.Get(web)))
	require.Equal(t, failure, kube.ConditionOf(w.Get(web), "ReplicaFailure"))

	do(t, w, "quota off")
	require.NoError(t, w.Play())
	require.Equal(t, []string{"Available True MinimumReplicasAvailable", "Progressing True NewReplicaSetAvailable"}, conditions(w.Get(web)))
	require.Empty(t, conditions(w.List("apps/v1", "ReplicaSet")[0]))
}

// TestRefusedReplicaSets of a Deployment are all that its status says.
func TestRefusedReplicaSets(t *testing.T) {
	w := refusing(t, deployments, deployment("web", "x:1", 2), "quota ReplicaSet")
	web := ref("apps/v1", "Deployment", "web")
	require.Equal(t, []string{"Progressing False ReplicaSetCreateError"}, conditions(w.Get(web)))
	require.Regexp(t, `^Failed to create new replica set "(web-\w+)": replicasets.apps "web-\w+" is forbidden: exceeded quota: compute, requested: count/replicasets.apps=1,`,
		kube.ConditionOf(w.Get(web), "Progressing").Message)
	require.Len(t, warnings(w, "Deployment"), 1)
	observed, _, _ := unstructured.NestedInt64(w.Get(web).Object, "status", "observedGeneration")
	require.Zero(t, observed)
	do(t, w, "mend")
	require.NoError(t, w.Play())
	require.Equal(t, []string{"Available True MinimumReplicasAvailable", "Progressing True NewReplicaSetAvailable"}, conditions(w.Get(web)))
}

// TestRefusalsReachOwners has each refusal of Pods with each owner. Only a ReplicaSet has a condition.
func TestRefusalsReachOwners(t *testing.T) {
	replicaSets := child("apps/v1", "ReplicaSet", "replicasets", metacontroller.InPlace)
	set := object("apps/v1", "ReplicaSet", "web", map[string]any{"spec": map[string]any{
		"replicas": 2, "selector": map[string]any{"matchLabels": map[string]any{"a": "b"}}, "template": template("x:1"),
	}})
	daemon := object("apps/v1", "DaemonSet", "web", map[string]any{"spec": map[string]any{
		"selector": map[string]any{"matchLabels": map[string]any{"a": "b"}}, "template": template("x:1"),
	}})
	words := map[string]string{
		"quota Pod":                  `pods "%s" is forbidden: exceeded quota: compute, requested: pods=1, used: pods=0, limited: pods=0`,
		"refuse Pod pod-security":    `pods "%s" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true), seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")`,
		"refuse Pod service-account": `pods "%s" is forbidden: error looking up service account default/default: serviceaccount "default" not found`,
		"refuse Pod webhook":         `admission webhook "validate.example.com" denied the request: the label team is missing`,
	}
	for how, sentence := range words {
		for _, owner := range []struct {
			kind         metacontroller.Child
			child        map[string]any
			asked, named string // in a mutating plugin, and after it
			event        string
		}{
			{replicaSets, set, "web-", "web-00001", "replicaset-controller FailedCreate Error creating: %s"},
			{daemonSets, daemon, "web-", "web-00001", "daemonset-controller FailedCreate Error creating: %s"},
			{jobs, job(nil), "j-", "j-00001", "job-controller FailedCreate Error creating: %s"},
			{statefulSets, statefulSet(nil), "db-0", "db-0", "statefulset-controller FailedCreate Create Pod db-0 in StatefulSet db failed error: %s"},
		} {
			t.Run(how+"/"+owner.kind.Kind, func(t *testing.T) {
				w := refusing(t, owner.kind, owner.child, how)
				name := owner.named
				if strings.HasSuffix(how, "account") {
					name = owner.asked
				}
				said := sentence
				if strings.Contains(said, "%s") {
					said = fmt.Sprintf(sentence, name)
				}
				list := warnings(w, owner.kind.Kind)
				require.Len(t, list, 1)
				normal := func(text string) string { return generatedName.ReplaceAllString(text, "\"$1-00001\"") }
				require.Equal(t, fmt.Sprintf(owner.event, said), normal(list[0]))
				w.Step()
				state := w.List(owner.kind.APIVersion, owner.kind.Kind)[0]
				if owner.kind.Kind == "ReplicaSet" {
					require.Equal(t, []string{"ReplicaFailure True FailedCreate"}, conditions(state))
					require.Equal(t, said, normal(kube.ConditionOf(state, "ReplicaFailure").Message))
				} else {
					require.Empty(t, conditions(state))
				}
				do(t, w, "mend")
				require.NoError(t, w.Play())
				require.Empty(t, slices.DeleteFunc(conditions(w.List(owner.kind.APIVersion, owner.kind.Kind)[0]), func(c string) bool { return !strings.HasPrefix(c, "ReplicaFailure") }))
			})
		}
	}
}

// generatedName is that of a Pod whose owner does not name it.
var generatedName = regexp.MustCompile(`"(web|j)-\w{5}"`)

// TestRefusedChildren are told of by Metacontroller, and what they have made since stays.
func TestRefusedChildren(t *testing.T) {
	for how, words := range map[string]string{
		"refuse Service node-port": `Service "s" is invalid: spec.ports[0].nodePort: Invalid value: 30080: provided port is already allocated`,
		"refuse Service":           `admission webhook "validate.example.com" denied the request: the label team is missing`,
		"quota Service":            `services "s" is forbidden: exceeded quota: compute, requested: services=1, used: services=0, limited: services=0`,
	} {
		for _, apply := range []Strategy{DynamicApply, ServerSideApply} {
			y, number := newToy(services), 80
			y.sync = func(request) any {
				return answer(true, service("NodePort", map[string]any{"port": number, "nodePort": 30080}))
			}
			w := y.world(t, func(o *Options) { o.Apply = apply })
			action, err := ParseAction(how)
			require.NoError(t, err)
			require.True(t, w.Do(action))
			w.Step()
			require.Equal(t, []string{"metacontroller SyncError Sync error: can't reconcile children: " + words}, warnings(w, "Toy"))
			do(t, w, "mend")
			require.NotNil(t, w.Get(ref("v1", "Service", "s")))
			do(t, w, how)
			number++
			editToy(t, w)
			require.NoError(t, w.Play())
			require.Empty(t, w.Outcomes()[0].Failure)
		}
	}
}

// TestImpossibleRefusals are refused when they are read, and told when they refuse nothing.
func TestImpossibleRefusals(t *testing.T) {
	for text, words := range map[string]string{
		"refuse Deployment pod-security": "pod-security is for Pod, not for a Deployment",
		"refuse Pod node-port":           "node-port is for Service, not for a Pod",
		"refuse Pod spite":               `there is no "spite": write pod-security, service-account, webhook, node-port, off`,
	} {
		_, err := ParseAction(text)
		require.ErrorContains(t, err, words)
	}
	_, err := ParseAction("refuse Pod off")
	require.NoError(t, err)
	hard := template("x:1")
	hard["spec"].(map[string]any)["securityContext"] = map[string]any{"runAsNonRoot": true, "seccompProfile": map[string]any{"type": "RuntimeDefault"}}
	hard["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)["securityContext"] = map[string]any{
		"allowPrivilegeEscalation": false, "capabilities": map[string]any{"drop": []any{"ALL"}},
	}
	d := deployment("web", "x:1", 1)
	d["spec"].(map[string]any)["template"] = hard
	w := plain(t, deployments, d, at(t, 0, "refuse Pod pod-security", "refuse Service node-port")...)
	require.Equal(t, []string{
		"refuse Pod pod-security: nobody creates a Pod after that which violates the standard",
		"refuse Service node-port: no Service asks for a node port after that",
	}, []string{w.InVain()[0].String(), w.InVain()[1].String()})
}
