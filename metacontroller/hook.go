package metacontroller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Hook is a pure function wrapped so that it takes and gives bytes. Make one
// with [Sync], [Finalize] or [Customize].
type Hook struct {
	parent    reflect.Type
	sync      func(*request, Observed) (*outcome, error)
	customize func(*request) ([]Rule, error)
}

// outcome is a Result whose status has its wire form.
type outcome struct {
	status    []byte
	children  []Object
	resync    time.Duration
	finalized bool
}

// Sync wraps a function that computes what shall be. Its error means that the
// whole desired state could not be computed, and leaves the world as it is; bad
// news that was computed is a condition.
func Sync[P, S any](sync func(parent *P, seen Observed) (Result[S], error)) Hook {
	return Hook{
		parent: reflect.TypeFor[P](),
		sync: func(req *request, seen Observed) (*outcome, error) {
			parent := new(P)
			if err := decodeParent(req, parent); err != nil {
				return nil, undecoded(req, err)
			}
			return resolve(sync(parent, seen))
		},
	}
}

// Finalize wraps a function that computes what shall be left during deletion:
// a subset of what is observed, never anything new.
//
// Nothing stops a deletion. Of a damaged parent the function gets what can be
// decoded, and [Observed.SpecDamaged] tells that its spec is not. Children that it
// cannot decode go first, and the others stay until they have gone: a function
// that wants one to go in its turn reads it with [ListReadable] and
// [Snapshot.Label]. After any other error of the function everything goes at once.
func Finalize[P, S any](finalize func(parent *P, seen Observed) (Result[S], error)) Hook {
	return Hook{
		parent: reflect.TypeFor[P](),
		sync: func(req *request, seen Observed) (*outcome, error) {
			parent := new(P)
			seen.SpecDamaged = decodeParts(req, parent)
			result, damaged, err := tearDown(seen, func(seen Observed) (Result[S], error) { return finalize(parent, seen) })
			if err == nil && len(damaged) == 0 {
				return resolve(result, nil)
			}
			out, failure := finalizeAll(req, seen)
			if failure == nil && err == nil {
				out.children = keepAllBut(seen.Children, damaged)
			}
			return out, failure
		},
	}
}

// Customize wraps a function that selects related objects by the parent's name,
// namespace and spec alone.
//
// It answers for every parent that the API server stores, valid or not, for
// Metacontroller remembers answers and no errors. The function gets what can be
// decoded, and an empty spec where that cannot be or has more values than sync
// takes; it returns the rules that are left then, rather than an error. A name or a
// selector that is not valid selects nothing.
func Customize[P any](customize func(parent *P) ([]Rule, error)) Hook {
	return Hook{
		parent: reflect.TypeFor[P](),
		customize: func(req *request) ([]Rule, error) {
			parent := new(P)
			decodeForRules(req, parent)
			return customize(parent)
		},
	}
}

// undecoded returns the error of a parent that could not be decoded: the call's,
// if it has ended, or else the parent's.
func undecoded(req *request, err error) error {
	if ended := req.run.failure(); ended != nil {
		return ended
	}
	return badRequest("the parent cannot be decoded: %s", err)
}

// resolve gives a result's status its wire form.
func resolve[S any](result Result[S], err error) (*outcome, error) {
	if err != nil {
		return nil, err
	}
	status, err := appendStatus(make([]byte, 0, 1024), result.Status)
	if err != nil {
		return nil, fmt.Errorf("the status cannot be encoded: %w", err)
	}
	return &outcome{status, result.Children, result.ResyncAfter, result.Finalized}, nil
}

// finalizeAll is the default finalize hook: nothing is wanted, and all is done
// once nothing is observed. The status stays as it was, for there is nothing
// that knows its fields.
func finalizeAll(req *request, seen Observed) (*outcome, error) {
	members := map[string]any{}
	current := lookup(req.parent, "status")
	if err := req.run.spend(anySize(current)); err != nil {
		return nil, err
	}
	if decode(current, &members) != nil || members == nil {
		members = map[string]any{} // a status that cannot be read stops no deletion
	}
	status, err := json.Marshal(members) // with sorted keys, as every answer
	return &outcome{status: status, finalized: seen.Children.Len() == 0}, err
}

