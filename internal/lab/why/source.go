package why

import (
	"bytes"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/internal/lab/dump"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Subject is a custom resource with what is known about it.
type Subject struct {
	*Cluster

	Parent Object
	Plan   Plan
}

// Selection chooses custom resources.
type Selection struct {
	// Kind, Namespace and Name are what a person has named; each may be empty for all.
	Kind, Namespace, Name string
}

// Has reports whether a custom resource of an operator is meant. The kind is one that kubectl
// would take, as in ModelBox, modelboxes, mb or modelboxes.model.github.com.
func (s Selection) Has(controller metacontroller.Controller, ref Ref) bool {
	return ref.Is(controller.Parent) && (s.Kind == "" || s.IsOf(controller)) &&
		(s.Namespace == "" || s.Namespace == ref.Namespace) && (s.Name == "" || s.Name == ref.Name)
}

// IsOf reports whether the kind of an operator is meant.
func (s Selection) IsOf(controller metacontroller.Controller) bool {
	return kube.IsNamed(controller.Parent, controller.CRD, s.Kind)
}

// FromDump returns the custom resources of a dump, in the order of kinds, namespaces and names. The
// options' zero time stands for the dump's.
func FromDump(d *dump.Dump, options dump.Options, selection Selection) iter.Seq[Subject] {
	if options.Now.IsZero() {
		options.Now = d.Newest()
	}
	if strategy, err := d.Strategy(options.Controllers, options.Apply); err == nil { // otherwise the default has to do
		options.Apply = strategy
	}
	cluster := New(Options{Dump: d, Controllers: options.Controllers, Now: options.Now})
	options.Only = func(ref Ref) bool {
		controller := cluster.options.Controllers.Of(ref.APIVersion, ref.Kind)
		return controller != nil && selection.Has(*controller, ref)
	}
	return func(yield func(Subject) bool) {
		for request := range d.Requests(options) {
			plan := PlanOf(request)
			plan.ask = func(now time.Time) (earlier Plan) {
				same := options
				same.Now, same.Only = now, func(ref Ref) bool { return ref == kube.RefOf(request.Parent) }
				for again := range d.Requests(same) {
					earlier = PlanOf(again)
				}
				return earlier
			}
			if !yield(Subject{cluster, request.Parent, plan}) {
				return
			}
		}
	}
}

// FromRecording returns the custom resources of a folder with recorded requests, each as the last
// one shows it.
func FromRecording(dir string, controllers []metacontroller.Controller, selection Selection) ([]Subject, error) {
	last, err := dump.Last(dir, controllers, selection.Has)
	if err != nil {
		return nil, err
	}
	subjects := []Subject{}
	for _, ref := range slices.SortedFunc(maps.Keys(last), Ref.Compare) {
		subject, err := fromCase(last[ref], controllers)
		if err != nil {
			return nil, fmt.Errorf("%s %w", last[ref].Name, err)
		}
		subjects = append(subjects, subject)
	}
	return subjects, nil
}

// fromCase returns the custom resource of a recorded request.
func fromCase(c corpus.Case, controllers []metacontroller.Controller) (Subject, error) {
	request, err := kube.ParseJSON(c.Request)
	if err != nil {
		return Subject{}, err
	}
	fields, _ := request["parent"].(map[string]any)
	parent := &unstructured.Unstructured{Object: fields}
	d, err := dump.Read(bytes.NewReader(dump.ObjectsOf(c.Request)))
	if err != nil {
		return Subject{}, err
	}
	cluster := New(Options{Dump: d, Controllers: controllers, Now: c.Now.UTC().Truncate(time.Second), Recorded: true})
	return Subject{cluster, parent, PlanOfCase(c)}, nil
}

// Explain says why the custom resource is not Ready.
func (s Subject) Explain() Answer { return s.Cluster.Explain(s.Parent, s.Plan) }

// Tree returns what the custom resource owns.
func (s Subject) Tree() Node { return s.Cluster.Tree(s.Parent, s.Plan) }
