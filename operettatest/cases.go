package operettatest

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Case is the request of a case, for a test that asks about it with something changed.
type Case struct {
	// Name is its path below testdata, without the ending.
	Name string
	Hook metacontroller.HookName
	// Now is the time of the request.
	Now time.Time
	// Request is the body in JSON, with all that the case leaves out.
	Request []byte
}

// Cases returns all cases of an operator, in the order of their names. The folder is
// the root of the project. One that cannot be read fails the test.
func Cases(t testing.TB, dir string, controller metacontroller.Controller) []Case {
	t.Helper()
	read, err := corpus.ReadKind(filepath.Join(dir, "testdata"), controller)
	require.NoError(t, err)
	require.NotEmpty(t, read, "there are no cases below %s", filepath.Join(dir, "testdata", controller.Name()))
	var cases []Case
	for _, c := range read {
		cases = append(cases, Case{Name: c.Name, Hook: c.Hook, Now: c.Now, Request: c.Request})
	}
	return cases
}

// Complete returns the request that Metacontroller would send for one that was written by hand,
// in JSON: a bare custom resource, or a request without its empty parts. The error
// says what is neither.
func Complete(controller metacontroller.Controller, hook metacontroller.HookName, body []byte) ([]byte, error) {
	return corpus.Complete(controller, hook, body)
}
