package player

import (
	"testing"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/internal/lab/cluster/composite"
)

// parse reads a mapping from YAML.
func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	encoded, err := yaml.YAMLToJSON([]byte(text))
	require.NoError(t, err)
	content, err := kube.ParseJSON(encoded)
	require.NoError(t, err)
	return content
}

func TestMergeOfDynamicApply(t *testing.T) {
	for _, c := range []struct{ name, live, last, desired, want string }{
		{
			"what nobody names stays",
			`{a: 1, server: {x: y}}`, `{a: 1}`, `{a: 2}`, `{a: 2, server: {x: y}}`,
		},
		{
			"what was applied and is not any more goes",
			`{a: 1, b: 2, c: {d: 1, e: 2}}`, `{b: 2, c: {d: 1}}`, `{c: {}}`, `{a: 1, c: {e: 2}}`,
		},
		{
			"a field that was never applied is not removed",
			`{a: 1}`, `{}`, `{}`, `{a: 1}`,
		},
		{
			"a keyed list is merged in the live order, and foreign items stay",
			`{l: [{name: b, v: 1, x: 0}, {name: foreign}, {name: a, v: 1}]}`,
			`{l: [{name: a, v: 1}, {name: b, v: 1}]}`,
			`{l: [{name: new}, {name: a, v: 2}, {name: b, v: 1}]}`,
			`{l: [{name: b, v: 1, x: 0}, {name: foreign}, {name: a, v: 2}, {name: new}]}`,
		},
		{
			"an item that is not applied any more goes",
			`{l: [{name: a}, {name: b}, {name: foreign}]}`, `{l: [{name: a}, {name: b}]}`, `{l: [{name: b}]}`,
			`{l: [{name: b}, {name: foreign}]}`,
		},
		{
			"containerPort is the key before name",
			`{l: [{containerPort: 80, name: old, protocol: TCP}]}`, `{l: [{containerPort: 80, name: old}]}`,
			`{l: [{containerPort: 80, name: new}]}`, `{l: [{containerPort: 80, name: new, protocol: TCP}]}`,
		},
		{
			"one port number on two protocols becomes one port",
			`{ports: [{port: 53, name: tcp, protocol: TCP}]}`, `{}`,
			`{ports: [{port: 53, name: tcp, protocol: TCP}, {port: 53, name: udp, protocol: UDP}]}`,
			`{ports: [{port: 53, name: udp, protocol: UDP}]}`,
		},
		{
			"a list without a key is replaced",
			`{l: [{key: a, tolerationSeconds: 300}], s: [x, y]}`, `{}`, `{l: [{key: a}], s: [z]}`,
			`{l: [{key: a}], s: [z]}`,
		},
		{
			"a list of which one item has no key is replaced",
			`{l: [{name: a, x: 1}]}`, `{}`, `{l: [{name: a}, {other: b}]}`, `{l: [{name: a}, {other: b}]}`,
		},
		{
			"a value of another type than the live map counts as none",
			`{m: {a: 1, b: 2}}`, `{m: {a: 1}}`, `{m: text}`, `{m: {b: 2}}`,
		},
		{
			"a last-applied value of another type than the live one counts as none",
			`{m: {a: 1}, l: [{name: a}]}`, `{m: 7, l: text}`, `{m: {b: 2}, l: [{name: b}]}`, `{m: {a: 1, b: 2}, l: [{name: a}, {name: b}]}`,
		},
		{
			"null for a map takes away what was applied in it",
			`{m: {a: 1, b: 2}}`, `{m: {a: 1}}`, `{m: null}`, `{m: {b: 2}}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			live := parse(t, c.live)
			merged, _ := composite.MergeObject(live, parse(t, c.last), parse(t, c.desired))
			require.Equal(t, parse(t, c.want), merged)
			require.Equal(t, parse(t, c.live), live, "it was modified")
		})
	}
}
