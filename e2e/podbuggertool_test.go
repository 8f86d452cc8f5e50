package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// debugTool is a PodBuggerTool in its own namespace, with a Pod that matches. No
// kubelet runs here, so the test runs the command of each Job itself.
type debugTool struct {
	t        *testing.T
	ns, name string
	spec     string
}

func newDebugTool(t *testing.T, ns, spec string) debugTool {
	t.Helper()
	return debugTool{t, ns, "toolbox", spec}
}

// pod creates a Pod whose status says that it runs.
func (d debugTool) pod(name string) {
	d.t.Helper()
	apply(d.t, fmt.Sprintf(`{apiVersion: v1, kind: Pod, metadata: {name: %s, labels: {app: shop}}, spec: {
		initContainers: [{name: first, image: x}], containers: [{name: shop, image: x}], volumes: [{name: data, emptyDir: {}}]}}`, name), "--namespace="+d.ns)
	kubectl(d.t, "patch", "pod", name, "--namespace="+d.ns, "--subresource=status", "--patch", `{"status":{"phase":"Running"}}`)
}

// answer calls the hook with the current Pods and children, and returns its answer.
func (d debugTool) answer(args ...string) string {
	d.t.Helper()
	children := map[string]any{}
	for key, resource := range map[string]string{
		"Job.batch/v1": "jobs", "ServiceAccount.v1": "serviceaccounts",
		"Role.rbac.authorization.k8s.io/v1": "roles", "RoleBinding.rbac.authorization.k8s.io/v1": "rolebindings",
	} {
		children[key] = d.list(resource, "--selector=app.kubernetes.io/part-of=podbuggertool,app.kubernetes.io/instance="+d.name)
	}
	request, err := json.Marshal(map[string]any{
		"parent": parse(d.t, fmt.Sprintf(`{apiVersion: apps.jicki.cn/v1alpha1, kind: PodBuggerTool, metadata: {name: %s, namespace: %s}, spec: %s}`,
			d.name, d.ns, d.spec)),
		"children": children,
		"related":  map[string]any{"Pod.v1": d.list("pods")},
	})
	require.NoError(d.t, err)
	return operetta(d.t, string(request), append([]string{"render", "-"}, args...)...)
}

// list returns objects of the namespace in the form of a hook request.
func (d debugTool) list(resource string, args ...string) map[string]any {
	d.t.Helper()
	var objects struct {
		Items []map[string]any `json:"items"`
	}
	args = append([]string{"get", resource, "--namespace=" + d.ns, "--output=json"}, args...)
	require.NoError(d.t, json.Unmarshal([]byte(kubectl(d.t, args...)), &objects))
	byKey := map[string]any{}
	for _, object := range objects.Items {
		byKey[d.ns+"/"+object["metadata"].(map[string]any)["name"].(string)] = object
	}
	return byKey
}

// begin applies the children as Metacontroller does, as its user with the permissions in
// deploy/, and returns the Jobs. The hook returns the Jobs only once the ServiceAccount,
// the Role and the RoleBinding exist.
func (d debugTool) begin() []map[string]any {
	d.t.Helper()
	var jobs []map[string]any
	for round := 0; round < 3 && len(jobs) == 0; round++ {
		for _, child := range documents(d.t, d.answer("--children-only")) {
			asMetacontroller(d.t, encoded(d.t, child))
			if child["kind"] == "Job" {
				require.NotZero(d.t, round)
				jobs = append(jobs, child)
			}
		}
	}
	return jobs
}

// encoded returns an object as JSON.
func encoded(t *testing.T, object map[string]any) string {
	t.Helper()
	raw, err := json.Marshal(object)
	require.NoError(t, err)
	return string(raw)
}

// asMetacontroller applies an object as Metacontroller's user. It waits until the API
// server knows the user's permissions.
func asMetacontroller(t *testing.T, manifest string) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if _, _, err = controlPlane.KubectlWithInput(manifest, "apply", "--filename=-", "--as="+metacontrollerUser); err == nil {
			return
		}
	}
	require.NoError(t, err)
}

