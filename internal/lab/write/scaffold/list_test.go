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
			got, err := list(head+test.before).with("example.com/a", "mango")
			require.NoError(t, err)
			require.Equal(t, head+test.after, string(got))
		})
	}
	for _, without := range []string{"", "func All() []mc.C { return nil }\n", "func All() []mc.C { return []mc.C{kiwi.Controller()} }\n", "func All() (all []mc.C) { all = append(all, x); return all }\n"} {
		_, err := list(head+without).with("example.com/a", "mango")
		require.ErrorContains(t, err, "has no function All that returns a literal")
	}
}
