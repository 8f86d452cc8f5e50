package crd

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestNamesInADefinition(t *testing.T) {
	want := Names{Kind: "Toy", Plural: "toys", ShortNames: []string{"ty", "tyy"}}
	for name, text := range map[string]string{
		"as controller-gen prints it": "# generated\nkind: CustomResourceDefinition\nmetadata:\n  names: {kind: X}\nspec:\n  group: example.com\n  names:\n    kind: Toy\n    plural: toys\n    shortNames:\n    - ty\n    - tyy\n  scope: Namespaced\n",
		"in one line":                 "spec:\n    names: {kind: Toy, plural: toys, shortNames: [ty, tyy]}\n",
		"behind the schema":           "spec:\n  versions:\n  - schema:\n      properties:\n        names: {kind: X}\n\n  # comment\n  names:\n    kind: Toy\n    plural: toys\n    shortNames: [ty, tyy]\nstatus: {}\n",
	} {
		require.Equal(t, want, NamesIn([]byte(text)), name)
	}
	for _, text := range []string{"", `{"spec":{"names":{"kind":"Toy"}}}`, "spec:\n  names: [\n", "names:\n  kind: Toy\n"} {
		require.Empty(t, NamesIn([]byte(text)), text)
	}
}

func TestScopeInADefinition(t *testing.T) {
	for text, want := range map[string]bool{
		"kind: CustomResourceDefinition\nspec:\n  group: example.com\n  scope: Cluster\n  versions: []\n": true,
		"spec:\n    scope: \"Cluster\" # of all\n":                                                        true,
		"spec:\n  scope: Namespaced\n":                                                                    false,
		"spec:\n  versions:\n  - schema:\n      scope: Cluster\n  scope: Namespaced\n":                    false,
		"spec:\n  names:\n    scope: Cluster\n":                                                           false,
		"spec: {}\nstatus:\n  scope: Cluster\n":                                                           false,
		"":                                                                                                false,
	} {
		require.Equal(t, want, IsClusterIn([]byte(text)), text)
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
