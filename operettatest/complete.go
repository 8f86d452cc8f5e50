package operettatest

import (
	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Complete returns the request that Metacontroller would send for one that was written by hand,
// in JSON: a bare custom resource, or a request without its empty parts. The error
// says what is neither.
func Complete(controller metacontroller.Controller, hook metacontroller.HookName, body []byte) ([]byte, error) {
	return corpus.Complete(controller, hook, body)
}
