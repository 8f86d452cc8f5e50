package e2e

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDebugJobMayDoNothingElse(t *testing.T) {
	shipPermissions(t)
	d := newDebugTool(t, namespace(t, "least"), `{selector: {matchLabels: {app: shop}}, image: busybox}`)
	in := "--namespace=" + d.ns
	apply(t, `{apiVersion: v1, kind: Pod, metadata: {name: other}, spec: {containers: [{name: other, image: x}]}}`, in)
	d.pod("done")
	_, err := d.run(d.begin()[0])
	require.NoError(t, err)
	d.pod("web")
	d.begin()
	job := d.as("podbuggertool-toolbox")

	kubectl(t, job, "get", "pod", "web", in)
	for _, refused := range [][]string{
		{"get", "pods", in},
		{"get", "pod", "other", in},
		{"get", "pod", "done", in},
		{"replace", "--raw=/api/v1/namespaces/" + d.ns + "/pods/other/ephemeralcontainers", "--filename=/dev/null"},
		{"replace", "--raw=/api/v1/namespaces/" + d.ns + "/pods/done/ephemeralcontainers", "--filename=/dev/null"},
		{"get", "pod", "web", "--namespace=default"},
		{"delete", "pod", "web", in},
		{"label", "pod", "web", "a=b", in},
		{"create", "configmap", "c", in},
		{"get", "secrets", in},
		{"get", "--raw=/api/v1/namespaces/" + d.ns + "/pods/web/log"},
		{"create", "--raw=/api/v1/namespaces/" + d.ns + "/pods/web/exec?command=id", "--filename=/dev/null"},
		{"get", "roles", in},
	} {
		_, stderr, err := controlPlane.Kubectl(append([]string{job}, refused...)...)
		require.Error(t, err, refused)
		require.Contains(t, stderr, "orbidden", refused)
	}

	everybody := rules(t, d.as("default"), in)
	var more []string
	for _, line := range rules(t, job, in) {
		if !slices.Contains(everybody, line) {
			more = append(more, line)
		}
	}
	require.ElementsMatch(t, []string{"pods [] [web] [get]", "pods/ephemeralcontainers [] [web] [patch update]"}, more)
}

// rules lists what a user may do in a namespace.
func rules(t *testing.T, user, in string) []string {
	t.Helper()
	var lines []string
	for line := range strings.Lines(kubectl(t, user, "auth", "can-i", "--list", "--no-headers", in)) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return lines
}

// Both permissions are needed, and they suffice. Kubernetes refuses to grant
// permissions that the grantor does not have, so Metacontroller needs the same two.
func TestDebugNeedsGetAndPatch(t *testing.T) {
	ns := namespace(t, "needs")
	in := "--namespace=" + ns
	d := newDebugTool(t, ns, `{selector: {matchLabels: {app: shop}}, image: busybox}`)
	d.pod("web")
	for _, user := range []struct {
		name, pods, subresource, refused string
	}{
		{"blind", "list", "patch", `cannot get resource "pods"`},
		{"mute", "get", "get", `cannot patch resource "pods/ephemeralcontainers"`},
		{"enough", "get", "patch", ""},
	} {
		kubectl(t, "create", "role", user.name, "--verb="+user.pods, "--resource=pods", in)
		kubectl(t, "create", "role", user.name+"-sub", "--verb="+user.subresource, "--resource=pods/ephemeralcontainers", in)
		kubectl(t, "create", "rolebinding", user.name, "--role="+user.name, "--user="+user.name, in)
		kubectl(t, "create", "rolebinding", user.name+"-sub", "--role="+user.name+"-sub", "--user="+user.name, in)
		require.Eventually(t, func() bool {
			_, _, err := controlPlane.Kubectl("auth", "can-i", user.subresource, "pods/web", "--subresource=ephemeralcontainers", "--as="+user.name, in)
			return err == nil
		}, 20*time.Second, 100*time.Millisecond)
		_, stderr, err := controlPlane.Kubectl("debug", "web", in, "--image=busybox", "--container=toolbox", "--profile=general",
			"--attach=false", "--quiet", "--as="+user.name)
		if user.refused == "" {
			require.NoError(t, err)
			continue
		}
		require.Error(t, err)
		require.Contains(t, stderr, user.refused)
	}
}

func TestMetacontrollerMayGrantThatAndNoMore(t *testing.T) {
	shipPermissions(t)
	d := newDebugTool(t, namespace(t, "grant"), `{selector: {matchLabels: {app: shop}}, image: busybox}`)
	d.pod("web")
	d.begin()
	role := parse(t, kubectl(t, "get", "role", "podbuggertool-toolbox", "--namespace="+d.ns, "--output=yaml"))
	require.Equal(t, []any{
		map[string]any{"apiGroups": []any{""}, "resources": []any{"pods"}, "resourceNames": []any{"web"}, "verbs": []any{"get"}},
		map[string]any{"apiGroups": []any{""}, "resources": []any{"pods/ephemeralcontainers"}, "resourceNames": []any{"web"}, "verbs": []any{"patch", "update"}},
	}, role["rules"])
	_, stderr, err := controlPlane.Kubectl("create", "role", "more", "--verb=get", "--resource=secrets", "--namespace="+d.ns, "--as="+metacontrollerUser)
	require.Error(t, err)
	require.Contains(t, stderr, "attempting to grant RBAC permissions not currently held")
}

// The Jobs' Pods run where the restricted Pod Security Standard is enforced.
func TestDebugJobMeetsTheRestrictedStandard(t *testing.T) {
	shipPermissions(t)
	d := newDebugTool(t, namespace(t, "restricted"), `{selector: {matchLabels: {app: shop}}, image: busybox}`)
	d.pod("web")
	kubectl(t, "label", "namespace", d.ns, "pod-security.kubernetes.io/enforce=restricted")
	jobs := d.begin()
	require.Len(t, jobs, 1)
	pod := jobs[0]["spec"].(map[string]any)["template"].(map[string]any)
	pod["apiVersion"], pod["kind"] = "v1", "Pod"
	pod["metadata"].(map[string]any)["name"] = "helper"
	apply(t, encoded(t, pod), "--namespace="+d.ns)
}
