package hooks_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/internal/testenv"
)

// TestReasonsAreExplained: each reason for which a case is not Ready has a line in the
// guide that says what to do, of its kind. A MyJob passes on its Pod's own reasons, which
// have one line together.
func TestReasonsAreExplained(t *testing.T) {
	text, err := os.ReadFile("../docs/troubleshooting.md")
	require.NoError(t, err)
	explained := map[string]string{} // the kinds, by reason
	for _, line := range strings.Split(string(text), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		for i, word := range strings.Split(cells[1], "`") {
			if i%2 == 1 {
				explained[word] += cells[2]
			}
		}
	}
	found := map[string]bool{}
	for _, c := range cases(t) {
		answer, err := c.Call()
		if err != nil {
			continue
		}
		var response struct {
			Status struct {
				Conditions []metav1.Condition `json:"conditions"`
			} `json:"status"`
		}
		require.NoError(t, json.Unmarshal(answer.Body, &response))
		for _, condition := range response.Status.Conditions {
			if condition.Type != "Ready" || condition.Status != metav1.ConditionFalse {
				continue
			}
			found[condition.Reason] = true
			kinds, ok := explained[condition.Reason]
			if !ok && strings.HasPrefix(condition.Message, "the Pod has failed: ") {
				continue
			}
			require.True(t, ok, "docs/troubleshooting.md does not say what to do about %s: %s", condition.Reason, condition.Message)
			kind := c.Controller.Parent.Kind
			require.True(t, strings.Contains(kinds, kind) || strings.Contains(kinds, "all"), "docs/troubleshooting.md explains %s of%s, and not of %s", condition.Reason, kinds, kind)
		}
	}
	if testenv.Kind() == "" {
		require.Greater(t, len(found), 20)
	}
}