const metacontrollerUser = "system:serviceaccount:metacontroller:metacontroller"

// run runs the command of a Job with the Job's permissions.
func (d debugTool) run(job map[string]any) (stderr string, err error) {
	d.t.Helper()
	spec := job["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
	container := spec["containers"].([]any)[0].(map[string]any)
	require.Equal(d.t, []any{"kubectl"}, container["command"])
	stdout, stderr, err := controlPlane.RunDebugJob(d.ns, job)
	require.Empty(d.t, stdout)
	return stderr, err
}

// as returns the flag with which kubectl acts as a ServiceAccount.
func (d debugTool) as(account string) string {
	return "--as=system:serviceaccount:" + d.ns + ":" + account
}

// containers returns the ephemeral containers of a Pod by their names.
func (d debugTool) containers(pod string) map[string]map[string]any {
	d.t.Helper()
	byName := map[string]map[string]any{}
	spec := parse(d.t, kubectl(d.t, "get", "pod", pod, "--namespace="+d.ns, "--output=yaml"))["spec"].(map[string]any)
	list, _ := spec["ephemeralContainers"].([]any)
	for _, container := range list {
		fields := container.(map[string]any)
		byName[fields["name"].(string)] = fields
	}
	require.Len(d.t, byName, len(list))
	return byName
}

// shipPermissions installs the permissions that deploy/ has for Metacontroller.
func shipPermissions(t *testing.T) {
	t.Helper()
	kubectl(t, "apply", "--filename=../deploy/rbac/podbuggertool.yaml")
}

func TestDebugJobDoesWhatItIsFor(t *testing.T) {
	shipPermissions(t)
	d := newDebugTool(t, namespace(t, "debug"), `{
		selector: {matchLabels: {app: shop}}, image: "example.com/tools:1@sha256:`+strings.Repeat("0", 64)+`",
		command: [sh, -c], args: ['--', '-x $(HOME) $$', ''], targetContainer: first, profile: netadmin,
		env: [{name: PLAIN, value: 'a,b c'}, {name: OPTIONS, value: 'a=1,b="2"'}, {name: QUOTED, value: 'say "hi"'}, {name: EMPTY},
		      {name: MONEY, value: '$$5 $(PLAIN) $'}, {name: LINES, value: "x=1\ny=2"}, {name: a.b-c, value: '"'}],
		stdin: true, tty: true, envFrom: [{prefix: A_, configMapRef: {name: shop}}, {secretRef: {name: shop-2, optional: true}}],
		volumeMounts: [{name: data, mountPath: /data, readOnly: true}], securityContext: {runAsUser: 0, capabilities: {drop: [ALL]}}}`)
	d.pod("web")
	jobs := d.begin()
	require.Len(t, jobs, 1)
	stderr, err := d.run(jobs[0])
	require.NoError(t, err)
	require.Empty(t, stderr)

	got := d.containers("web")["toolbox"]
	env := map[string]any{}
	for _, variable := range got["env"].([]any) {
		fields := variable.(map[string]any)
		env[fields["name"].(string)] = fields["value"]
	}
	require.Equal(t, map[string]any{
		"PLAIN": "a,b c", "OPTIONS": `a=1,b="2"`, "QUOTED": `say "hi"`, "EMPTY": nil,
		"MONEY": "$$5 $(PLAIN) $", "LINES": "x=1\ny=2", "a.b-c": `"`,
	}, env)
	delete(got, "env")
	require.Equal(t, map[string]any{
		"name": "toolbox", "image": "example.com/tools:1@sha256:" + strings.Repeat("0", 64), "imagePullPolicy": "IfNotPresent",
		"command": []any{"sh", "-c", "--", "-x $(HOME) $$", ""}, "targetContainerName": "first", "resources": map[string]any{},
		"securityContext": map[string]any{
			"capabilities": map[string]any{"add": []any{"NET_ADMIN", "NET_RAW"}, "drop": []any{"ALL"}}, "runAsUser": float64(0),
		},
		"stdin": true, "tty": true,
		"envFrom": []any{
			map[string]any{"prefix": "A_", "configMapRef": map[string]any{"name": "shop"}},
			map[string]any{"secretRef": map[string]any{"name": "shop-2", "optional": true}},
		},
		"volumeMounts":             []any{map[string]any{"name": "data", "mountPath": "/data", "readOnly": true}},
		"terminationMessagePath":   "/dev/termination-log",
		"terminationMessagePolicy": "File",
	}, got)

	answer := parse(t, d.answer())
	require.Equal(t, "1/1", answer["status"].(map[string]any)["ready"])
	require.Empty(t, answer["children"], "the Job has done its work, and nothing allows anything any more")
}

// TestDebugJobSaysWhatTheAPIServerRefuses mounts volumes that the Pod does not have.
func TestDebugJobSaysWhatTheAPIServerRefuses(t *testing.T) {
	shipPermissions(t)
	for mounts, want := range map[string]string{
		`[{name: a, mountPath: /a}]`: "The Pod \"web\" is invalid: spec.ephemeralContainers[0].volumeMounts[0].name: Not found: \"a\"\n",
		`[{name: a, mountPath: /a}, {name: b, mountPath: /b}]`: "The Pod \"web\" is invalid: \n" +
			"* spec.ephemeralContainers[0].volumeMounts[0].name: Not found: \"a\"\n* spec.ephemeralContainers[0].volumeMounts[1].name: Not found: \"b\"\n",
	} {
		d := newDebugTool(t, namespace(t, "refused"), `{selector: {matchLabels: {app: shop}}, image: busybox, volumeMounts: `+mounts+`}`)
		d.pod("web")
		stderr, err := d.run(d.begin()[0])
		require.Error(t, err)
		require.Equal(t, want, stderr)
	}
}

// A Job's second Pod finds the debug container of the first. It changes nothing, and
// its message is not reported, because the status of the Pod shows the container.
func TestDebugJobRunsTwiceAndNothingHappens(t *testing.T) {
	shipPermissions(t)
	for _, profile := range []string{"general", "baseline", "restricted", "netadmin", "sysadmin"} {
		t.Run(profile, func(t *testing.T) {
			d := newDebugTool(t, namespace(t, "twice"), fmt.Sprintf(`{selector: {matchLabels: {app: shop}}, image: busybox, args: [-v], profile: %s}`, profile))
			d.pod("web")
			job := d.begin()[0]
			_, err := d.run(job)
			require.NoError(t, err)
			once := d.containers("web")
			require.Equal(t, []any{"-v"}, once["toolbox"]["args"])
			require.NotContains(t, once["toolbox"], "command")

			if stderr, err := d.run(job); err != nil {
				require.Contains(t, stderr, `Forbidden: existing ephemeral containers "toolbox" may not be changed`)
			}
			require.Equal(t, once, d.containers("web"))
			require.Equal(t, "1/1", parse(t, d.answer())["status"].(map[string]any)["ready"])
		})
	}
}

func TestTwoToolsDebugOnePod(t *testing.T) {
	shipPermissions(t)
	ns := namespace(t, "tools")
	one := newDebugTool(t, ns, `{selector: {matchLabels: {app: shop}}, image: busybox}`)
	other := one
	other.name = "tracer"
	one.pod("web")
	ours, theirs := one.begin(), other.begin()
	for _, step := range []struct {
		tool debugTool
		job  map[string]any
	}{{one, ours[0]}, {other, theirs[0]}} {
		_, err := step.tool.run(step.job)
		require.NoError(t, err)
	}
	require.ElementsMatch(t, []string{"toolbox", "tracer"}, slices.Collect(maps.Keys(one.containers("web"))))
}