// isOrphaning reports whether the parent is being deleted with --cascade=orphan:
// the children are to stay then.
func (r *request) isOrphaning() bool {
	found := false
	elements(lookup(r.parent, "metadata", "finalizers"), func(value []byte) bool {
		name, _ := text(value) // one that is no string hides no other
		found = found || name == metav1.FinalizerOrphanDependents
		return true
	})
	return found
}

// orphanAll stands in for every finalize hook while the parent is orphaning its
// children. The garbage collector lets go of them, and Metacontroller does not
// touch them, so there is nothing to tear down: a hook that waited for them
// would wait for ever.
func orphanAll(req *request, seen Observed) (*outcome, error) {
	out, err := finalizeAll(req, seen)
	if err != nil {
		return nil, err
	}
	out.finalized = true
	for _, kind := range slices.Sorted(maps.Keys(seen.Children.byKind)) {
		for _, child := range seen.Children.byKind[kind] {
			out.children = append(out.children, Keep(child))
		}
	}
	return out, nil
}

// Answer is the answer to a request, and what a log line says about it.
type Answer struct {
	// Parent is known as far as the request was understood, also beside an
	// error.
	Parent Identity
	// Observed is the number of children in the request.
	Observed int
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
// was not understood; any other error that no complete answer could be
// computed. In both cases Metacontroller leaves the world as it is.
func (c Controller) Call(hook HookName, now time.Time, body []byte) (Answer, error) {
	return c.CallContext(context.Background(), hook, now, body, Limits{})
}

// CallContext is Call within limits. It ends soon after ctx has ended: its
// error wraps the cause then.
func (c Controller) CallContext(ctx context.Context, hook HookName, now time.Time, body []byte, limits Limits) (Answer, error) {
	req, err := c.readRequest(newRun(ctx, limits), hook, body)
	answer := Answer{Parent: req.Identity, Observed: req.children.Len()}
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
	seen := Observed{
		Children: req.children,
		Related:  req.related,
		Now:      now.UTC().Truncate(time.Second),
		parent:   c.eventsOf(req.Identity),
		inPlace:  c.inPlace(),
		taken:    c.takenNames(req),
	}
	run := c.Sync.sync
	if hook == FinalizeHook {
		if run = c.Finalize.sync; run == nil {
			run = finalizeAll
		}
	}
	if hook == FinalizeHook && req.isOrphaning() {
		run = orphanAll
	}
	out, err := run(req, seen)
	if err == nil {
		err = req.run.failure() // a hook may have taken an end for an empty list
	}
	if err != nil {
		return answer, err
	}
	if answer.Body, answer.Children, err = c.respond(req, out, seen.taken); err == nil {
		c.describeAnswer(&answer, req, out, seen.taken)
	}
	return answer, err
}

func (c Controller) customize(req *request) ([]byte, error) {
	if c.Customize.customize == nil {
		return nil, errors.New("there is no customize hook")
	}
	rules, err := c.Customize.customize(req)
	if ended := req.run.failure(); ended != nil {
		return nil, ended
	}
	if err != nil {
		return nil, err
	}
	for _, kind := range c.Related {
		if !selects(rules, kind) {
			return nil, fmt.Errorf("no rule selects %s", kind.Plural)
		}
	}
	body, err := json.Marshal(map[string][]Rule{"relatedResources": validRules(rules)})
	if err != nil {
		return nil, fmt.Errorf("the rules cannot be encoded: %w", err)
	}
	return body, nil
}

func selects(rules []Rule, kind Resource) bool {
	for _, rule := range rules {
		if rule.APIVersion == kind.APIVersion && rule.Resource == kind.Plural {
			return true
		}
	}
	return false
}
