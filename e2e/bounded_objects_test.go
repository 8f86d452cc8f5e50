package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestObjectsAreBounded: with the component bounded-objects nobody stores managed
// fields with which a list of their objects could not be read, nor thousands of labels or
// so many small members that they take Metacontroller many times what they are
// written with. The managed fields of this test can be read.
func TestObjectsAreBounded(t *testing.T) {
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
	replace := func(manifest string, flags ...string) error {
		return send(manifest, append(flags, "replace", "--filename=-", "--namespace="+ns)...)
	}
	_, _, err = controlPlane.KubectlWithInput(manyVariables("large", 2000), "create", "--filename=-", "--namespace="+ns)
	require.NoError(t, err)
	_, _, err = controlPlane.KubectlWithInput(withContainers("containers", 2, strings.Repeat("a", 2000), "a"), "create", "--filename=-", "--namespace="+ns)
	require.NoError(t, err)
	kubectl(t, withFinalizers(240)...)

	kubectl(t, "apply", "--filename="+boundedObjects)
	t.Cleanup(func() { kubectl(t, "delete", "--filename="+boundedObjects) })
	require.Eventually(t, func() bool { // the API server reads policies again after some time
		err = create("ServiceAccount", fmt.Sprint("a", time.Now().UnixNano()), 21)
		return err != nil
	}, time.Minute, 200*time.Millisecond)
	require.ErrorContains(t, err, "nested more than 20 levels deep, or have more than 2100 fields at one level: leave them")
	require.ErrorContains(t, create("ConfigMap", "deep", 100), "20 levels")
	require.NoError(t, create("ConfigMap", "shallow", 19))
	for what, large := range map[string]struct{ manifest, message string }{
		"fields at one level": {wideManagedFields(2101), "more than 2100 fields at one level"},
		"very many fields":    {wideManagedFields(60_000), "more than 2100 fields at one level"},
		"empty members":       {`{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"small"},"imagePullSecrets":[` + strings.Repeat("{},", 300_000) + `{}]}`, "at most 500000 bytes of memory"},
		"pull secrets":        {`{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"pulls"},"imagePullSecrets":[` + strings.Repeat(`{"name":"a"},`, 20) + `{"name":"b"}]}`, "at most 20 imagePullSecrets"},
		"a pull secret":       {`{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"pulls"},"imagePullSecrets":[{"name":"` + strings.Repeat("a", 254) + `"}]}`, "at most 253 characters"},
		"objects in objects":  {nestedPod(10_000), "at most 500000 bytes of memory"},
		"managed fields":      {nestedManagedFields(20_000), "for its managed fields: shorten its lists, or reset"},
		"variables":           {manyVariables("many", 1000), "at most 500000 bytes of memory"},
		"a text of emojis":    {withText("text", "😀", 30_000), "at most 100000 bytes beside its status"},
		"a long text":         {withText("text", "a", 100_000), "at most 100000 bytes beside its status"},
		"what JSON escapes":   {withText("text", "<", 17_000), "at most 100000 bytes beside its status"},
		"a long annotation":   {withAnnotation("ServiceAccount", "a", 100_000), "at most 100000 bytes beside its status"},
		"only data to escape": {withData("<", 480_000, "&", 0), "at most 1500000 bytes beside its status"},
		"data to escape":      {withData("<", 200_000, "&", 60_000), "at most 1500000 bytes beside its status"},
		"keys of data":        {`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"keys"},"data":` + manyKeys(2001) + `}`, "at most 2000 keys of data"},
		"keys of binary data": {`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"keys"},"binaryData":` + manyKeys(2001) + `}`, "at most 2000 keys of data"},
		"annotations":         {`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"keys","annotations":` + manyKeys(201) + `}}`, "at most 200 labels, annotations"},
		"containers":          {podOf("containers", withContainers("containers", 65, "a", "a")), "at most 64 containers"},
		"init containers":     {withContainers("initContainers", 65, "a", "a"), "at most 64 containers"},
		"an image":            {podOf("image", withContainers("containers", 1, strings.Repeat("a", 1025), "a")), "images of at most 1024"},
		"image of a template": {withContainers("initContainers", 2, strings.Repeat("a", 1025), "a"), "images of at most 1024"},
	} {
		_, stderr, err := controlPlane.KubectlWithInput(large.manifest, "create", "--filename=-", "--namespace="+ns)
		require.Error(t, err, what)
		require.Contains(t, stderr, large.message, what)
	}
	for what, manifest := range map[string]string{
		"fields at one level": wideManagedFields(2100),
		"keys of data":        `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"keys","annotations":` + manyKeys(200) + `},"data":` + manyKeys(2000) + `}`,
		"a megabyte of data":  `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"megabyte"},"data":{"a":"` + strings.Repeat(`[{\"a\": [1, 2]}, `, 50_000) + `"}}`,
		"300 variables":       manyVariables("variables", 300),
		"a text of 98 KB":     withText("text", "a", 98_000),
		"text to escape":      withText("escaped", ">", 16_000),
		"all data":            withData("a", 1<<20-1, "é", 100_000),
		"data to escape":      withData("<", 200_000, "a", 200_000),
		"20 pull secrets":     `{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"pulls"},"imagePullSecrets":[` + strings.Repeat(`{"name":"a"},`, 19) + `{"name":"` + strings.Repeat("b", 253) + `"}]}`,
		"64 containers":       withContainers("containers", 64, strings.Repeat("a", 1024), strings.Repeat("a", 100)),
		"a full Secret":       `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"full"},"data":{"a":"` + strings.Repeat("/+8A", (1<<20)/3) + `"}}`,
	} {
		_, stderr, err := controlPlane.KubectlWithInput(manifest, "create", "--filename=-", "--namespace="+ns)
		require.NoError(t, err, "%s: %s", what, stderr)
	}
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
	for count, allowed := range map[int]bool{200: true, 201: false} {
		finalized := `{apiVersion: v1, kind: ConfigMap, metadata: {generateName: many-, finalizers: [`
		for i := range count {
			finalized += fmt.Sprint("example.com/", i, ", ")
		}
		pod := `{apiVersion: v1, kind: Pod, metadata: {generateName: many-, labels: {` + labels(count) + `}}, spec: {containers: [{name: a, image: a}]}}`
		template := strings.Replace(deepDeployment, "metadata: {labels: {a: b}}", "metadata: {labels: {a: b, "+labels(count-1)+"}}", 1)
		for what, manifest := range map[string]string{
			"Pod": pod, "template": strings.Replace(template, "{name: deep}", "{generateName: many-}", 1),
			"finalizers": finalized + "]}}",
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
	kubectl(t, "create", "rolebinding", "writer", "--role=writer", "--serviceaccount=metacontroller:metacontroller", "--user=writer", "--namespace="+ns)
	apply(t, ownedBy("ConfigMap", "v1", "owned", 2), "--namespace="+ns)
	oneMore := []string{"patch", "configmap", "owned", "--type=json", `--patch=[{"op":"add","path":"/metadata/ownerReferences/-","value":` + absentOwner(2) + `}]`, "--namespace=" + ns}
	_, stderr, err := controlPlane.Kubectl(append(oneMore, "--as=writer")...)
	require.Error(t, err)
	require.Contains(t, stderr, "at most 2 owners")
	kubectl(t, append(oneMore, "--as=system:serviceaccount:metacontroller:metacontroller")...)

	// Controllers of Kubernetes go on with what Metacontroller has made from a large custom resource,
	// and do not write for a user what she may not: a rollback takes the template of a ReplicaSet.
	kubectl(t, "create", "role", "deployer", "--verb=*", "--resource=deployments.apps,pods", "--namespace="+ns)
	kubectl(t, "create", "rolebinding", "deployer", "--role=deployer", "--group=system:serviceaccounts", "--namespace="+ns)
	for _, write := range []struct {
		verb, user, note string
		size             int
		refused          bool
	}{
		{"create", "metacontroller:metacontroller", "", 110_000, false},
		{"replace", "kube-system:deployment-controller", "12", 110_000, false},
		{"replace", "default:default", "123", 110_000, true},
		{"replace", "kube-system:deployment-controller", "12", 110_001, true},
		{"replace", "default:default", "1", 110_000, false},
	} {
		manifest := strings.Replace(withText("made", "a", write.size), "{name: made}", "{name: made, annotations: {deployment.kubernetes.io/revision: '"+write.note+"'}}", 1)
		_, stderr, err := controlPlane.KubectlWithInput(manifest, write.verb, "--filename=-", "--as=system:serviceaccount:"+write.user, "--namespace="+ns)
		if write.refused {
			require.Error(t, err, write)
			require.Contains(t, stderr, "at most 100000 bytes beside its status, with six for each <, > and &, and this one has 110", write)
		} else {
			require.NoError(t, err, "%s: %s", write, stderr)
		}
	}
	for size, allowed := range map[int]bool{128_000: true, 131_000: false} {
		pod := `{apiVersion: v1, kind: Pod, metadata: {generateName: made-}, spec: {containers: [{name: a, image: a, args: ["` + strings.Repeat("a", size) + `"]}]}}`
		_, stderr, err := controlPlane.KubectlWithInput(pod, "create", "--filename=-", "--as=system:serviceaccount:kube-system:replicaset-controller", "--namespace="+ns)
		if allowed {
			require.NoError(t, err, stderr)
		} else {
			require.Error(t, err)
			require.Contains(t, stderr, "at most 100000 bytes beside its status")
		}
	}

	// Who may edit a Pod that Kubernetes has made from a large template has no more room for managed fields.
	for name, many := range map[string]string{"variables": podOf("variables", manyVariables("", 1000)), "text": podOf("text", withText("", "a", 120_000))} {
		_, stderr, err := controlPlane.KubectlWithInput(many, "create", "--filename=-", "--as=system:serviceaccount:kube-system:replicaset-controller", "--namespace="+ns)
		require.NoError(t, err, stderr)
		fields := `{"metadata":{"managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1","time":"2026-01-02T03:04:05Z","fieldsType":"FieldsV1","fieldsV1":{"f:a":{"f:` + strings.Repeat("a", 110_000) + `":{}}}}]}}`
		_, stderr, err = controlPlane.Kubectl("patch", "pod", name, "--patch="+fields, "--namespace="+ns)
		require.Error(t, err, name)
		require.Contains(t, stderr, "managed fields: ", name)
		kubectl(t, "label", "pod", name, "a=b", "--namespace="+ns, "--as=system:serviceaccount:kube-system:job-controller", "--as-group=system:masters")
	}

	// The controller of Deployments copies from a ReplicaSet what it says of its Pods, and its revision.
	revision := func(size int) string {
		return strings.Replace(replicaSetOf(manyVariables("revision", 1)), "{name: revision}", "{name: revision, annotations: {deployment.kubernetes.io/revision: "+strings.Repeat("1", size)+"}}", 1)
	}
	kubectl(t, "create", "role", "sets", "--verb=*", "--resource=replicasets.apps", "--namespace="+ns)
	kubectl(t, "create", "rolebinding", "sets", "--role=sets", "--group=system:serviceaccounts", "--namespace="+ns)
	for _, write := range []struct{ verb, manifest, user, message string }{
		{"create", replicaSetOf(withText("profile", "<", 17_000)), "default:default", "at most 100000 bytes beside its status"},
		{"create", replicaSetOf(withText("set", "a", 110_000)), "kube-system:deployment-controller", ""},
		{"replace", strings.Replace(replicaSetOf(withText("set", "a", 110_000)), "replicas: 0", "replicas: 10", 1), "kube-system:deployment-controller", ""},
		{"create", revision(90_000), "default:default", ""},
		{"replace", revision(100_000), "default:default", "at most 100000 bytes beside its status"},
	} {
		_, stderr, err := controlPlane.KubectlWithInput(write.manifest, write.verb, "--filename=-", "--as=system:serviceaccount:"+write.user, "--namespace="+ns)
		if write.message == "" {
			require.NoError(t, err, stderr)
		} else {
			require.Error(t, err)
			require.Contains(t, stderr, write.message)
		}
	}

	// A ReplicaSet from before was not judged: its Pods do not have many times as much as those of other templates.
	for name, made := range map[string]struct{ manifest, message string }{
		"memory":     {manyVariables("", 1100), "for its managed fields: shorten"},
		"request":    {strings.ReplaceAll(manyVariables("", 700), "VARIABLE", strings.Repeat("A", 100)), "of managed fields: move"},
		"containers": {withContainers("containers", 65, "a", "a"), "at most 64 containers"},
	} {
		_, stderr, err := controlPlane.KubectlWithInput(podOf(name, made.manifest), "create", "--filename=-", "--as=system:serviceaccount:kube-system:replicaset-controller", "--namespace="+ns)
		require.Error(t, err, name)
		require.Contains(t, stderr, made.message, name)
	}

	// Metacontroller's copy of what it applied makes a child no larger than what it was made from.
	copied := strings.Replace(withAnnotation("ServiceAccount", "a", 90_000), `"generateName":"annotated-","annotations":{`,
		`"name":"copied","annotations":{"metacontroller.k8s.io/last-applied-configuration":"`+strings.Repeat("a", 160_000)+`",`, 1)
	_, stderr, err = controlPlane.KubectlWithInput(copied, "create", "--filename=-", "--namespace="+ns)
	require.NoError(t, err, stderr)
	require.NoError(t, replace(strings.Replace(copied, `"name":"copied"`, `"name":"copied","labels":{"a":"b"}`, 1)))
	require.ErrorContains(t, replace(strings.Replace(copied, `"name":"copied"`, `"name":"copied","managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1",`+
		`"time":"2026-01-02T03:04:05Z","fieldsType":"FieldsV1","fieldsV1":{"f:`+strings.Repeat("a", 60_000)+`":{}}}]`, 1)), "of managed fields: move")

	// An ephemeral container has room in a large Pod, and does not make it larger and larger.
	pod := `{apiVersion: v1, kind: Pod, metadata: {name: debugged}, spec: {containers: [{name: a, image: a, args: ["` + strings.Repeat("a", 95_000) + `"]}]}}`
	_, stderr, err = controlPlane.KubectlWithInput(pod, "create", "--filename=-", "--namespace="+ns)
	require.NoError(t, err, stderr)
	debug := func(name string, size int) error {
		_, stderr, err := controlPlane.Kubectl("patch", "pod", "debugged", "--subresource=ephemeralcontainers", "--namespace="+ns,
			`--patch={"spec":{"ephemeralContainers":[{"name":"`+name+`","image":"a","args":["`+strings.Repeat("a", size)+`"]}]}}`)
		if err != nil {
			return fmt.Errorf("%w: %s", err, stderr)
		}
		return nil
	}
	require.NoError(t, debug("one", 20_000))
	require.ErrorContains(t, debug("two", 20_000), "at most 100000 bytes beside its status")
	require.NoError(t, debug("three", 2_000))

	// A kubelet repeats texts of a Pod in its status.
	status := func(text string, count int) error {
		waiting := `{"status":{"containerStatuses":[{"name":"a","image":"a","imageID":"","ready":false,"restartCount":0,"state":{"waiting":{"reason":"RunContainerError","message":"` + strings.Repeat(text, count) + `"}}}]}}`
		return send("", "patch", "pod", "debugged", "--subresource=status", "--patch="+waiting, "--namespace="+ns)
	}
	require.NoError(t, status("a", 98_000))
	require.ErrorContains(t, status("a", 100_000), "the status of a Pod has at most 100000 bytes")
	require.ErrorContains(t, status("é", 50_000), "the status of a Pod has at most 100000 bytes")
	require.ErrorContains(t, status("<", 17_000), "the status of a Pod has at most 100000 bytes")
	require.NoError(t, status("<", 16_000))

	// What was too large before can be written and shortened, and does not grow, nor do its managed fields beyond what it has.
	moreFields := ""
	for i := range 10 { // the API server keeps those of ten
		moreFields += fmt.Sprintf(`{manager: m%d, operation: Update, apiVersion: apps/v1, time: "2026-01-02T03:04:05Z", fieldsType: FieldsV1, fieldsV1: %s}, `,
			i, strings.ReplaceAll(manyFields(2000), "{}", `{"f:a":{}}`))
	}
	longImage := strings.Replace(withContainers("containers", 2, strings.Repeat("a", 2000), "a"), "replicas: 0", "replicas: 1", 1)
	require.NoError(t, replace(longImage))
	require.ErrorContains(t, replace(strings.Replace(longImage, "containers-1", "containers-2", 1)), "images of at most 1024")
	require.NoError(t, replace(strings.Replace(manyVariables("large", 2000), "replicas: 0", "replicas: 1", 1)))
	require.ErrorContains(t, replace(manyVariables("large", 2001)), "at most 500000 bytes of memory")
	_, stderr, err = controlPlane.KubectlWithInput(strings.Replace(manyVariables("large", 2000), "{name: large}", "{name: large, managedFields: ["+moreFields+"]}", 1), "replace", "--filename=-", "--namespace="+ns)
	require.Error(t, err)
	require.Contains(t, stderr, "for its managed fields: shorten its lists, or reset")
	require.NoError(t, replace(manyVariables("large", 1999)))
	require.ErrorContains(t, replace(manyVariables("large", 2000)), "at most 500000 bytes of memory")
	require.NoError(t, replace(manyVariables("large", 100)))

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
		withFinalizers(241),
	} {
		_, stderr, err = controlPlane.Kubectl(more...)
		require.Error(t, err, more)
		require.Contains(t, stderr, "have at most 200 labels, annotations and finalizers each", more)
	}
	_, stderr, err = controlPlane.Kubectl("patch", "configmap", "owned", "--type=json", `--patch=[{"op":"add","path":"/metadata/ownerReferences/-","value":`+absentOwner(3)+`}]`, "--as=writer", "--namespace="+ns)
	require.Error(t, err)
	require.Contains(t, stderr, "at most 2 owners")
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

	// The API server takes 3 s to refuse a Pod while its ServiceAccount default is missing.
	kubectl(t, "create", "serviceaccount", "other", "--namespace="+ns)
	collector := []string{"--as=system:serviceaccount:kube-system:generic-garbage-collector", "--as-group=system:masters"}
	for _, one := range [][]string{{"serviceaccount", "default", "--namespace=" + ns}, append(collector, "serviceaccount", "default", "--namespace="+ns), {"--raw=/api/v1/namespaces/" + ns + "/serviceaccounts"}} {
		_, stderr, err = controlPlane.Kubectl(append([]string{"delete"}, one...)...)
		require.Error(t, err, one)
		require.Contains(t, stderr, "Pods need the ServiceAccount default, and it would be made again: leave it", one)
	}
	kubectl(t, "delete", "namespace", ns, "--wait=false")
	require.Eventually(t, func() bool { // the API server hears of it some time later
		_, _, err = controlPlane.Kubectl("delete", "serviceaccount", "default", "--namespace="+ns)
		return err == nil
	}, time.Minute, 200*time.Millisecond)
}

// manyVariables is a Deployment without replicas whose container has count variables.
func manyVariables(name string, count int) string {
	var variables strings.Builder
	for i := range count {
		fmt.Fprintf(&variables, `{name: VARIABLE_%d, value: "%d"}, `, i, i)
	}
	return `{apiVersion: apps/v1, kind: Deployment, metadata: {name: ` + name + `}, spec: {replicas: 0, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, ` +
		`spec: {containers: [{name: a, image: a, env: [` + variables.String() + `]}]}}}}`
}

// withContainers is a Deployment without replicas that has count of these containers.
func withContainers(list string, count int, image, program string) string {
	var containers strings.Builder
	for i := range count {
		fmt.Fprintf(&containers, `{name: %s-%d, image: %s, command: [%s]}, `, strings.ToLower(list), i, image, program)
	}
	one := "containers: [{name: a, image: a}]"
	all := list + ": [" + containers.String() + "]"
	if list != "containers" {
		all = one + ", " + all
	}
	name := fmt.Sprintf("%s-%d-%d", strings.ToLower(list), len(image), len(program))
	return strings.Replace(strings.Replace(manyVariables(name, 0), ", env: []", "", 1), one, all, 1)
}

// podOf is a Pod with the spec of a Deployment's Pods.
func podOf(name, deployment string) string {
	_, spec, _ := strings.Cut(deployment, "metadata: {labels: {a: b}}, spec: ")
	return `{apiVersion: v1, kind: Pod, metadata: {name: ` + name + `}, spec: ` + strings.TrimSuffix(spec, "}}")
}

// replicaSetOf is a ReplicaSet with the spec of a Deployment.
func replicaSetOf(deployment string) string {
	return strings.Replace(deployment, "kind: Deployment", "kind: ReplicaSet", 1)
}

// withText is a Deployment whose container has a variable of count times text.
func withText(name, text string, count int) string {
	return strings.Replace(manyVariables(name, 1), `value: "0"`, `value: "`+strings.Repeat(text, count)+`"`, 1)
}

// withAnnotation is an object of that kind of v1 with an annotation of count times text.
func withAnnotation(kind, text string, count int) string {
	return `{"apiVersion":"v1","kind":"` + kind + `","metadata":{"generateName":"annotated-","annotations":{"a":"` + strings.Repeat(text, count) + `"}}}`
}

// withData is a ConfigMap with count times text in its data, and in an annotation.
func withData(text string, count int, annotation string, annotationCount int) string {
	return strings.TrimSuffix(withAnnotation("ConfigMap", annotation, annotationCount), "}") + `,"data":{"a":"` + strings.Repeat(text, count) + `"}}`
}

// manyKeys is an object of count keys with empty values.
func manyKeys(count int) string {
	var keys []string
	for i := range count {
		keys = append(keys, fmt.Sprintf(`"k%d":""`, i))
	}
	return "{" + strings.Join(keys, ",") + "}"
}

// withManagedFields is a ConfigMap with these managed fields.
func withManagedFields(fields string) string {
	return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"fields-","managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1",` +
		`"time":"2026-01-02T03:04:05Z","fieldsType":"FieldsV1","fieldsV1":` + fields + `}]}}`
}

func wideManagedFields(count int) string { return withManagedFields(manyFields(count)) }

func manyFields(count int) string {
	var fields []string
	for i := range count {
		fields = append(fields, fmt.Sprintf(`"f:k%d":{}`, i))
	}
	return "{" + strings.Join(fields, ",") + "}"
}

// nestedManagedFields are count fields in maps of their own, 1000 at one level at most.
func nestedManagedFields(count int) string {
	var levels []string
	for i := range count / 1000 {
		var fields []string
		for j := range 1000 {
			fields = append(fields, fmt.Sprintf(`"f:%d":{"f:a":{}}`, j))
		}
		levels = append(levels, fmt.Sprintf(`"f:%d":{%s}`, i, strings.Join(fields, ",")))
	}
	return withManagedFields("{" + strings.Join(levels, ",") + "}")
}

// nestedPod has count terms of affinity with what is empty in them.
func nestedPod(count int) string {
	const term = `{"weight":1,"podAffinityTerm":{"topologyKey":"a","labelSelector":{},"namespaceSelector":{}}},`
	return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"nested"},"spec":{"containers":[{"name":"a","image":"a"}],"affinity":{"podAffinity":` +
		`{"preferredDuringSchedulingIgnoredDuringExecution":[` + strings.TrimSuffix(strings.Repeat(term, count), ",") + `]}}}}`
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
