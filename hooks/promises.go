package hooks

import "github.com/operetta-dev/operetta/internal/promise"

// Promises returns what the operators promise, for those that promise more than
// what holds for all.
func Promises() []promise.Promises {
	return nil
}
