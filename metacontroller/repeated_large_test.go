package metacontroller

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAParentOfPunctuationIsAnswered: what a string holds costs no more than its length,
// whatever it looks like. The budget is that of a call in the server as it is shipped.
func TestAParentOfPunctuationIsAnswered(t *testing.T) {
	const call = 57 << 20
	controller := controllerOf(func(*greeting, Observed) (greetingResult, error) {
		return greetingResult{Status: map[string]any{}}, nil
	})
	for _, text := range []string{":", ",", "{", "[", `\"`, `\\`, "<", `\n`, "n"} {
		for _, hook := range []HookName{FinalizeHook, CustomizeHook} {
			var reserved int64
			limits := Limits{Reserve: func(bytes int64) error {
				if reserved += bytes; reserved > call {
					return fmt.Errorf("%d bytes: %w", reserved, ErrTooMuch)
				}
				return nil
			}}
			body := strings.Replace(string(ask(hook == FinalizeHook, "", "")), `"text":"hello"`, `"text":"`+strings.Repeat(text, 1_400_000/len(text))+`"`, 1)
			controller.Customize = Customize(func(*greeting) ([]Rule, error) { return nil, nil })
			_, err := controller.CallContext(t.Context(), hook, noon, []byte(body), limits)
			require.NoError(t, err, "%s of %s", hook, text)
		}
	}
}

func TestMembersAreCounted(t *testing.T) {
	for text, want := range map[string]int64{`{}`: 0, `{"a":1,"b":{"c":[{"d":":"}]}}`: 4, `["a:b"]`: 0, `{"a\":":"x"}`: 1} {
		require.Equal(t, want, countMembers([]byte(text)), text)
	}
}
