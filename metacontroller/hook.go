package metacontroller

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/internal/rawjson"
	"github.com/operetta-dev/operetta/internal/wire"
)

// Hook is a pure function, wrapped so that it takes and returns bytes. Make one
// with [Sync], [Finalize] or [Customize].
type Hook struct {
	parent    reflect.Type
	sync      func(*request, Observed) (*outcome, error)
	customize func(*request) ([]Rule, error)
}

// IsSet reports whether there is a function.
func (h Hook) IsSet() bool { return h.sync != nil || h.customize != nil }

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
			if err := decode(req.parent.raw, parent); err != nil {
				return nil, badRequest("the parent cannot be decoded: %s", err)
			}
			result, err := sync(parent, observed)
			return resolve(req, result, err)
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
// Nothing may stop a deletion. If the parent is damaged, the function gets its name,
// namespace and UID and the part that can be decoded, and [Observed.SpecDamaged] reports
// that the spec is not in it. After an error of the function all children are deleted at once; to delete them in
// order whatever they hold, read them with [ListReadable] and [Snapshot.Label].
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
			result, err := finalize(parent, observed)
			if err != nil {
				return finalizeAll(req, observed)
			}
			return resolve(req, result, nil)
		},
	}
}

// Customize wraps a function that selects related objects by the parent's name,
// namespace and spec, and by its status where a kind is needed only while work goes on.
//
// Metacontroller asks once for each UID and generation of a parent, and again when it has
// an event to match, or a sync, and its answer is [RulesKept] old. So what is selected is
// what the status said when it asked: at first, that of the generation before.
//
// It must answer for every parent that the API server stores, valid or not,
// because Metacontroller caches answers but not errors. The function gets what
// can be decoded, and an empty spec where it cannot be decoded. It then returns the rules that it can still compute
// rather than an error. An invalid name or selector selects nothing.
func Customize[P any](customize func(parent *P) ([]Rule, error)) Hook {
	return Hook{
		parent: reflect.TypeFor[P](),
		customize: func(req *request) ([]Rule, error) {
			parent := new(P)
			decodeParts(req, parent)
			return customize(parent)
		},
	}
}

func resolve[S any](req *request, result Result[S], err error) (*outcome, error) {
	if err != nil {
		return nil, err
	}
	var status []byte
	err = req.appendWith(func(b []byte) ([]byte, error) {
		all, err := wire.AppendStatus(b, result.Status)
		if err != nil {
			return b, err
		}
		status = all[len(b):]
		return all, nil
	})
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
	if req.parent.status == nil || decode(req.parent.status, &members) != nil || members == nil {
		members = map[string]any{} // a status that cannot be read must not block the deletion
	}
	status, err := wire.AppendStatus(nil, members)
	return &outcome{status: status, finalized: observed.Children.Len() == 0}, err
}

// isOrphaning reports whether the parent is being deleted with
// --cascade=orphan, so that the children must stay.
func (r *request) isOrphaning() bool {
	found := false
	rawjson.Elements(r.parent.finalizers, func(value []byte) bool {
		name, _ := rawjson.Text(value) // a finalizer that is no string must not hide the others
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
	return r.finalizing && !r.parent.Terminating &&
		!rawjson.IsNull(rawjson.Lookup(r.controller, "spec", "parentResource", "labelSelector"))
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
	out.children = keepAll(observed.Children)
	return out, nil
}

func (c Controller) hook(name HookName, req *request) func(*request, Observed) (*outcome, error) {
	switch {
	case name == SyncHook:
		return c.Sync.sync
	case req.keepsAll():
		return letGo
	case c.Finalize.sync == nil:
		return finalizeAll
	default:
		return c.Finalize.sync
	}
}

func (c Controller) customize(req *request) ([]byte, error) {
	if c.Customize.customize == nil {
		return nil, errors.New("there is no customize hook")
	}
	rules, err := c.Customize.customize(req)
	if err != nil {
		return nil, err
	}
	for _, kind := range c.Related {
		isSelected := func(rule Rule) bool { return rule.APIVersion == kind.APIVersion && rule.Resource == kind.Plural }
		if !kind.Informs && !slices.ContainsFunc(rules, isSelected) {
			return nil, fmt.Errorf("no rule selects %s: add one, or declare that they only inform (Related.Informs)", kind.Plural)
		}
	}
	if rules, err = c.within(req.Namespace, rules); err != nil {
		return nil, err
	}
	body, err := json.Marshal(map[string][]Rule{"relatedResources": validRules(rules)})
	if err != nil {
		return nil, fmt.Errorf("the rules cannot be encoded: %w", err)
	}
	return body, nil
}
