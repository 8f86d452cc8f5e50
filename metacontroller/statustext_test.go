package metacontroller

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/internal/printable"
)

type toldStatus struct {
	Message    string             `json:"message,omitempty"`
	Name       string             `json:"name,omitempty"`
	Pods       []toldPod          `json:"pods,omitempty"`
	ByName     map[string]string  `json:"byName,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

type toldPod struct {
	Name    string `json:"name"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// told returns a status as it leaves a hook.
func told(t *testing.T, status toldStatus) (clean toldStatus, length int) {
	t.Helper()
	out, err := resolve(&request{}, Result[toldStatus]{Status: status}, nil)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(out.status, &clean), "%s", out.status)
	again, err := resolve(&request{}, Result[toldStatus]{Status: clean}, nil)
	require.NoError(t, err)
	require.Equal(t, string(out.status), string(again.status), "what is clean stays as it is")
	return clean, len(out.status)
}

func TestReasonsOfConditionsAreOnes(t *testing.T) {
	for reason, want := range map[string]string{
		"Error": "Error", "A": "A", "A:b,c_1": "A:b,c_1", "Ends_": "Ends_",
		"":                       "Unknown",
		"OutOfnvidia.com/gpu":    "OutOfnvidia_com_gpu",
		"OutOfcpu.":              "OutOfcpu",
		"7 \x1b[31mred":          "mred",
		"größe":                  "gr__e",
		"日本":                     "Unknown",
		"a:":                     "a",
		`quo"te\`:                "quo_te",
		strings.Repeat("a", 128): strings.Repeat("a", 128),
		strings.Repeat("a", 129): strings.Repeat("a", 128),
	} {
		clean, _ := told(t, toldStatus{Conditions: []metav1.Condition{{Type: "Ready", Reason: reason}}})
		require.Equal(t, want, clean.Conditions[0].Reason, "%q", reason)
	}
	clean, _ := told(t, toldStatus{Pods: []toldPod{{Reason: "OutOfnvidia.com/gpu"}}})
	require.Equal(t, "OutOfnvidia.com/gpu", clean.Pods[0].Reason, "a reason that is none of a condition")
}

func TestTextsOfAStatusCanBeShownAndStored(t *testing.T) {
	const evil = "\x1b[2J two\nlines\x00 \u202e \xff ä \"quoted\" \\"
	long := strings.Repeat("日", 40_000)
	clean, _ := told(t, toldStatus{
		Message: evil, Name: long, ByName: map[string]string{evil: evil}, Pods: []toldPod{{Name: evil, Message: long}},
		Conditions: []metav1.Condition{{Type: "Ready", Reason: "Error", Message: evil + long}, {Type: "Stalled", Reason: "Error", Message: "two  spaces <&> ä"}},
	})
	const shown = `\u001b[2J two lines\u0000 \u202e \ufffd ä "quoted" \`
	require.Equal(t, shown, clean.Message)
	require.Equal(t, map[string]string{shown: shown}, clean.ByName)
	require.Equal(t, shown, clean.Pods[0].Name)
	require.True(t, strings.HasPrefix(clean.Conditions[0].Message, shown))
	require.Equal(t, "two  spaces <&> ä", clean.Conditions[1].Message)
	for _, text := range []string{clean.Name, clean.Pods[0].Message, clean.Conditions[0].Message} {
		require.Less(t, len(text), 32<<10)
		require.Greater(t, len(text), 32<<10-20)
		require.True(t, printable.Is(text))
	}
}

// TestEveryStatusIsCleaned asks hooks of both kinds, and those of which there is
// none: then the status is the one that was sent.
func TestEveryStatusIsCleaned(t *testing.T) {
	c := deployments()
	evil := Result[toldStatus]{Status: toldStatus{Message: "\x1b", Conditions: []metav1.Condition{{Reason: "a/b"}}}}
	c.Sync = Sync(func(*struct{}, Observed) (Result[toldStatus], error) { return evil, nil })
	for hook, finalize := range map[HookName]Hook{
		SyncHook:     {},
		FinalizeHook: Finalize(func(*struct{}, Observed) (Result[toldStatus], error) { return evil, nil }),
		"default":    {},
	} {
		c.Finalize = finalize
		if hook == "default" {
			hook = FinalizeHook
		}
		body := fmt.Appendf(nil, `{"parent":{"apiVersion":%q,"kind":%q,"metadata":{"name":"a"},"status":{"message":"\u001b","conditions":[{"reason":"a/b"}]}},
			"children":{"Deployment.apps/v1":{}},"related":{},"finalizing":%t}`, c.Parent.APIVersion, c.Parent.Kind, hook == FinalizeHook)
		answer, err := c.Call(hook, noon, body)
		require.NoError(t, err)
		require.Contains(t, string(answer.Body), `"\\u001b"`, hook)
		if hook == SyncHook || finalize.sync != nil {
			require.NotContains(t, string(answer.Body), `a/b`, hook) // what is stored has a reason that can be
		}
	}
}
