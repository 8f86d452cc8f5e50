package metacontroller

import (
	"encoding/json"
	"errors"
	"fmt"

	kjson "sigs.k8s.io/json"
)

// Policy is what whoever installs an operator decides about it, as opposed to the users of
// its custom resources: images for a cluster without access to public registries, say.
// The zero value is that of an operator of which nothing can be decided.
type Policy struct {
	value   any
	declare func(text []byte) (Controller, error)
}

// Value returns the policy as a Go value, or nil.
func (p Policy) Value() any { return p.value }

// Configured returns the Controller that declare makes of a policy, with what
// [Controller.WithPolicy] needs to make another one. A policy is a struct with JSON tags; if
// it has a method Validate() error, another one has to pass it.
func Configured[P any](policy P, declare func(P) Controller) Controller {
	controller := declare(policy)
	controller.Policy = Policy{value: policy, declare: func(text []byte) (Controller, error) {
		other, err := overlaid(policy, text)
		if err != nil {
			return Controller{}, err
		}
		return Configured(other, declare), nil
	}}
	return controller
}

// WithPolicy returns the Controller with what some JSON says in the place of its own
// policy, field by field. The error is one of [kjson.UnmarshalStrict] for text that is no
// such policy, or that of the policy's Validate.
func (c Controller) WithPolicy(text []byte) (Controller, error) {
	if c.Policy.declare == nil {
		return Controller{}, fmt.Errorf("%s has no policy", c.Name())
	}
	return c.Policy.declare(text)
}

// overlaid returns a copy of a policy with the fields of some JSON.
func overlaid[P any](policy P, text []byte) (P, error) {
	var other P
	own, err := json.Marshal(policy) // a copy shares no map
	if err == nil {
		err = json.Unmarshal(own, &other)
	}
	if err != nil {
		return other, err
	}
	unknown, err := kjson.UnmarshalStrict(text, &other)
	if err = errors.Join(append(unknown, err)...); err != nil {
		return other, err
	}
	if valid, ok := any(other).(interface{ Validate() error }); ok {
		err = valid.Validate()
	}
	return other, err
}
