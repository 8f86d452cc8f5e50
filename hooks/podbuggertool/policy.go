package podbuggertool

import (
	"github.com/operetta-dev/operetta/deploy/images"
	"github.com/operetta-dev/operetta/operator"
)

// Policy is what whoever installs the operator decides.
type Policy struct {
	// KubectlImage is the image of the Jobs of a tool without a kubectlImage. Its entrypoint is
	// kubectl, and it needs neither a user nor a shell. Jobs that exist keep theirs.
	KubectlImage string `json:"kubectlImage"`
}

// DefaultPolicy returns the Policy of [Controller].
func DefaultPolicy() Policy { return Policy{KubectlImage: images.Of("podbuggertool-kubectl")} }

// Validate returns what is wrong with a Policy.
func (p Policy) Validate() error {
	return operator.CheckImage("kubectlImage", p.KubectlImage)
}
