package hooks_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks"
)

// TestOperatorsAreDistinct refuses two operators of one name: one would take the
// routes, the files and the CompositeController of the other.
func TestOperatorsAreDistinct(t *testing.T) {
	var last string
	for _, controller := range hooks.All() {
		require.Less(t, last, controller.Name(), "the list is sorted, and no name stands twice")
		last = controller.Name()
	}
}
