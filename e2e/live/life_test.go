package live

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
)

// modelBox returns a ModelBox named box with further fields.
func modelBox(fields string) string {
	return `{apiVersion: model.github.com/v1, kind: ModelBox, metadata: {name: box}, spec: {` + fields + `}}`
}

// podSet returns a PodSet named set with further fields.
func podSet(fields string) string {
	return `{apiVersion: apps.jicki.cn/v1alpha1, kind: PodSet, metadata: {name: set}, spec: {` + fields + `}}`
}

// smallProduct is a DataService of two components.
const smallProduct = `{apiVersion: d3os-product.com.d3os/v1, kind: DataService, metadata: {name: small}, spec: {
	eureka: {image: eureka, replica: 1}, proxy: {image: proxy, replica: 1, config: {extra.yml: "a: 1"}}}}`

// uids returns the UIDs of the objects of some kinds, by kind and name.
func (w *world) uids(kinds string) map[string]string {
	w.Helper()
	uids := map[string]string{}
	for _, item := range w.list(kinds, "!provider,!component") {
		if at(item, "metadata", "deletionTimestamp") == nil {
			uids[fmt.Sprint(at(item, "kind"), "/", at(item, "metadata", "name"))] = fmt.Sprint(at(item, "metadata", "uid"))
		}
	}
	return uids
}

// until waits until a field of an object has a value.
func (w *world) until(kind, name string, want any, path ...any) {
	w.Helper()
	w.eventually(fmt.Sprint(kind, "/", name, " ", path), func() error {
		if is := at(w.get(kind, name), path...); fmt.Sprint(is) != fmt.Sprint(want) {
			return fmt.Errorf("it is %v, and %v is wanted", is, want)
		}
		return nil
	})
}

// testDrift edits and deletes children by hand: fields of the hook are restored, fields of
// others are kept.
func testDrift(w *world) {
	w.apply(modelBox(`image: "nginx:1", ports: [{port: 80}]`))
	w.apply(podSet(`size: 2`))
	w.apply(smallProduct)
	w.ready("modelbox/box", "podset/set", "dataservice/small")

	before := w.uids("services,configmaps,pods")
	w.kubectl("delete", "service/box", "configmap/proxy", "pod/set-1")
	w.eventually("the deleted children are created again", func() error {
		now := w.uids("services,configmaps,pods")
		for _, ref := range []string{"Service/box", "ConfigMap/proxy"} {
			if now[ref] == "" || now[ref] == before[ref] {
				return fmt.Errorf("%s is not back", ref)
			}
		}
		return nil
	})

	w.kubectl("set", "image", "deployment/box", "box=nginx:drifted")
	w.until("deployment", "box", "nginx:1", "spec", "template", "spec", "containers", 0, "image")
	w.kubectl("patch", "configmap", "proxy", "--patch", `{"data":{"extra.yml":"a: 2","foreign":"stays"}}`)
	w.until("configmap", "proxy", "a: 1", "data", "extra.yml")

	w.kubectl("scale", "deployment/box", "--replicas=3")
	w.kubectl("label", "deployment/box", "example.com/mesh=on")
	w.kubectl("annotate", "service/box", "example.com/mesh=on")
	w.kubectl("annotate", "modelbox/box", "example.com/touched=1")
	w.ready("modelbox/box", "podset/set", "dataservice/small")
	w.settle()
	require.EqualValues(w, 3, at(w.get("deployment", "box"), "spec", "replicas"), "the replicas of the autoscaler were overwritten")
	require.Equal(w, "on", at(w.get("deployment", "box"), "metadata", "labels", "example.com/mesh"))
	require.Equal(w, "on", at(w.get("service", "box"), "metadata", "annotations", "example.com/mesh"))
	require.Equal(w, "stays", at(w.get("configmap", "proxy"), "data", "foreign"))
}

// testForeignObject creates an object with the name of a child.
func testForeignObject(w *world) {
	w.apply(`{apiVersion: v1, kind: Service, metadata: {name: box}, spec: {ports: [{port: 1}]}}`)
	w.apply(modelBox(`image: "nginx:1", ports: [{port: 80}]`))
	w.eventually("Ready names the foreign object", func() error {
		if ready := w.condition("modelbox", "box", "Ready"); !strings.HasPrefix(ready, "False ChildBlocked: Service/box not created after 30s") {
			return fmt.Errorf("Ready is %s", ready)
		}
		return nil
	})
	require.EqualValues(w, 1, at(w.get("service", "box"), "spec", "ports", 0, "port"), "the foreign object was taken over")
	w.kubectl("delete", "service/box")
	w.ready("modelbox/box")
}

