package rediscache

// status reports what is observed. What every status has is added by operator.Answer.
func status(found observed) Status {
	var next Status
	if found.set != nil {
		next.ReadyReplicas = found.set.Status.ReadyReplicas
	}
	return next
}
