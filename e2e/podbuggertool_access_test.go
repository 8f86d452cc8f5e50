package e2e

import (
	"slices"
	"strings"
	"testing"

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
