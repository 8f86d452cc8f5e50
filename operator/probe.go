package operator

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
)

// ProbeSeconds returns how many seconds a probe grants a container to succeed first, with the API
// server's defaults, or 0 for none.
func ProbeSeconds(probe *corev1.Probe) int64 {
	if probe == nil {
		return 0
	}
	return int64(probe.InitialDelaySeconds) + int64(cmp.Or(probe.FailureThreshold, 3))*int64(cmp.Or(probe.PeriodSeconds, 10))
}
