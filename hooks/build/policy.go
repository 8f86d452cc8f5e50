package build

import (
	"github.com/operetta-dev/operetta/deploy/images"
	"github.com/operetta-dev/operetta/operator"
)

// Policy is what whoever installs the operator decides.
type Policy struct {
	// CloneImage is the image that clones where a Build has no source.git.image. It
	// has git, ssh and a shell. No build runs again because of another one.
	CloneImage string `json:"cloneImage"`
}

// DefaultPolicy returns the Policy of [Controller].
func DefaultPolicy() Policy { return Policy{CloneImage: images.Of("build-clone")} }

// Validate returns what is wrong with a Policy.
func (p Policy) Validate() error {
	return operator.CheckImage("cloneImage", p.CloneImage)
}
