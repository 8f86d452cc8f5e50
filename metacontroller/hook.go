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

// Hook is a pure function, wrapped so that it takes and returns bytes. Make one
// with [Sync], [Finalize] or [Customize].
type Hook struct {
	parent    reflect.Type
	sync      func(*request, Observed) (*outcome, error)
	customize func(*request) ([]Rule, error)
}

// outcome is a Result with its status encoded.
type outcome struct {
	status    []byte
	children  []Object
	resync    time.Duration
	finalized bool
}

// Sync wraps a function that computes the desired state. Its error means that
// the desired state could not be computed completely, and Metacontroller
// changes nothing; bad news that was computed is a condition.
func Sync[P, S any](sync func(parent *P, observed Observed) (Result[S], error)) Hook {
	return Hook{
		parent: reflect.TypeFor[P](),
		sync: func(req *request, observed Observed) (*outcome, error) {
			parent := new(P)
			if err := decodeParent(req, parent); err != nil {
				return nil, undecoded(req, err)
			}
			return resolve(sync(parent, observed))
		},
	}
}

// FinalizerPrefix begins the finalizer that Metacontroller adds to a parent with a finalize hook,
// before the name of its CompositeController. Where somebody has removed it, Metacontroller calls the
// hook of a parent that is being deleted, and deletes no children.
// https://github.com/metacontroller/metacontroller/blob/v4.17.2/pkg/controller/composite/controller.go
const FinalizerPrefix = "metacontroller.io/compositecontroller-"

// Finalize wraps a function that computes which children stay during deletion:
// a subset of the observed ones, never anything new.
//
// Nothing may stop a deletion. If the parent is damaged, the function gets the
// part that can be decoded, and [Observed.SpecDamaged] reports that the spec is
// not in it. Children that cannot be decoded are deleted first, and the others
// stay until those are gone; to delete them in order, read them with
// [ListReadable] and [Snapshot.Label]. After any other error of the function
// all children are deleted at once.
//
// The function is not asked where nothing is to be torn down: while the children are
// orphaned, and about a parent that is not being deleted but has moved to another
// CompositeController: its labels no longer match the labelSelector of this one.
func Finalize[P, S any](finalize func(parent *P, observed Observed) (Result[S], error)) Hook {
	return Hook{
		parent: reflect.TypeFor[P](),
		sync: func(req *request, observed Observed) (*outcome, error) {
			parent := new(P)
			observed.SpecDamaged = decodeParts(req, parent)
			result, damaged, err := tearDown(observed, func(observed Observed) (Result[S], error) { return finalize(parent, observed) })
			if err == nil && len(damaged) == 0 {
				return resolve(result, nil)
			}
			out, failure := finalizeAll(req, observed)
			if failure == nil && err == nil {
				out.children = keepAllBut(observed.Children, damaged)
			}
			return out, failure
		},
	}
}

// Customize wraps a function that selects related objects by the parent's name,
// namespace and spec alone.
//
// It must answer for every parent that the API server stores, valid or not,
// because Metacontroller caches answers but not errors. The function gets what
// can be decoded, and an empty spec where it cannot be decoded or has more
// values than sync accepts. It then returns the rules that it can still compute
// rather than an error. An invalid name or selector selects nothing.
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

// undecoded returns the error for a parent that could not be decoded: that of
// the call if it was canceled, otherwise that of the parent.
func undecoded(req *request, err error) error {
	if ended := req.run.failure(); ended != nil {
		return ended
	}
	return badRequest("the parent cannot be decoded: %s", err)
}

// resolve encodes the status of a result.
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

// finalizeAll is the default finalize hook: no child stays, and the teardown is
// complete once none is observed. The status is not changed, because its type
// is not known here.
func finalizeAll(req *request, observed Observed) (*outcome, error) {
	members := map[string]any{}
	current := lookup(req.parent, "status")
	if err := req.run.spend(anySize(current)); err != nil {
		return nil, err
	}
	if decode(current, &members) != nil || members == nil {
		members = map[string]any{} // a status that cannot be read must not block the deletion
	}
	status, err := json.Marshal(members) // with sorted keys, as in every answer
	return &outcome{status: status, finalized: observed.Children.Len() == 0}, err
}

// isOrphaning reports whether the parent is being deleted with
// --cascade=orphan, so that the children must stay.
func (r *request) isOrphaning() bool {
	found := false
	elements(lookup(r.parent, "metadata", "finalizers"), func(value []byte) bool {
		name, _ := text(value) // a finalizer that is no string must not hide the others
		found = found || name == metav1.FinalizerOrphanDependents
		return true
	})
	return found
}

// isLeaving reports whether a finalize hook is called though the parent is not being
// deleted. Metacontroller does so once the parent's labels no longer match the
// labelSelector of the CompositeController, while its finalizer is on it: the parent
// has moved to another CompositeController, which needs the children as they are.
func (r *request) isLeaving() bool {
	return r.finalizing && isNull(lookup(r.parent, "metadata", "deletionTimestamp")) &&
		!isNull(lookup(r.controller, "spec", "parentResource", "labelSelector"))
}

// keepsAll reports whether a finalize hook has nothing to tear down.
func (r *request) keepsAll() bool { return r.isOrphaning() || r.isLeaving() }

// letGo replaces every finalize hook where all children stay. While the parent is
// orphaning them, the garbage collector releases them, and Metacontroller does not
// touch them: a hook that waited for them would wait for ever. After the parent has
// moved to another CompositeController, that one goes on with them.
func letGo(req *request, observed Observed) (*outcome, error) {
	out, err := finalizeAll(req, observed)
	if err != nil {
		return nil, err
	}
	out.finalized = true
	for _, kind := range slices.Sorted(maps.Keys(observed.Children.byKind)) {
		for _, child := range observed.Children.byKind[kind] {
			out.children = append(out.children, Keep(child))
		}
	}
	return out, nil
}

// Answer is the answer to a request, and what a log line says about it.
type Answer struct {
	// Parent is set as far as the request could be read, even if there is an
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
// was not understood; any other error, that no complete answer could be
// computed. In both cases Metacontroller changes nothing.
func (c Controller) Call(hook HookName, now time.Time, body []byte) (Answer, error) {
	return c.CallContext(context.Background(), hook, now, body, Limits{})
}

// CallContext is Call within limits. It returns soon after ctx ends, with an
// error that wraps the cause.
func (c Controller) CallContext(ctx context.Context, hook HookName, now time.Time, body []byte, limits Limits) (Answer, error) {
	state := newRun(ctx, limits)
	state.begin(DecodeStep)
	req, err := c.readRequest(state, hook, body)
	answer := Answer{Parent: req.Identity, Observed: req.children.Len()}
	if err == nil && !hook.isLenient() {
		err = c.validate(ctx, req)
	}
	if err != nil {
		return answer, err
	}
	state.begin(HookStep)
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
	if hook == FinalizeHook && req.keepsAll() {
		run = letGo
	}
	out, err := run(req, seen)
	if err == nil {
		err = req.run.failure() // a hook may have taken a canceled call for an empty list
	}
	if err != nil {
		return answer, err
	}
	state.begin(EncodeStep)
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
	if rules, err = c.within(req.Namespace, rules); err != nil {
		return nil, err
	}
	req.run.begin(EncodeStep)
	// The encoder writes up to six bytes for one of what the rules have from the parent.
	if err := req.run.spendTemporarily(6 * int64(len(req.parent))); err != nil {
		return nil, err
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
