package operator

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// clockSkew is how far the clocks of two API servers may be apart.
const clockSkew = 10 * time.Second

// IsOlder reports whether an object that was created at a time was there before its
// parent, so that somebody else made it, or a parent of the same name that has been
// deleted: under server-side apply Metacontroller takes over the object of that. One that
// runs may be a little older, for the clocks of two API servers differ. One that has ended
// is taken at its word: a result that is not the parent's own is worse than one that is not
// told. An object without a time is not older.
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
