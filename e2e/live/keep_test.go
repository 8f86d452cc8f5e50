package live

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// product returns a DataService of two components, of which eureka has a name
// and a number of replicas that an autoscaler may change.
func product(eureka string) string {
	return `{apiVersion: d3os-product.com.d3os/v1, kind: DataService, metadata: {name: small}, spec: {
		eureka: {image: eureka, ` + eureka + `}, proxy: {image: proxy, replica: 1, config: {extra.yml: "a: 1"}}}}`
}

// oldChildren are what is kept of the component while its successor is not
// ready.
var oldChildren = []string{"deployment/eureka", "service/eureka"}

// keepOld makes a DataService keep the children of a renamed component: a quota
// admits no further Deployment, so that the new one never comes.
func (w *world) keepOld() {
	w.Helper()
	w.apply(product(""))
	w.ready("dataservice/small")
	w.kubectl("scale", "deployment/eureka", "--replicas=3")
	w.kubectl("wait", "deployment/eureka", "--for=jsonpath={.status.readyReplicas}=3", "--timeout=100s")
	w.kubectl("label", "deployment/eureka", "example.com/mesh=on")
	w.ready("dataservice/small")
	w.settle()
	w.kubectl("create", "quota", "no-more", "--hard=count/deployments.apps=2")
	w.kubectl("wait", "quota/no-more", `--for=jsonpath={.status.used.count/deployments\.apps}=2`, "--timeout=60s")
}

// versions returns the resourceVersions of objects.
func (w *world) versions(refs ...string) map[string]string {
	w.Helper()
	versions := map[string]string{}
	for _, ref := range refs {
		versions[ref] = w.kubectl("get", ref, "--output=jsonpath={.metadata.resourceVersion}")
	}
	return versions
}

// syncAgain has Metacontroller sync a custom resource some times.
func (w *world) syncAgain(name string) {
	w.Helper()
	kind, object, _ := strings.Cut(name, "/")
	for i := range 3 {
		_, offset := requests(w, 0)
		w.kubectl("annotate", "--overwrite", name, fmt.Sprintf("example.com/again=%d-%d", offset, i))
		w.eventually("the custom resource is synced again", func() error {
			list, _ := requests(w, offset)
			for _, r := range list {
				if r.Verb == "get" && strings.HasPrefix(r.ObjectRef.Resource, kind) && r.ObjectRef.Name == object {
					return nil
				}
			}
			return fmt.Errorf("it was not read since")
		})
	}
}

// TestKeptChildIsNotWritten keeps children of which other owners have fields:
// the replicas are an autoscaler's, a node port is allocated, and much is
// defaulted. Restating the children writes nothing, and what others own stays
// theirs.
func TestKeptChildIsNotWritten(t *testing.T) {
	inModes(t, modes[:2], func(t *testing.T, w *world) {
		w.keepOld()
		before := w.versions(oldChildren...)
		managed := w.get("deployment", "eureka")
		w.apply(product("name: registry"))
		w.eventually("the new component is asked for", func() error {
			if ready := w.condition("dataservice", "small", "Ready"); !strings.HasPrefix(ready, "False ") {
				return fmt.Errorf("Ready is %s", ready)
			}
			return nil
		})
		w.syncAgain("dataservices/small")
		require.Equal(t, before, w.versions(oldChildren...), "a kept child was written")
		require.Equal(t, at(managed, "metadata", "managedFields"), at(w.get("deployment", "eureka"), "metadata", "managedFields"))

		w.kubectl("scale", "deployment/eureka", "--replicas=4")
		w.kubectl("patch", "deployment/eureka", "--patch", `{"spec":{"revisionHistoryLimit":3,"template":{"spec":{"containers":[{"name":"eureka","terminationMessagePolicy":"FallbackToLogsOnError"}]}}}}`)
		w.kubectl("patch", "service/eureka", "--patch", `{"spec":{"sessionAffinity":"ClientIP"}}`)
		w.syncAgain("dataservices/small")
		deployment := w.get("deployment", "eureka")
		require.EqualValues(t, 4, at(deployment, "spec", "replicas"), "the autoscaler's replicas")
		require.EqualValues(t, 3, at(deployment, "spec", "revisionHistoryLimit"), "a defaulted field")
		require.Equal(t, "FallbackToLogsOnError", at(deployment, "spec", "template", "spec", "containers", 0, "terminationMessagePolicy"))
		require.Equal(t, "on", at(deployment, "metadata", "labels", "example.com/mesh"))
		require.Equal(t, "ClientIP", at(w.get("service", "eureka"), "spec", "sessionAffinity"))

		w.kubectl("delete", "quota/no-more")
		w.ready("dataservice/small")
		w.eventually("the old component goes", func() error {
			if w.get("deployment", "eureka") != nil {
				return fmt.Errorf("it is there")
			}
			return nil
		})
	})
}

