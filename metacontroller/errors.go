package metacontroller

import (
	"errors"
	"fmt"
)

// RequestError says that a request cannot be understood: it is not JSON, it is
// of another kind, or an object in it is damaged. It is the caller's fault, and
// nothing was computed. Every other error of [Controller.Call] means that the
// request was understood and that no complete answer could be computed.
//
// Its text is one short line without values from the request: Metacontroller
// publishes it in an event on the parent.
type RequestError struct{ reason string }

// Error returns the reason.
func (e *RequestError) Error() string { return e.reason }

func badRequest(format string, args ...any) error {
	return &RequestError{fmt.Sprintf(format, args...)}
}

// IsRequestError reports whether err is, or wraps, a [RequestError].
func IsRequestError(err error) bool {
	var request *RequestError
	return errors.As(err, &request)
}
