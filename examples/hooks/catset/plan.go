package catset

// none is the ordinal of no Pod.
const none = -1

// plan is what shall happen.
type plan struct {
	makes bool // the first Pod that is missing is made
	goes  int  // the Pod that goes, or none
}

// decide plans the next step. The order is that of a StatefulSet: too many Pods go before those
// of an older template do.
func decide(o observed, replicas int) plan {
	ready := o.ready(replicas)
	p := plan{makes: ready < replicas && o[ready] == nil, goes: none}
	if o.anyGoing() {
		return p
	}
	switch {
	case ready == replicas && o.last() >= replicas:
		p.goes = o.last()
	case ready == replicas:
		p.goes = o.lastOf(func(pod *observedPod) bool { return !pod.isNewest })
	default:
		p.goes = o.lastOf(func(pod *observedPod) bool { return pod.Status.IsDone() || !pod.isNewest && !pod.isReady() })
	}
	return p
}
