package operator_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

func TestWatchPods(t *testing.T) {
	for policy, includes := range map[operator.WatchPods]struct{ ready, notReady bool }{
		"":                          {true, true},
		operator.WatchAlways:        {true, true},
		operator.WatchWhileNotReady: {false, true},
		operator.WatchNever:         {false, false},
	} {
		require.Equal(t, includes.ready, policy.Includes(true), policy)
		require.Equal(t, includes.notReady, policy.Includes(false), policy)
		require.NoError(t, policy.Validate())
	}
	require.EqualError(t, operator.WatchPods("always").Validate(), `watchPods: "always" is unknown: write Always, WhileNotReady or Never`)
}

func TestIsReadyAt(t *testing.T) {
	status := operator.Status{Conditions: []metav1.Condition{{Type: operator.ConditionReady, Status: metav1.ConditionTrue, ObservedGeneration: 3}}}
	require.True(t, status.IsReadyAt(3))
	require.False(t, status.IsReadyAt(4), "the spec has changed")
	status.Conditions[0].Status = metav1.ConditionUnknown
	require.False(t, status.IsReadyAt(3))
	require.False(t, (&operator.Status{}).IsReadyAt(0))
}

// TestSeeWhy: the command needs no namespace for what is in none.
func TestSeeWhy(t *testing.T) {
	require.Equal(t, "; to see why: kubectl operetta why web/a -n shop", operator.SeeWhy("web", &metav1.ObjectMeta{Namespace: "shop", Name: "a"}, metacontroller.Observed{}))
	require.Equal(t, "; to see why: kubectl operetta why web/a", operator.SeeWhy("web", &metav1.ObjectMeta{Name: "a"}, metacontroller.Observed{}))
}
