package podset

import (
	"github.com/operetta-dev/operetta/deploy/images"
	"github.com/operetta-dev/operetta/operator"
)

// Policy is what whoever installs the operator decides.
type Policy struct {
	// DefaultImage is the image of the Pods of a PodSet without a template. It has the
	// program sleep. Pods that exist keep theirs.
	DefaultImage string `json:"defaultImage"`
}

// DefaultPolicy returns the Policy of [Controller].
func DefaultPolicy() Policy { return Policy{DefaultImage: images.Of("podset-default")} }

// Validate returns what is wrong with a Policy.
func (p Policy) Validate() error {
	return operator.CheckImage("defaultImage", p.DefaultImage)
}
