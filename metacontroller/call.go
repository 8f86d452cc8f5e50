package metacontroller

import (
	"cmp"
	"context"
	"fmt"
	"time"
)

// Answer is the answer to a request, and what a log line says about it.
type Answer struct {
	// Parent is set as far as the request could be read, even if there is an
	// error.
	Parent Identity
	// Observed is the number of children in the request.
	Observed int
	// HasRelated is set where the request has related objects, of whatever number: the customize
	// hook has selected some for this parent.
	HasRelated bool
	// Children are the children in the answer. They are empty beside an error
	// and for customize.
	Children []AnsweredChild
	// Ready is what the status in the answer says, Changes what the answer changes, and
	// Finalized whether it is the last one about its parent. They are empty beside an
	// error and for customize.
	Ready     ReadyCondition
	Changes   Changes
	Finalized bool
	// Body is the whole response in JSON. It is nil beside an error.
	Body []byte
}

// AnsweredChild is a child of an [Answer].
type AnsweredChild struct {
	APIVersion, Kind, Name string
	// Kept is set for a child that [Keep] made.
	Kept bool
}

// Call answers one request of Metacontroller. The same body at the same now
// gives the same answer, byte for byte. A [RequestError] means that the body
// was not understood; any other error, that no complete answer could be
// computed. In both cases Metacontroller changes nothing.
func (c Controller) Call(hook HookName, now time.Time, body []byte) (Answer, error) {
	return c.CallContext(context.Background(), hook, now, body, 0)
}

// DefaultMaxAnswerBytes is the default size of the largest answer. Metacontroller reads an answer
// into memory as a whole.
const DefaultMaxAnswerBytes = 64 << 20

// CallContext is Call with the size of the largest answer; 0 means [DefaultMaxAnswerBytes].
// Validation ends soon after ctx does, with an error that wraps the cause.
func (c Controller) CallContext(ctx context.Context, hook HookName, now time.Time, body []byte, maxAnswerBytes int64) (Answer, error) {
	req, err := c.readRequest(hook, body)
	defer req.release()
	answer := Answer{Parent: req.Identity, Observed: req.children.Len(), HasRelated: len(req.related.byKind) > 0}
	if err == nil {
		err = givenUp(ctx)
	}
	if err == nil && !hook.isLenient() {
		err = c.validate(ctx, req)
	}
	if err != nil {
		return answer, err
	}
	if hook == CustomizeHook {
		answer.Body, err = c.customize(req)
		return answer, err
	}
	out, err := c.hook(hook, req)(req, Observed{
		Children: req.children,
		Related:  req.related,
		Now:      now.UTC().Truncate(time.Second),
		call:     &call{c, req},
	})
	if err == nil {
		err = givenUp(ctx)
	}
	if err != nil {
		return answer, err
	}
	err = c.respond(&answer, req, out, cmp.Or(maxAnswerBytes, DefaultMaxAnswerBytes))
	return answer, err
}

// givenUp returns why nobody waits for the answer any more, or nil.
func givenUp(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return fmt.Errorf("the call was given up: %w", context.Cause(ctx))
}
