package bluegreendeployment

import (
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// observedService is the part of the Service that is read.
type observedService struct {
	Spec struct {
		Selector struct {
			Color Color `json:"color"`
		} `json:"selector"`
	} `json:"spec"`
}

// observedSet is the part of a ReplicaSet that is read.
type observedSet struct {
	metacontroller.Snapshot `json:"-"`

	Metadata struct {
		Generation  int64 `json:"generation"`
		Annotations struct {
			TemplateHash string `json:"bluegreendeployments.ctl.enisoc.com/template-hash"`
		} `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		Replicas *int32 `json:"replicas"`
	} `json:"spec"`
	Status operator.WorkloadStatus `json:"status"`

	isNewest bool // it has the newest template
}

// rollout returns how far the ReplicaSet is, which is nowhere for one that is nil.
func (s *observedSet) rollout() operator.Rollout {
	if s == nil {
		return operator.Rollout{}
	}
	return operator.RolloutOf(metacontroller.ReplicaSet.Kind, s.Metadata.Generation, s.Spec.Replicas, &s.Status)
}

// has reports whether the ReplicaSet is asked for this many Pods, and has them, all available.
func (s *observedSet) has(replicas int32) bool {
	r := s.rollout()
	return s != nil && r.IsObserved() && r.Wanted == replicas && r.Existing == replicas && r.Available == replicas
}

// isDrained reports whether the ReplicaSet has no Pods and will have none.
func (s *observedSet) isDrained() bool {
	r := s.rollout()
	return s == nil || r.IsObserved() && r.Wanted == 0 && r.Existing == 0
}

// observed is what exists.
type observed struct {
	sets map[Color]*observedSet // without those that do not exist
	// active is the color that the Service selects, or the last one that it was seen to while
	// there is none.
	active Color
}

// observe decodes the children, once.
func observe(deployment *BlueGreenDeployment, request metacontroller.Observed, hash string) (observed, error) {
	o := observed{sets: map[Color]*observedSet{}, active: deployment.Status.ActiveColor}
	kind := metacontroller.Service
	service, err := metacontroller.Get[observedService](request.Children, kind.APIVersion, kind.Kind, deployment.Spec.Service.Metadata.Name)
	if err != nil {
		return o, err
	}
	if service != nil {
		o.active = service.Spec.Selector.Color
	}
	if o.active != Green {
		o.active = Blue
	}
	for _, color := range []Color{Blue, Green} {
		kind := metacontroller.ReplicaSet
		set, err := metacontroller.Get[observedSet](request.Children, kind.APIVersion, kind.Kind, setName(deployment, color))
		if err != nil {
			return o, err
		}
		if set != nil {
			set.isNewest = set.Metadata.Annotations.TemplateHash == hash
			o.sets[color] = set
		}
	}
	return o, nil
}
