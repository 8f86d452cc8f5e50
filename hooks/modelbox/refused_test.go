package modelbox_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks/modelbox"
	"github.com/operetta-dev/operetta/metacontroller"
)

// TestAnAdoptedDeploymentIsNotUpdated: Metacontroller adopts a Deployment of the name with the
// label of the ModelBox' UID. The API server refuses each update of another selector, and
// quotes all that its creator has written into it.
//
// It is reported, also where it carries the hash that is asked for.
func TestAnAdoptedDeploymentIsNotUpdated(t *testing.T) {
	const request = `{"parent":{"apiVersion":"model.github.com/v1","kind":"ModelBox","metadata":{"name":"b","namespace":"n","uid":"u","generation":1},"spec":{"image":"nginx:2","serviceType":"None"}},
		"children":{"Deployment.apps/v1":{"b":{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"b","namespace":"n","uid":"d"},
			"spec":{"selector":SELECTOR,"template":{"metadata":{"labels":{"modelbox":"b"}},"spec":{"containers":[{"name":"b","image":"nginx:1"}]}}}}},"Service.v1":{}},
		"related":{"Service.v1":{},"Pod.v1":{}},"finalizing":false}`
	kept := func(selector string) bool {
		answer, err := modelbox.Controller().Call(metacontroller.SyncHook, time.Unix(0, 0), []byte(strings.Replace(request, "SELECTOR", selector, 1)))
		require.NoError(t, err)
		require.Len(t, answer.Children, 1)
		require.Equal(t, !answer.Children[0].Kept, strings.Contains(string(answer.Body), "nginx:2"))
		require.Contains(t, string(answer.Body), `"reason":"Updating"`, "it is not as it is asked for")
		return answer.Children[0].Kept
	}
	require.False(t, kept(`{"matchLabels":{"modelbox":"b"}}`))
	require.True(t, kept(`{"matchLabels":{"modelbox":"b"},"matchExpressions":[{"key":"x","operator":"NotIn","values":["`+strings.Repeat("v", 60)+`"]}]}`))

	before, _, _ := strings.Cut(request, `"children":`)
	created := ask(t, before+`"children":{"Deployment.apps/v1":{},"Service.v1":{}},"related":{"Service.v1":{},"Pod.v1":{}},"finalizing":false}`)
	_, hash, _ := strings.Cut(created, `"operetta.dev/hash":"`)
	hash, _, _ = strings.Cut(hash, `"`)
	forged := strings.Replace(request, `"uid":"d"`, `"uid":"d","annotations":{"operetta.dev/hash":"`+hash+`"}`, 1)
	other := strings.Replace(forged, "SELECTOR", `{"matchLabels":{"modelbox":"other"}}`, 1)
	require.Contains(t, ask(t, other), `"outdatedChildren":["Deployment/b"]`)
	require.NotContains(t, ask(t, strings.Replace(forged, "SELECTOR", `{"matchLabels":{"modelbox":"b"}}`, 1)), "outdatedChildren")
}

func ask(t *testing.T, request string) string {
	answer, err := modelbox.Controller().Call(metacontroller.SyncHook, time.Unix(0, 0), []byte(request))
	require.NoError(t, err)
	return string(answer.Body)
}
