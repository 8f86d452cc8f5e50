package operator

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestJudge(t *testing.T) {
	for state, want := range map[State]string{
		Working:  "Ready=False/Why Degraded=False/AsExpected Progressing=True/Why",
		Done:     "Ready=True/Why Degraded=False/AsExpected Progressing=False/Complete",
		Hindered: "Ready=False/Why Degraded=True/Why Progressing=True/Why",
		Failed:   "Ready=False/Why Degraded=True/Why Progressing=False/Why Stalled=True/Why",
	} {
		c := NewConditions(nil, 1, noon)
		c.Judge(Judgement{State: state, Reason: "Why", Message: "what"}, ConditionProgressing, ConditionDegraded)
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
	creating := ChildrenReport{Judgement: Judgement{Working, ReasonCreating, ""}}
	blocked := ChildrenReport{Judgement: Judgement{Failed, ReasonChildBlocked, ""}}
	done, failed := Judgement{Done, "Works", ""}, Judgement{Failed, "Broken", ""}
	require.Equal(t, done, ChildrenReport{Settled: true}.With(done))
	require.Equal(t, creating.Judgement, creating.With(done))
	require.Equal(t, failed, creating.With(failed))
	require.Equal(t, blocked.Judgement, blocked.With(failed))
	updating, hindered := ChildrenReport{Judgement: Judgement{Working, ReasonUpdating, ""}}, Judgement{Hindered, "Why", ""}
	require.Equal(t, hindered, updating.With(hindered))
	require.Equal(t, creating.Judgement, creating.With(hindered))
}
