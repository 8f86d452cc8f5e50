package crd

import (
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestNamesInADefinition(t *testing.T) {
	want := Names{Kind: "Toy", Plural: "toys", ShortNames: []string{"ty", "tyy"}}
	for name, text := range map[string]string{
		"as controller-gen prints it": "# generated\nkind: CustomResourceDefinition\nmetadata:\n  names: {kind: X}\nspec:\n  group: example.com\n  names:\n    kind: Toy\n    plural: toys\n    shortNames:\n    - ty\n    - tyy\n  scope: Namespaced\n",
		"JSON":                        `{"spec":{"names":{"kind":"Toy","plural":"toys","shortNames":["ty","tyy"]}}}`,
		"in one line":                 "spec:\n    names: {kind: Toy, plural: toys, shortNames: [ty, tyy]}\n",
		"behind the schema":           "spec:\n  versions:\n  - schema:\n      properties:\n        names: {kind: X}\n\n  # comment\n  names:\n    kind: Toy\n    plural: toys\n    shortNames: [ty, tyy]\nstatus: {}\n",
	} {
		require.Equal(t, want, NamesIn([]byte(text)), name)
	}
	for _, text := range []string{"", "spec:\n  names: [\n", "names:\n  kind: Toy\n", "spec: []\n"} {
		require.Empty(t, NamesIn([]byte(text)), text)
	}
}

func TestScopeInADefinition(t *testing.T) {
	const cluster, namespaced, unknown = apiextensionsv1.ClusterScoped, apiextensionsv1.NamespaceScoped, apiextensionsv1.ResourceScope("")
	for text, want := range map[string]apiextensionsv1.ResourceScope{
		"spec:\n  group: example.com\n  names: {kind: Toy}\n  scope: Cluster\n  versions:\n  - {}\n": cluster,
		`{"spec":{"group":"example.com","scope":"Cluster"}}`:                                         cluster,
		"\ufeffspec:\r\n  scope: Cluster\r\n":                                                        cluster,
		"spec:\n  versions:\n  - schema:\n      scope: Cluster\n  scope: Namespaced\n":               namespaced,
		"spec:\n  names:\n    scope: Cluster\n":                                                      unknown,
		"spec: [\n":                                                                                  unknown,
		"":                                                                                           unknown,
	} {
		require.Equal(t, want, ScopeIn([]byte(text)), text)
	}
}

// TestScopeOfKindsOfCRDs is unknown, also where their group ends like those of Kubernetes.
func TestScopeOfKindsOfCRDs(t *testing.T) {
	for _, kind := range []schema.GroupKind{
		{Group: "gateway.networking.k8s.io", Kind: "GatewayClass"}, {Group: "snapshot.storage.k8s.io", Kind: "VolumeSnapshotClass"},
		{Group: "metacontroller.k8s.io", Kind: "CompositeController"}, {Group: "example.com", Kind: "Node"},
	} {
		require.Empty(t, ScopeOf(kind.Group, kind.Kind), kind)
	}
	for _, kind := range []schema.GroupKind{{Kind: "Pod"}, {Group: "apps", Kind: "Deployment"}, {Group: "coordination.k8s.io", Kind: "Lease"}, {Group: "rbac.authorization.k8s.io", Kind: "Role"}} {
		require.Equal(t, apiextensionsv1.NamespaceScoped, ScopeOf(kind.Group, kind.Kind), kind)
	}
}

func TestClusterKinds(t *testing.T) {
	for _, kind := range []schema.GroupKind{{Kind: "Node"}, {Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}, {Group: "storage.k8s.io", Kind: "StorageClass"}} {
		require.True(t, IsClusterKind(kind.Group, kind.Kind), kind)
	}
	for _, kind := range []schema.GroupKind{{Kind: "Pod"}, {Group: "rbac.authorization.k8s.io", Kind: "Role"}, {Group: "example.com", Kind: "Node"}} {
		require.False(t, IsClusterKind(kind.Group, kind.Kind), kind)
	}
}

func TestShortNamesOfKubernetesAreKnown(t *testing.T) {
	owner, isTaken := OwnerOfShortName("rc")
	require.True(t, isTaken)
	require.Equal(t, "replicationcontrollers", owner)
	_, isTaken = OwnerOfShortName("tn")
	require.False(t, isTaken)
}
