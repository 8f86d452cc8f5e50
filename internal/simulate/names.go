package simulate

import "github.com/operetta-dev/operetta/internal/simulate/apiserver"

// What the player tells of is what the API server has stored.
type (
	// Object is a Kubernetes object of any kind. Its numbers are int64 and float64.
	Object = apiserver.Object
	// Ref names an object.
	Ref = apiserver.Ref
	// Write is a write to the API server that has changed something.
	Write = apiserver.Write
)

// RefOf returns the reference to an object.
func RefOf(object Object) Ref { return apiserver.RefOf(object) }

// ParseObject reads an object from JSON. The error says what it lacks.
func ParseObject(text []byte) (Object, error) { return apiserver.ParseObject(text) }

// MergePatch returns an object with a merge patch (RFC 7386) applied. Neither is
// changed, and the result shares what the patch does not touch.
func MergePatch(object, patch map[string]any) map[string]any {
	return apiserver.MergePatch(object, patch)
}