// forgedObjects are what a tenant claims to have been applied last to each of
// the children: it would be created, or overwritten, where she may write
// nothing.
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
		"service/eureka":  {"apiVersion": "v1", "kind": "Service", "metadata": metadata("eureka"), "spec": map[string]any{"ports": []any{map[string]any{"port": 1}}}},
		"configmap/proxy": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata("proxy"), "data": map[string]any{"key": "stolen"}},
	} {
		text, err := json.Marshal(object)
		require.NoError(t, err)
		texts[ref] = string(text)
	}
	return texts
}

// TestTenantCannotForgeAChild is an attack by a user who has the role edit in
// one namespace and may write the custom resource there, under the restricted
// Pod Security Standard: she writes onto the children that her DataService keeps
// that something else was applied last.
func TestTenantCannotForgeAChild(t *testing.T) {
	inModes(t, modes[:2], func(t *testing.T, w *world) {
		w.kubectl("label", "namespace", w.ns, "pod-security.kubernetes.io/enforce=restricted")
		w.kubectl("create", "rolebinding", "tenant", "--clusterrole=edit", "--user=tenant")
		as := func(args ...string) string { return w.kubectl(append(args, "--as=tenant")...) }
		_, _, err := operetta.Kubectl("create", "configmap", "proxy", "--from-literal=key=original", "--namespace=kube-system")
		require.NoError(t, err)
		t.Cleanup(func() {
			_, _, err := operetta.Kubectl("delete", "configmap", "proxy", "--namespace=kube-system")
			require.NoError(t, err)
		})
		before := elsewhere(w)
		_, offset := requests(t, 0)
		// No Pod of it is admitted, so that a renamed component is never ready.
		w.kubectlWithInput(smallProduct, "apply", "--filename=-", "--as=tenant")
		w.kubectl("wait", "--for=create", "deployment/eureka", "configmap/proxy", "--timeout=60s")
		renamed := strings.NewReplacer("image: eureka,", "image: eureka, name: registry,", "image: proxy,", "image: proxy, name: edge,").Replace(smallProduct)
		w.kubectlWithInput(renamed, "apply", "--filename=-", "--as=tenant")
		w.kubectl("wait", "--for=create", "deployment/registry", "--timeout=60s")

		forged := forgedObjects(t, w.kubectl("get", "namespace", w.ns, "--output=jsonpath={.metadata.uid}"))
		forge := func(child, text string) {
			as("annotate", "--overwrite", child, "metacontroller.k8s.io/last-applied-configuration="+text)
		}
		for child, text := range forged {
			forge(child, text)
			w.syncAgain("dataservices/small")
			requireNothingElsewhere(w, before, offset)
		}
		for child := range forged { // that of another object
			forge(child, forged["deployment/eureka"])
		}
		w.syncAgain("dataservices/small")
		requireNothingElsewhere(w, before, offset)

		// The same while it is finalized, with and without its children.
		as("patch", "dataservice/small", "--type=json", `--patch=[{"op":"add","path":"/metadata/finalizers/-","value":"example.com/hold"}]`)
		as("delete", "dataservice/small", "--cascade=orphan", "--wait=false")
		for child, text := range forged {
			if w.kubectl("get", child, "--ignore-not-found", "--output=name") != "" {
				forge(child, text)
			}
		}
		w.settle()
		requireNothingElsewhere(w, before, offset)
		as("patch", "dataservice/small", "--type=merge", `--patch={"metadata":{"finalizers":null}}`)
		w.kubectl("wait", "dataservice/small", "--for=delete", "--timeout=100s")
		requireNothingElsewhere(w, before, offset)
		// They are orphans now, and nobody else clears them away.
		w.kubectl("delete", "deployments,services,configmaps", "--all", "--timeout=60s")
	})
}

func victim(t require.TestingT) string {
	value, _, err := operetta.Kubectl("get", "configmap", "proxy", "--namespace=kube-system", "--output=jsonpath={.data.key}")
	require.NoError(t, err)
	return value
}

// elsewhere returns what there is outside the tenant's namespace, by kind and
// name.
func elsewhere(w *world) []string {
	w.Helper()
	stdout, _, err := operetta.Kubectl("get", "deployments,services,configmaps,pods,statefulsets,daemonsets", "--all-namespaces",
		"--field-selector=metadata.namespace!="+w.ns, `--output=jsonpath={range .items[*]}{.kind}/{.metadata.namespace}/{.metadata.name}{"\n"}{end}`)
	require.NoError(w, err)
	names := map[string]bool{}
	for _, name := range strings.Fields(stdout) {
		// Each namespace gets one for the API server's certificate.
		if !strings.HasSuffix(name, "/kube-root-ca.crt") {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// requireNothingElsewhere fails when anything has come into another namespace,
// or Metacontroller has tried to write there since an offset in its audit log.
func requireNothingElsewhere(w *world, before []string, offset int64) {
	w.Helper()
	for _, name := range elsewhere(w) {
		require.Contains(w, before, name, "a forged object was created")
	}
	list, _ := requests(w, offset)
	for _, r := range writes(list) {
		require.NotEqual(w, "kube-system", r.ObjectRef.Namespace, "Metacontroller was told to write: %s", r)
	}
	require.Equal(w, "original", victim(w))
}
