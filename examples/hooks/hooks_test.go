package hooks_test

import (
	"testing"

	"github.com/operetta-dev/operetta/operettatest"

	"example.com/metacontroller/examples/hooks"
	"example.com/metacontroller/examples/hooks/invariants"
)

// TestOperators holds every operator to its cases and samples, and to what is true of all.
// With -update it writes the answers to the cases.
func TestOperators(t *testing.T) { operettatest.RunWith(t, "..", invariants.All(), hooks.All()...) }
