package apiserver

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestApplyObject(t *testing.T) {
	for _, c := range []struct{ name, live, owned, desired, want string }{
		{
			"a field that is not applied any more goes with all that is in it",
			`{probe: {tcp: 80, timeout: 1}, foreign: 1}`, `{probe: {tcp: 80}}`, `{}`, `{foreign: 1}`,
		},
		{
			"labels of others stay",
			`{labels: {mine: a, theirs: b}}`, `{labels: {mine: a}}`, `{}`, `{labels: {theirs: b}}`,
		},
		{
			"labels that were all mine go",
			`{labels: {mine: a}}`, `{labels: {mine: a}}`, `{}`, `{}`,
		},
		{
			"ports are told apart by protocol too, which is TCP where it is missing",
			`{ports: [{port: 53, protocol: TCP, nodePort: 30000}, {port: 53, protocol: UDP}]}`,
			`{ports: [{port: 53}, {port: 53, protocol: UDP}]}`, `{ports: [{port: 53, name: dns}]}`,
			`{ports: [{port: 53, protocol: TCP, nodePort: 30000, name: dns}]}`,
		},
		{
			"an item of someone else stays, a new one comes last",
			`{containers: [{name: injected}, {name: a, image: x, policy: d}]}`, `{containers: [{name: a, image: x}]}`,
			`{containers: [{name: b}, {name: a, image: y}]}`,
			`{containers: [{name: injected}, {name: a, image: y, policy: d}, {name: b}]}`,
		},
		{
			"a list without keys is one field",
			`{tolerations: [{key: a, operator: Exists}]}`, `{tolerations: [{key: a}]}`, `{tolerations: [{key: b}]}`,
			`{tolerations: [{key: b}]}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			live := parse(t, c.live)
			applyObject(live, parse(t, c.owned), parse(t, c.desired))
			require.Equal(t, parse(t, c.want), live)
		})
	}
}

func TestStillOwned(t *testing.T) {
	left, any := stillOwned("", parse(t, `{a: 1, m: {b: 2, c: 3}, containers: [{name: x, image: i}], replicas: 4}`),
		parse(t, `{a: 1, m: {b: 2, c: 3}, containers: [{name: x, image: i}], replicas: 4}`),
		parse(t, `{a: 1, m: {b: 0, c: 3}, containers: [{name: x, image: j}], replicas: 5}`))
	require.True(t, any)
	require.Equal(t, parse(t, `{a: 1, m: {c: 3}, containers: [{name: x}]}`), left)
}

func TestFieldsV1(t *testing.T) {
	require.Equal(t,
		parse(t, `{"f:spec": {"f:replicas": {}, "f:containers": {'k:{"name":"c"}': {"f:name": {}, "f:image": {}}}}}`),
		fieldsV1(parse(t, `{spec: {replicas: 1, containers: [{name: c, image: i}]}}`)))
}
