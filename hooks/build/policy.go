package build

import (
	"cmp"

	"github.com/operetta-dev/operetta/deploy/images"
	"github.com/operetta-dev/operetta/operator"
)

// Policy is what whoever installs the operator decides.
type Policy struct {
	// CloneImage is the image that clones where a Build has no source.git.image, and
	// that hands on results. It has git, ssh and a shell. No build runs again because of another one.
	CloneImage string `json:"cloneImage"`
	// WatchPods says when the hook reads the Pods, to say what a build waits for and which step
	// runs. Those of a build that has ended are not read.
	WatchPods operator.WatchPods `json:"watchPods"`
}

// DefaultPolicy returns the Policy of [Controller].
func DefaultPolicy() Policy {
	return Policy{CloneImage: images.Of("build-clone"), WatchPods: operator.WatchAlways}
}

// Validate returns what is wrong with a Policy.
func (p Policy) Validate() error {
	return cmp.Or(operator.CheckImage("cloneImage", p.CloneImage), p.WatchPods.Validate())
}
