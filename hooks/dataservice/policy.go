package dataservice

import (
	"cmp"

	"github.com/operetta-dev/operetta/deploy/images"
	"github.com/operetta-dev/operetta/operator"
)

// Policy is what whoever installs the operator decides. Another Policy restarts the Pods
// that it changes.
type Policy struct {
	// MySQLImage is the image of mysql where a DataService has no mysql.image.
	MySQLImage string `json:"mysqlImage"`
	// EscapeImage is the image of the init container that escapes the credentials of a
	// third-party eureka. It has a shell, od, tr and sed.
	EscapeImage string `json:"escapeImage"`
	// WatchPods says when the hook reads the Pods, to say what they wait for.
	WatchPods operator.WatchPods `json:"watchPods"`
}

// DefaultPolicy returns the Policy of [Controller].
func DefaultPolicy() Policy {
	return Policy{MySQLImage: images.Of("dataservice-mysql"), EscapeImage: images.Of("dataservice-escape"), WatchPods: operator.WatchAlways}
}

// Validate returns what is wrong with a Policy.
func (p Policy) Validate() error {
	return cmp.Or(operator.CheckImage("mysqlImage", p.MySQLImage), operator.CheckImage("escapeImage", p.EscapeImage), p.WatchPods.Validate())
}
