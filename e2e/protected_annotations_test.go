package e2e

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestOnlyMetacontrollerWritesItsAnnotations: with the component protected-annotations who
// may edit a child may not forge what tells how it was applied.
func TestOnlyMetacontrollerWritesItsAnnotations(t *testing.T) {
	const policy = "../deploy/components/protected-annotations/policy.yaml"
	ns := namespace(t, "annotations")
	in := "--namespace=" + ns
	kubectl(t, "create", "role", "writer", "--verb=get,create,patch", "--resource=configmaps", in)
	kubectl(t, "create", "rolebinding", "writer", "--role=writer", "--user=editor", "--serviceaccount=metacontroller:metacontroller", in)
	const editor, metacontroller = "--as=editor", "--as=system:serviceaccount:metacontroller:metacontroller"
	applied := func(value string) string { return "metacontroller.k8s.io/last-applied-configuration=" + value }
	apply(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: child, annotations: {metacontroller.k8s.io/last-applied-configuration: "{}", operetta.dev/hash: a}}}`, in)
	apply(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: plain}}`, in)
	refused := func(arguments ...string) string {
		_, stderr, err := controlPlane.Kubectl(append([]string{editor, in}, arguments...)...)
		if err == nil {
			return ""
		}
		return stderr
	}
	require.Eventually(t, func() bool { // without the component anyone may who may edit
		return refused("annotate", "--overwrite", "configmap", "child", applied("forged")) == ""
	}, time.Minute, 200*time.Millisecond)

	kubectl(t, "apply", "--filename="+policy)
	t.Cleanup(func() { kubectl(t, "delete", "--filename="+policy) })
	require.Eventually(t, func() bool { // the API server reads policies again after some time
		return refused("annotate", "--overwrite", "configmap", "child", applied(time.Now().String())) != ""
	}, time.Minute, 200*time.Millisecond)
	for _, arguments := range [][]string{
		{"annotate", "--overwrite", "configmap", "child", applied("x")},
		{"annotate", "--overwrite", "configmap", "child", "operetta.dev/hash=b"},
		{"annotate", "configmap", "child", "operetta.dev/hash-"},
		{"annotate", "configmap", "plain", "operetta.dev/hash=b"},
		{"annotate", "configmap", "plain", applied("{}")},
	} {
		require.Contains(t, refused(arguments...), "are written by Metacontroller", arguments)
	}
	_, stderr, err := controlPlane.KubectlWithInput(`{apiVersion: v1, kind: ConfigMap, metadata: {name: new, annotations: {operetta.dev/hash: a}}}`,
		"create", "--filename=-", editor, in)
	require.Error(t, err)
	require.Contains(t, stderr, "are written by Metacontroller")

	rollback := "deprecated.deployment.rollback.to=1"
	require.Contains(t, refused("annotate", "configmap", "child", rollback), "rolled back by the annotation")
	require.Empty(t, refused("annotate", "configmap", "plain", rollback), "what is no child is its owner's")

	require.Empty(t, refused("label", "configmap", "child", "a=b"))
	require.Empty(t, refused("annotate", "configmap", "plain", "a=b"))
	require.Empty(t, refused("patch", "configmap", "child", `--patch={"data":{"a":"b"}}`))
	require.Empty(t, refused("create", "configmap", "other"))
	kubectl(t, metacontroller, "annotate", "--overwrite", "configmap", "child", applied("{}"), in)
	kubectl(t, metacontroller, "annotate", "configmap", "plain", "operetta.dev/hash=b", in)
	kubectl(t, "annotate", "--overwrite", "configmap", "child", applied("restored"), in) // who may install operators
}
