package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// product returns a DataService with eureka and further components.
func product(eureka, others string) string {
	return `{apiVersion: d3os-product.com.d3os/v1, kind: DataService, metadata: {name: small}, spec: {
		eureka: {` + eureka + `}, proxy: {image: proxy, replica: 1, config: {extra.yml: "a: 1"}}` + others + `}}`
}

// movedOut are the fields of a eureka that runs elsewhere.
const movedOut = `thirdParty: {url: "http://eureka.example.com"}`

// oldChildren are the children of a component that runs elsewhere now. They are kept until
// all that depends on it is ready.
var oldChildren = []string{"deployment/eureka", "service/eureka"}

// keepOld prepares a DataService that will keep the children of eureka: a quota admits no
// further Deployment, so that one more component is never ready.
func (w *world) keepOld() {
	w.Helper()
	w.apply(product("image: eureka", ""))
	w.ready("dataservice/small")
	w.kubectl("scale", "deployment/eureka", "--replicas=3")
	w.kubectl("wait", "deployment/eureka", "--for=jsonpath={.status.readyReplicas}=3", "--timeout="+patience.String())
	w.kubectl("label", "deployment/eureka", "example.com/mesh=on")
	w.ready("dataservice/small")
	w.settle()
	w.kubectl("create", "quota", "no-more", "--hard=count/deployments.apps=2")
	w.kubectl("wait", "quota/no-more", `--for=jsonpath={.status.used.count/deployments\.apps}=2`, "--timeout="+patience.String())
}

// versions returns the resourceVersions of objects.
func (w *world) versions(refs ...string) map[string]string {
	w.Helper()
	versions := map[string]string{}
	for _, ref := range refs {
		kind, name, _ := strings.Cut(ref, "/")
		object := w.get(kind, name)
		require.NotNil(w, object, ref)
		versions[ref] = fmt.Sprint(at(object, "metadata", "resourceVersion"))
	}
	return versions
}

// syncAgain makes Metacontroller sync a custom resource three times.
func (w *world) syncAgain(name string) {
	w.Helper()
	kind, object, _ := strings.Cut(name, "/")
	for i := range 3 {
		offset := auditEnd(w)
		w.kubectl("annotate", "--overwrite", name, fmt.Sprintf("example.com/again=%d-%d", offset, i))
		w.eventually("the custom resource is synced again", func() error {
			list, _ := w.requests(offset)
			for _, r := range list {
				if r.Verb == "get" && strings.HasPrefix(r.ObjectRef.Resource, kind) && r.ObjectRef.Name == object {
					return nil
				}
			}
			return fmt.Errorf("it was not read since")
		})
	}
}

// testKeptChildIsNotWritten keeps children with fields of other field managers, such as
// the replicas of an autoscaler, and with defaulted fields. Metacontroller must not
// write them, and the fields of others must stay.
func testKeptChildIsNotWritten(w *world) {
	w.keepOld()
	before := w.versions(oldChildren...)
	managed := w.get("deployment", "eureka")
	w.apply(product(movedOut, ", gateway-web: {image: gateway, replica: 1}"))
	w.eventually("the new component is asked for", func() error {
		if ready := w.condition("dataservice", "small", "Ready"); !strings.HasPrefix(ready, "False ") {
			return fmt.Errorf("Ready is %s", ready)
		}
		return nil
	})
	w.syncAgain("dataservices/small")
	require.Equal(w, before, w.versions(oldChildren...), "a kept child was written")
	require.Equal(w, at(managed, "metadata", "managedFields"), at(w.get("deployment", "eureka"), "metadata", "managedFields"))

	w.kubectl("scale", "deployment/eureka", "--replicas=4")
	w.kubectl("patch", "deployment/eureka", "--patch", `{"spec":{"revisionHistoryLimit":3,"template":{"spec":{"containers":[{"name":"eureka","terminationMessagePolicy":"FallbackToLogsOnError"}]}}}}`)
	w.kubectl("patch", "service/eureka", "--patch", `{"spec":{"sessionAffinity":"ClientIP"}}`)
	w.syncAgain("dataservices/small")
	deployment := w.get("deployment", "eureka")
	require.EqualValues(w, 4, at(deployment, "spec", "replicas"), "the autoscaler's replicas")
	require.EqualValues(w, 3, at(deployment, "spec", "revisionHistoryLimit"), "a defaulted field")
	require.Equal(w, "FallbackToLogsOnError", at(deployment, "spec", "template", "spec", "containers", 0, "terminationMessagePolicy"))
	require.Equal(w, "on", at(deployment, "metadata", "labels", "example.com/mesh"))
	require.Equal(w, "ClientIP", at(w.get("service", "eureka"), "spec", "sessionAffinity"))

	w.kubectl("delete", "quota/no-more")
	w.ready("dataservice/small")
	w.eventually("the old component goes", func() error {
		if w.get("deployment", "eureka") != nil {
			return fmt.Errorf("it still exists")
		}
		return nil
	})
}

