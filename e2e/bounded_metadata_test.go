package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestMetadataIsBounded: with the component bounded-metadata nobody stores managed
// fields with which a list of their objects could not be read, nor thousands of labels. The
// managed fields of this test can be read.
func TestMetadataIsBounded(t *testing.T) {
	const policy = "../deploy/components/bounded-metadata/policy.yaml"
	ns := namespace(t, "managed-fields")
	create := func(kind, name string, levels int) error {
		manifest := `{"apiVersion":"v1","kind":"` + kind + `","metadata":{"name":"` + name + `","managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1",` +
			`"time":"2026-01-02T03:04:05Z","fieldsType":"FieldsV1","fieldsV1":` + strings.Repeat(`{"f:a":`, levels) + `{}` + strings.Repeat("}", levels) + `}]}}`
		plural := strings.ToLower(kind) + "s"
		_, _, err := controlPlane.KubectlWithInput(manifest, "create", "--raw=/api/v1/namespaces/"+ns+"/"+plural, "--filename=-")
		return err
	}
	require.NoError(t, create("ConfigMap", "before", 100))
	var finalizers []string
	for i := range 250 {
		finalizers = append(finalizers, fmt.Sprintf(`"example.com/%d"`, i))
	}
	withFinalizers := func(count int) []string {
		return []string{"patch", "configmap", "finalized", "--type=merge", "--patch=" + `{"metadata":{"finalizers":[` + strings.Join(finalizers[:count], ",") + `]}}`, "--namespace=" + ns}
	}
	labels := func(count int) string {
		var all strings.Builder
		for i := range count {
			fmt.Fprintf(&all, "l%d: '',", i)
		}
		return all.String()
	}
	template := "metadata: {labels: {a: b, " + labels(240) + "}, finalizers: [" + strings.Join(finalizers[:240], ",") + "]}"
	former := strings.Replace(strings.Replace(deepDeployment, "metadata: {labels: {a: b}}", template, 1), "{name: deep}", "{name: former, labels: {"+labels(240)+"}}", 1)
	_, _, err := controlPlane.KubectlWithInput(former, "create", "--filename=-", "--namespace="+ns)
	require.NoError(t, err)
	kubectl(t, "create", "configmap", "finalized", "--namespace="+ns)
	kubectl(t, withFinalizers(240)...)

	kubectl(t, "apply", "--filename="+policy)
	t.Cleanup(func() { kubectl(t, "delete", "--filename="+policy) })
	require.Eventually(t, func() bool { // the API server reads policies again after some time
		err = create("ServiceAccount", fmt.Sprint("a", time.Now().UnixNano()), 21)
		return err != nil
	}, time.Minute, 200*time.Millisecond)
	require.ErrorContains(t, err, "nested more than 20 levels deep: leave them to the API server")
	require.ErrorContains(t, create("ConfigMap", "deep", 100), "20 levels")
	require.NoError(t, create("ConfigMap", "shallow", 19))
	const fields = `managedFields: [{manager: m, operation: Update, apiVersion: v1, time: "2026-01-02T03:04:05Z", fieldsType: FieldsV1, fieldsV1: {"f:a": {}}}]`
	for name, manifest := range map[string]string{
		"template":             strings.Replace(deepDeployment, "metadata: {labels: {a: b}}", "metadata: {labels: {a: b}, "+fields+"}", 1),
		"owners in a template": strings.Replace(deepDeployment, "metadata: {labels: {a: b}}", "metadata: {labels: {a: b}, ownerReferences: [{apiVersion: v1, kind: Pod, name: a, uid: a}]}", 1),
		"a claim": `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: s}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: a}]}}, ` +
			`volumeClaimTemplates: [{metadata: {name: c, ` + fields + `}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]}}`,
	} {
		_, stderr, err := controlPlane.KubectlWithInput(manifest, "create", "--filename=-", "--namespace="+ns)
		require.Error(t, err, name)
		require.Contains(t, stderr, "templates have no metadata.managedFields and no metadata.ownerReferences: remove them", name)
	}
	owner := func(i int) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","name":"a","uid":"%dx"}`, i)
	}
	owned := func(name string, count int) string {
		var owners []string
		for i := range count {
			owners = append(owners, owner(i))
		}
		return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{` + name + `,"ownerReferences":[` + strings.Join(owners, ",") + `]}}`
	}
	for count, allowed := range map[int]bool{200: true, 201: false} {
		finalized := `{apiVersion: v1, kind: ConfigMap, metadata: {generateName: many-, finalizers: [`
		for i := range count {
			finalized += fmt.Sprint("example.com/", i, ", ")
		}
		pod := `{apiVersion: v1, kind: Pod, metadata: {generateName: many-, labels: {` + labels(count) + `}}, spec: {containers: [{name: a, image: a}]}}`
		template := strings.Replace(deepDeployment, "metadata: {labels: {a: b}}", "metadata: {labels: {a: b, "+labels(count-1)+"}}", 1)
		for what, manifest := range map[string]string{
			"Pod": pod, "template": strings.Replace(template, "{name: deep}", "{generateName: many-}", 1),
			"owners": owned(`"generateName":"many-"`, count), "finalizers": finalized + "]}}",
		} {
			_, stderr, err := controlPlane.KubectlWithInput(manifest, "create", "--dry-run=server", "--filename=-", "--namespace="+ns)
			if allowed {
				require.NoError(t, err, what)
			} else {
				require.Error(t, err, what)
				require.Contains(t, stderr, "have at most 200 labels", what)
			}
		}
	}

	// Metacontroller may still adopt an object that has as many owners as are allowed.
	kubectl(t, "create", "role", "writer", "--verb=get,patch", "--resource=configmaps", "--namespace="+ns)
	kubectl(t, "create", "rolebinding", "writer", "--role=writer", "--serviceaccount=metacontroller:metacontroller", "--namespace="+ns)
	apply(t, owned(`"name":"owned"`, 200), "--namespace="+ns)
	oneMore := []string{"patch", "configmap", "owned", "--type=json", `--patch=[{"op":"add","path":"/metadata/ownerReferences/-","value":` + owner(200) + `}]`, "--namespace=" + ns}
	_, stderr, err := controlPlane.Kubectl(oneMore...)
	require.Error(t, err)
	require.Contains(t, stderr, "have at most 200 labels, owners and finalizers")
	kubectl(t, append(oneMore, "--as=system:serviceaccount:metacontroller:metacontroller")...)

	// What has too many already is still written, and loses some, but gets no more.
	kubectl(t, "annotate", "configmap", "owned", "a=b", "--namespace="+ns)
	kubectl(t, "annotate", "configmap", "finalized", "a=b", "--namespace="+ns)
	kubectl(t, "annotate", "deployment", "former", "a=b", "--namespace="+ns)
	patch := func(fields string) []string {
		return []string{"patch", "deployment", "former", "--type=merge", "--patch=" + fields, "--namespace=" + ns}
	}
	for _, more := range [][]string{
		patch(`{"metadata":{"labels":{"one-more":""}}}`),
		patch(`{"spec":{"template":{"metadata":{"labels":{"one-more":""}}}}}`),
		patch(`{"spec":{"template":{"metadata":{"finalizers":[` + strings.Join(finalizers, ",") + `]}}}}`),
		{"patch", "configmap", "owned", "--type=json", `--patch=[{"op":"add","path":"/metadata/ownerReferences/-","value":` + owner(201) + `}]`, "--namespace=" + ns},
		withFinalizers(241),
	} {
		_, stderr, err = controlPlane.Kubectl(more...)
		require.Error(t, err, more)
		require.Contains(t, stderr, "have at most 200 labels, owners and finalizers", more)
	}
	kubectl(t, patch(`{"metadata":{"labels":{"l0":null}},"spec":{"template":{"metadata":{"labels":{"l0":null}}}}}`)...)
	kubectl(t, withFinalizers(239)...)
	kubectl(t, withFinalizers(0)...)

	// What people apply, by both ways, has fewer levels.
	ways := []string{"--server-side=false --force-conflicts=false", "--server-side=true --force-conflicts=true"}
	for _, way := range ways {
		kubectl(t, append(strings.Fields(way), "apply", "--filename=../deploy/samples", "--namespace="+ns)...)
	}
	for _, way := range ways {
		_, _, err := controlPlane.KubectlWithInput(deepDeployment, append(strings.Fields(way), "apply", "--filename=-", "--namespace="+ns)...)
		require.NoError(t, err)
	}
}

const deepDeployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: deep}
spec:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec:
      affinity: {podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: a, labelSelector: {matchExpressions: [{key: a, operator: In, values: [b]}]}}}]}}
      containers:
      - name: a
        image: a
        env: [{name: A, valueFrom: {secretKeyRef: {name: a, key: b, optional: true}}}]
        lifecycle: {preStop: {httpGet: {port: 80, httpHeaders: [{name: a, value: b}]}}}
      volumes:
      - name: v
        projected: {sources: [{downwardAPI: {items: [{path: a, fieldRef: {fieldPath: metadata.name}}]}}]}
`
