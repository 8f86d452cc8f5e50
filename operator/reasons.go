package operator

// Reasons returns the reasons of Ready that this package writes. Metrics tell them apart
// for every kind, and those that its declaration names.
func Reasons() []string {
	return []string{
		ReasonCreating, ReasonUpdating, ReasonChildBlocked, ReasonUpdateBlocked,
		ReasonAvailable, ReasonUnavailable, ReasonRollingOut, ReasonReplicaFailure, ReasonDeadlineExceeded, ReasonPaused,
	}
}