// forgedObjects returns forged last-applied configurations of the children: objects in
// kube-system, where the tenant may not write.
func forgedObjects(t *testing.T, namespaceUID string) map[string]string {
	owner := []any{map[string]any{"apiVersion": "v1", "kind": "Namespace", "name": "mine", "uid": namespaceUID}}
	metadata := func(name string) map[string]any {
		return map[string]any{"name": name, "namespace": "kube-system", "ownerReferences": owner}
	}
	template := map[string]any{
		"metadata": map[string]any{"labels": map[string]any{"app": "stolen"}},
		"spec": map[string]any{"hostPID": true, "containers": []any{map[string]any{
			"name": "stolen", "image": "stolen", "securityContext": map[string]any{"privileged": true},
		}}, "volumes": []any{map[string]any{"name": "root", "hostPath": map[string]any{"path": "/"}}}},
	}
	texts := map[string]string{}
	for ref, object := range map[string]map[string]any{
		"deployment/eureka": {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata("eureka"), "spec": map[string]any{
			"replicas": 1, "selector": map[string]any{"matchLabels": map[string]any{"app": "stolen"}}, "template": template,
		}},
		"service/eureka":   {"apiVersion": "v1", "kind": "Service", "metadata": metadata("eureka"), "spec": map[string]any{"ports": []any{map[string]any{"name": "stolen", "port": 1}}}},
		"configmap/eureka": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata("eureka"), "data": map[string]any{"key": "stolen"}},
	} {
		text, err := json.Marshal(object)
		require.NoError(t, err)
		texts[ref] = string(text)
	}
	return texts
}

// testTenantCannotForgeAChild is an attack by a user with the role edit in one namespace
// with the restricted Pod Security Standard, who may also write the custom resource: she
// writes a forged last-applied configuration onto the kept children of a DataService.
func testTenantCannotForgeAChild(w *world) {
	w.kubectl("label", "namespace", w.ns, "pod-security.kubernetes.io/enforce=restricted")
	w.kubectl("create", "rolebinding", "tenant", "--clusterrole=edit", "--user=tenant")
	as := func(args ...string) string { return w.kubectl(append(args, "--as=tenant")...) }
	_, _, err := operetta.Kubectl("create", "configmap", "eureka", "--from-literal=key=original", "--namespace=kube-system")
	require.NoError(w, err)
	w.Cleanup(func() {
		_, _, err := operetta.Kubectl("delete", "configmap", "eureka", "--namespace=kube-system")
		require.NoError(w, err)
	})
	offset := auditEnd(w)
	// No Pod of it is admitted, so that what depends on eureka is never ready.
	manifest := strings.Replace(smallProduct, "image: eureka,", `image: eureka, config: {extra.yml: "a: 1"},`, 1)
	w.kubectlWithInput(manifest, "apply", "--filename=-", "--as=tenant")
	for child := range forgedObjects(w.T, "") {
		w.kubectl("wait", "--for=create", child, "--timeout="+patience.String())
	}
	w.kubectlWithInput(strings.Replace(manifest, "image: eureka,", movedOut+",", 1), "apply", "--filename=-", "--as=tenant")
	w.kubectl("wait", "--for=create", "deployment/proxy", "--timeout="+patience.String())

	forged := forgedObjects(w.T, w.kubectl("get", "namespace", w.ns, "--output=jsonpath={.metadata.uid}"))
	forge := func(child, text string) {
		as("annotate", "--overwrite", child, "metacontroller.k8s.io/last-applied-configuration="+text)
	}
	for child, text := range forged {
		forge(child, text)
		w.syncAgain("dataservices/small")
		requireNothingElsewhere(w, offset)
	}
	for child := range forged { // that of another object
		forge(child, forged["deployment/eureka"])
	}
	w.syncAgain("dataservices/small")
	requireNothingElsewhere(w, offset)

	// The same while the DataService is finalized, with and without its children.
	as("patch", "dataservice/small", "--type=json", `--patch=[{"op":"add","path":"/metadata/finalizers/-","value":"example.com/hold"}]`)
	as("delete", "dataservice/small", "--cascade=orphan", "--wait=false")
	for child, text := range forged {
		if w.kubectl("get", child, "--ignore-not-found", "--output=name") != "" {
			forge(child, text)
		}
	}
	w.settle()
	requireNothingElsewhere(w, offset)
	as("patch", "dataservice/small", "--type=merge", `--patch={"metadata":{"finalizers":null}}`)
	w.kubectl("wait", "dataservice/small", "--for=delete", "--timeout="+patience.String())
	requireNothingElsewhere(w, offset)
	// They are orphans now, and no controller deletes them.
	w.kubectl("delete", "deployments,services,configmaps", "--all", "--timeout="+patience.String())
}

