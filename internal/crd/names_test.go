package crd

import (
	"testing"

	"github.com/stretchr/testify/require"
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

func TestShortNamesOfKubernetesAreKnown(t *testing.T) {
	owner, isTaken := OwnerOfShortName("rc")
	require.True(t, isTaken)
	require.Equal(t, "replicationcontrollers", owner)
	_, isTaken = OwnerOfShortName("tn")
	require.False(t, isTaken)
}