func testPodSetScalesAndRolls(w *world) {
	template := func(image string) string {
		return `template: {spec: {containers: [{name: main, image: "` + image + `"}]}}`
	}
	names := func() []string {
		nodes, _ := at(w.get("podset", "set"), "status", "nodes").([]any)
		var list []string
		for _, node := range nodes {
			list = append(list, node.(string))
		}
		return list
	}
	w.apply(podSet(`size: 5, ` + template("one")))
	w.ready("podset/set")
	require.Equal(w, []string{"set-0", "set-1", "set-2", "set-3", "set-4"}, names())
	five := w.uids("pods")
	w.kubectl("scale", "podset/set", "--replicas=3")
	w.until("podset", "set", "3/3", "status", "ready")
	three := w.uids("pods")
	require.Len(w, three, 3)
	w.kubectl("scale", "podset/set", "--replicas=5")
	w.until("podset", "set", "5/5", "status", "ready")
	again := w.uids("pods")
	for name, uid := range three {
		require.Equal(w, five[name], uid)
		require.Equal(w, five[name], again[name], "a survivor was replaced")
	}
	w.apply(podSet(`size: 5, maxUnavailable: 2, ` + template("two")))
	w.until("podset", "set", 5, "status", "updatedReplicas")
	w.ready("podset/set")
	require.Len(w, w.uids("pods"), 5)
	require.NotContains(w, w.kubectl("get", "pods", "--output=jsonpath={.items[*].spec.containers[0].image}"), "one")
}

func testBuildRunsTheNewestRevisionOnce(w *world) {
	want := func(revision, fields string) {
		w.apply(`{apiVersion: ci.zt.vapi.cc/v1, kind: Build, metadata: {name: shop}, spec: {image: golang, script: make` + fields +
			`, source: {git: {url: "https://git.example.com/shop", revision: ` + revision + `}}}}`)
		w.until("build", "shop", revision, "status", "revision")
		w.ready("build/shop")
	}
	history := func() string {
		return w.kubectl("get", "build", "shop", "--output=jsonpath={range .status.history[*]}{.revision}:{.result} {end}")
	}
	want("v1", "")
	want("v2", "")
	require.Equal(w, "v2:Succeeded v1:Succeeded ", history())
	want("v1", "")
	require.Contains(w, w.condition("build", "shop", "Ready"), "True AlreadyBuilt")
	require.Len(w, w.uids("jobs"), 2)
	w.kubectl("delete", "jobs", "--all", "--wait")
	w.settle()
	require.Empty(w, w.uids("jobs"), "a finished build runs again")
	want("v1", `, runId: again`)
	w.until("build", "shop", "True", "status", "conditions", 0, "status")
	require.Len(w, w.uids("jobs"), 1)
}

// testCascades deletes with the propagation policies Foreground and Orphan, a custom
// resource with a finalizer and one without.
func testCascades(w *world) {
	begin := func() {
		w.apply(modelBox(`image: "nginx:1", replicas: 1`))
		w.apply(smallProduct)
		w.ready("modelbox/box", "dataservice/small")
	}
	begin()
	w.kubectl("delete", "modelbox/box", "dataservice/small", "--cascade=foreground", "--timeout="+patience.String())
	require.Empty(w, w.uids("deployments,services,pods"))

	begin()
	before := w.uids("deployments,services,pods")
	w.kubectl("delete", "modelbox/box", "dataservice/small", "--cascade=orphan", "--timeout="+patience.String())
	w.settle()
	require.Equal(w, before, w.uids("deployments,services,pods"))
	w.kubectl("delete", "deployments,services", "--all")
}

// testFinishedMyJobIsNotRunAgain deletes the Pod of a MyJob, while it runs and
// when it is done.
func testFinishedMyJobIsNotRunAgain(w *world) {
	w.apply(`{apiVersion: myjob.github.com/v1beta1, kind: MyJob, metadata: {name: done}, spec: {template: {spec: {containers: [{name: a, image: b}]}}}}`)
	w.apply(`{apiVersion: myjob.github.com/v1beta1, kind: MyJob, metadata: {name: cut}, spec: {template: {
		metadata: {annotations: {operetta.dev/keep-running: "true"}}, spec: {containers: [{name: a, image: b}]}}}}`)
	w.ready("myjob/done")
	w.until("myjob", "cut", "running", "status", "phase")
	w.until("pod", "cut", "Running", "status", "phase")
	w.kubectl("delete", "pod/done", "pod/cut")
	w.until("myjob", "cut", "Failed", "status", "result")
	w.settle()
	// A request that was sent before the cache had this status withdraws it until the Pod has
	// been missing for some time.
	w.until("myjob", "cut", "Failed", "status", "result")
	require.Empty(w, w.uids("pods"))
	require.Contains(w, w.condition("myjob", "done", "Ready"), "True Succeeded")
	require.True(w, slices.Contains([]any{"PodDeleted", "PodLost"}, at(w.get("myjob", "cut"), "status", "reason")))
}