// requireNothingElsewhere fails when Metacontroller has written, or tried to, outside of the tests'
// namespaces since an offset in its audit log.
func requireNothingElsewhere(w *world, offset int64) {
	w.Helper()
	list, _ := requests(w, offset)
	for _, r := range writes(list) {
		if r.ObjectRef.Resource != "leases" && r.ObjectRef.Namespace != "" {
			require.Contains(w, r.ObjectRef.Namespace, worldPrefix, "Metacontroller tried to write elsewhere: %s", r)
		}
	}
	value, _, err := operetta.Kubectl("get", "configmap", "eureka", "--namespace=kube-system", "--output=jsonpath={.data.key}")
	require.NoError(w, err)
	require.Equal(w, "original", value)
}

// testAdoptedDeploymentIsNotUpdated has Metacontroller adopt a Deployment of the name of a
// ModelBox' with another selector. The API server would refuse each update, and quote all
// that stands in the selector.
func testAdoptedDeploymentIsNotUpdated(w *world) {
	w.apply(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: box}, spec: {replicas: 0,
		selector: {matchLabels: {a: b}, matchExpressions: [{key: x, operator: NotIn, values: [c, d]}]},
		template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: b}]}}}}`)
	w.apply(modelBox(`image: "nginx:1"`))
	w.kubectl("label", "deployment/box", fmt.Sprint("controller-uid=", at(w.get("modelbox", "box"), "metadata", "uid")))
	w.eventually("Metacontroller adopts the Deployment", func() error {
		if owners := at(w.get("deployment", "box"), "metadata", "ownerReferences"); owners == nil {
			w.kubectl("annotate", "--overwrite", "modelbox/box", fmt.Sprintf("example.com/touched=%d", time.Now().UnixNano()))
			return errors.New("it has no owner")
		}
		return nil
	})
	w.settle()
	offset := auditEnd(w)
	w.syncAgain("modelbox/box")
	w.settle()
	list, _ := w.requests(offset)
	for _, r := range writes(list) {
		require.NotEqual(w, "deployments", r.ObjectRef.Resource, "%s", r)
	}
	// Under server-side apply the API server has refused the creation, and quoted the desired selector.
	events := w.kubectl("get", "events", "--field-selector=type=Warning", "--output=jsonpath={.items[*].message}")
	require.NotContains(w, events, "NotIn", "what others have written is quoted")
	w.eventually("a condition names the Deployment", func() error {
		if text := w.condition("modelbox", "box", "ChildrenUpdated"); !strings.Contains(text, "Deployment/box") {
			w.kubectl("annotate", "--overwrite", "modelbox/box", fmt.Sprintf("example.com/touched=%d", time.Now().UnixNano()))
			return errors.New(text)
		}
		return nil
	})
}
