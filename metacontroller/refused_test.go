package metacontroller

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSurelyRefusedUpdates(t *testing.T) {
	const desired = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},"spec":{"selector":{"matchLabels":{"a":"b","c":"d"}}}}`
	foreign := strings.Replace(desired, `"spec":{`, `"spec":{"x":"`+strings.Repeat("x", 300<<10)+`",`, 1)
	for name, c := range map[string]struct {
		observed, desired string
		want              bool
	}{
		"the same":                    {desired, desired, false},
		"another order":               {strings.Replace(desired, `"a":"b","c":"d"`, `"c":"d", "a":"b"`, 1), desired, false},
		"more replicas":               {strings.Replace(desired, `"spec":{`, `"spec":{"replicas":3,`, 1), desired, false},
		"another selector":            {strings.Replace(desired, `{"matchLabels"`, `{"matchExpressions":[{"key":"x","operator":"Exists"}],"matchLabels"`, 1), desired, true},
		"one label less":              {strings.Replace(desired, `,"c":"d"`, ``, 1), desired, true},
		"the selector of a Service":   {`{"apiVersion":"v1","spec":{"selector":{"a":"x"}}}`, `{"apiVersion":"v1","spec":{"selector":{"a":"b"}}}`, false},
		"much that others have added": {foreign, desired, true},
		"as much that is asked for":   {foreign, foreign, false},
	} {
		require.Equal(t, c.want, isSurelyRefused([]byte(c.observed), []byte(c.desired)), name)
	}
}
