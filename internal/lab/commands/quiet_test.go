package commands

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/cli"
	"github.com/operetta-dev/operetta/metacontroller"
)

// TestARunThatIsNotQuietIsNotHeadedSo: the status of this operator has the time in it, so
// that each sync writes.
func TestARunThatIsNotQuietIsNotHeadedSo(t *testing.T) {
	restless := metacontroller.Controller{
		Parent: metacontroller.Resource{APIVersion: "example.com/v1", Kind: "Greeting", Plural: "greetings"},
		Sync: metacontroller.Sync(func(_ *greeting, seen metacontroller.Observed) (metacontroller.Result[map[string]any], error) {
			return metacontroller.Result[map[string]any]{Status: map[string]any{
				"now":        seen.Now.String(),
				"conditions": []any{map[string]any{"type": "Ready", "status": "True", "reason": "Said"}},
			}}, nil
		}),
	}
	var out, err bytes.Buffer
	code := Run(t.Context(), "greeter", Operators{Controllers: []metacontroller.Controller{restless}}, []string{"simulate", "-"},
		cli.Streams{In: strings.NewReader("apiVersion: example.com/v1\nkind: Greeting\nmetadata: {name: hi}\n"), Out: &out, Err: &err})
	require.Equal(t, cli.ExitFailed, code)
	require.Contains(t, out.String(), "= Greeting default/hi: Ready, but NOT quiet after ")
	require.Contains(t, err.String(), "greeter: Greeting default/hi is not quiet: another sync writes Greeting/hi status.now: \"20")
}
