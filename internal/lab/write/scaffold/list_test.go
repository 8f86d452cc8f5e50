package scaffold

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOperatorIsAddedInItsPlace(t *testing.T) {
	const head = "// Package hooks lists the operators.\npackage hooks\n\n"
	for name, test := range map[string]struct{ before, after string }{
		"first": {
			"import (\n\t\"example.com/a/hooks/pear\"\n\t\"example.com/a/hooks/plum\" // sour\n)\n\nfunc All() []mc.C {\n\treturn []mc.C{\n\t\tpear.Controller(),\n\t\tplum.Controller(), // sour\n\t}\n}\n",
			"import (\n\t\"example.com/a/hooks/mango\"\n\t\"example.com/a/hooks/pear\"\n\t\"example.com/a/hooks/plum\" // sour\n)\n\nfunc All() []mc.C {\n\treturn []mc.C{\n\t\tmango.Controller(),\n\t\tpear.Controller(),\n\t\tplum.Controller(), // sour\n\t}\n}\n",
		},
		"between": {
			"import (\n\t\"example.com/a/hooks/kiwi\"\n\t\"example.com/a/hooks/pear\"\n)\n\nfunc All() []mc.C {\n\treturn []mc.C{\n\t\tkiwi.Controller(), // green\n\t\tpear.Controller(),\n\t}\n}\n",
			"import (\n\t\"example.com/a/hooks/kiwi\"\n\t\"example.com/a/hooks/mango\"\n\t\"example.com/a/hooks/pear\"\n)\n\nfunc All() []mc.C {\n\treturn []mc.C{\n\t\tkiwi.Controller(), // green\n\t\tmango.Controller(),\n\t\tpear.Controller(),\n\t}\n}\n",
		},
		"last": {
			"import (\n\t\"example.com/a/hooks/kiwi\"\n\t\"other.com/mc\"\n)\n\nfunc All() []mc.C {\n\treturn []mc.C{\n\t\tkiwi.Controller(), // green\n\t}\n}\n",
			"import (\n\t\"example.com/a/hooks/kiwi\"\n\t\"example.com/a/hooks/mango\"\n\t\"other.com/mc\"\n)\n\nfunc All() []mc.C {\n\treturn []mc.C{\n\t\tkiwi.Controller(), // green\n\t\tmango.Controller(),\n\t}\n}\n",
		},
		"none yet": {
			"import (\n\t\"other.com/mc\"\n)\n\nfunc All() []mc.C {\n\treturn []mc.C{}\n}\n",
			"import (\n\t\"example.com/a/hooks/mango\"\n\n\t\"other.com/mc\"\n)\n\nfunc All() []mc.C {\n\treturn []mc.C{\n\t\tmango.Controller(),\n\t}\n}\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := lists[0].with([]byte(head+test.before), "example.com/a", "mango")
			require.NoError(t, err)
			require.Equal(t, head+test.after, string(got))
		})
	}
	for _, without := range []string{"", "func All() []mc.C { return nil }\n", "func All() []mc.C { return []mc.C{kiwi.Controller()} }\n", "func All() (all []mc.C) { all = append(all, x); return all }\n"} {
		_, err := lists[0].with([]byte(head+without), "example.com/a", "mango")
		require.ErrorContains(t, err, "has no function All that returns a literal")
	}
}

func TestInvariantsAreAddedInTheirPlace(t *testing.T) {
	const head = "// Package invariants lists them.\npackage invariants\n\n"
	for name, test := range map[string]struct{ before, after string }{
		"between": {
			"import (\n\tkiwi \"example.com/a/hooks/kiwi/invariants\"\n\tpear \"example.com/a/hooks/pear/invariants\"\n\n\t\"other.com/simulation\"\n)\n\nfunc All() simulation.Kinds {\n\treturn simulation.Kinds{\n\t\t\"kiwi\": {Invariants: kiwi.Invariants(), Workload: kiwi.Workload},\n\t\t\"pear\": {Invariants: pear.Invariants()},\n\t}\n}\n",
			"import (\n\tkiwi \"example.com/a/hooks/kiwi/invariants\"\n\tmango \"example.com/a/hooks/mango/invariants\"\n\tpear \"example.com/a/hooks/pear/invariants\"\n\n\t\"other.com/simulation\"\n)\n\nfunc All() simulation.Kinds {\n\treturn simulation.Kinds{\n\t\t\"kiwi\":  {Invariants: kiwi.Invariants(), Workload: kiwi.Workload},\n\t\t\"mango\": {Invariants: mango.Invariants()},\n\t\t\"pear\":  {Invariants: pear.Invariants()},\n\t}\n}\n",
		},
		"none yet": {
			"import (\n\t\"other.com/simulation\"\n)\n\nfunc All() simulation.Kinds {\n\treturn simulation.Kinds{}\n}\n",
			"import (\n\tmango \"example.com/a/hooks/mango/invariants\"\n\n\t\"other.com/simulation\"\n)\n\nfunc All() simulation.Kinds {\n\treturn simulation.Kinds{\n\t\t\"mango\": {Invariants: mango.Invariants()},\n\t}\n}\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := lists[1].with([]byte(head+test.before), "example.com/a", "mango")
			require.NoError(t, err)
			require.Equal(t, head+test.after, string(got))
		})
	}
}
