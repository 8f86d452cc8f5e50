package bluegreendeployment

// action is what becomes of a ReplicaSet.
type action int

const (
	// build makes it, or updates it, with the newest template and all replicas.
	build action = iota
	// drain scales it to 0. It keeps its template.
	drain
	// keep leaves it as it is.
	keep
)

// plan is what shall happen.
type plan struct {
	service     Color            // what the Service selects
	switchingTo Color            // "" unless the Service is to be switched
	sets        map[Color]action // of both colors
	existing    map[Color]*observedSet
}

// decide plans the next step.
func decide(deployment *BlueGreenDeployment, o observed) plan {
	active, inactive := o.active, o.active.other()
	p := plan{service: active, existing: o.sets, sets: map[Color]action{active: keepOrBuild(o.sets[active])}}
	switch current, next := o.sets[active], o.sets[inactive]; {
	case deployment.Status.SwitchingTo == inactive && next != nil:
		p.service, p.switchingTo = inactive, inactive
		p.sets[inactive] = keepOrBuild(next)
	case current == nil && next == nil, current != nil && current.isNewest:
		p.sets[inactive] = drain
	case next == nil, next.isNewest, next.isDrained():
		p.sets[inactive] = build
		if next != nil && next.isNewest && next.has(wantedReplicas(deployment)) {
			p.switchingTo = inactive // and the Service when a request shows it
		}
	default: // another rollout is given up
		p.sets[inactive] = drain
	}
	return p
}

// keepOrBuild leaves a ReplicaSet as it is that has an older template.
func keepOrBuild(set *observedSet) action {
	if set == nil || set.isNewest {
		return build
	}
	return keep
}

// wantedReplicas returns the number of replicas, with the default of the CRD.
func wantedReplicas(deployment *BlueGreenDeployment) int32 {
	if deployment.Spec.Replicas == nil {
		return 1
	}
	return *deployment.Spec.Replicas
}
