package build_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// TestRulesLetTheGoodPass asks about what stands beside the bad in rules.yaml,
// which is refused.
func TestRulesLetTheGoodPass(t *testing.T) {
	text, err := os.ReadFile("testdata/rules.yaml")
	require.NoError(t, err)
	var rules map[string]struct{ Message, BadName, Bad, Good string }
	require.NoError(t, yaml.Unmarshal(text, &rules))
	first := firstBuild(t)
	for name, rule := range rules {
		for spec, isGood := range map[string]bool{rule.Good: true, rule.Bad: rule.BadName != ""} {
			request := decoded(t, first.Case)
			encoded, err := yaml.YAMLToJSON([]byte(spec))
			require.NoError(t, err)
			var decodedSpec object
			require.NoError(t, json.Unmarshal(encoded, &decodedSpec))
			request["parent"].(object)["spec"] = decodedSpec
			_, err = ask(t, first.Case, request)
			require.Equal(t, isGood, err == nil, "%s: %v", name, err)
		}
	}
}
