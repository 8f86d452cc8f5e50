package operator_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/operetta-dev/operetta/operator"
)

func TestProbeSeconds(t *testing.T) {
	require.Zero(t, operator.ProbeSeconds(nil))
	require.EqualValues(t, 30, operator.ProbeSeconds(&corev1.Probe{}), "the API server's defaults")
	require.EqualValues(t, 930, operator.ProbeSeconds(&corev1.Probe{InitialDelaySeconds: 900}))
	require.EqualValues(t, 75, operator.ProbeSeconds(&corev1.Probe{InitialDelaySeconds: 15, PeriodSeconds: 5, FailureThreshold: 12}))
}
