package operator

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// clockSkew is how far the clocks of two API servers may be apart.
const clockSkew = 10 * time.Second

// IsOlder reports whether an object that was created at a time was there before its parent: somebody
// else made it, or a former parent of that name. One that runs may be a little older, for the clocks
// of two API servers differ; the result of one that has ended must be the parent's own.
func IsOlder(created, parent metav1.Time, runs bool) bool {
	switch {
	case created.IsZero():
		return false
	case runs:
		return created.Add(clockSkew).Before(parent.Time)
	default:
		return created.Time.Before(parent.Time)
	}
}
