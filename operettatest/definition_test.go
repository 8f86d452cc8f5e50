package operettatest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// tune is a whole definition, with texts and rules of a test.
func tune(entries, rule string) string {
	return fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tunes.example.org}
spec:
  group: example.org
  names: {kind: Tune, plural: tunes}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              notes: {type: array, %s, items: {type: string, maxLength: 60}}
            x-kubernetes-validations: [{rule: %q, message: wrong}]
`, entries, rule)
}

func TestWhatTheAPIServerWouldRefuseIsTold(t *testing.T) {
	const once = "self.notes.all(n, self.notes.exists_one(m, m == n))"
	require.NoError(t, stored(t.Context(), []byte(tune("maxItems: 10", once))))
	for want, text := range map[string]string{
		"estimated rule cost exceeds budget by factor of": tune("maxItems: 100000", once),
		"undefined field 'tones'":                         tune("maxItems: 10", "self.tones.size() > 1"),
		"Unsupported value: \"tuple\"":                    strings.Replace(tune("maxItems: 10", once), "type: array", "type: tuple", 1),
		"must be spec.names.plural+\".\"+spec.group":      strings.Replace(tune("maxItems: 10", once), "name: tunes.example.org", "name: tones.example.org", 1),
		"unknown field":                                   strings.Replace(tune("maxItems: 10", once), "maxItems", "mostItems", 1),
	} {
		require.ErrorContains(t, stored(t.Context(), []byte(text)), want)
	}
}
