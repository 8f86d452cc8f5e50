package operator

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestJudge(t *testing.T) {
	for state, want := range map[State]string{
		Progressing: "Ready=False/Why Degraded=False/AsExpected Progressing=True/Why",
		Done:        "Ready=True/Why Degraded=False/AsExpected Progressing=False/Complete",
		Restarted:   "Ready=True/Why Degraded=True/ContainerRestarted Progressing=False/Complete",
		Degraded:    "Ready=False/Why Degraded=True/Why Progressing=True/Why",
		Failed:      "Ready=False/Why Degraded=True/Why Progressing=False/Why Stalled=True/Why",
	} {
		c := NewConditions(nil, 1, noon)
		c.SetSummary(Summary{State: state, Reason: "Why", Message: "what"}, ConditionProgressing)
		got := ""
		for i, condition := range c.List() {
			if i > 0 {
				got += " "
			}
			got += fmt.Sprintf("%s=%s/%s", condition.Type, condition.Status, condition.Reason)
			require.Equal(t, "what", condition.Message)
		}
		require.Equal(t, want, got)
	}
}

// TestOwnJudgementStandsWhereItHasFailed, where the children are settled, or where it says
// what hinders their update.
func TestOwnJudgementStandsWhereItHasFailed(t *testing.T) {
	creating := &Report{Summary: Summary{State: Progressing, Reason: ReasonCreating, Message: ""}}
	blocked := &Report{Summary: Summary{State: Failed, Reason: ReasonChildBlocked, Message: ""}}
	done, failed := Summary{State: Done, Reason: "Works", Message: ""}, Summary{State: Failed, Reason: "Broken", Message: ""}
	require.Equal(t, done, (&Report{ChildrenUpToDate: true}).With(done))
	require.Equal(t, creating.Summary, creating.With(done))
	require.Equal(t, failed, creating.With(failed))
	require.Equal(t, blocked.Summary, blocked.With(failed))
	updating, hindered := &Report{Summary: Summary{State: Progressing, Reason: ReasonUpdating, Message: ""}}, Summary{State: Degraded, Reason: "Why", Message: ""}
	require.Equal(t, hindered, updating.With(hindered))
	require.Equal(t, hindered, creating.With(hindered))
}
