package explore

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/lru"

	"github.com/operetta-dev/operetta/internal/crd"
	"github.com/operetta-dev/operetta/internal/simulate"
)

// Admits reports whether the CRD admits a custom resource as a new one.
func (s *Scenario) Admits(object map[string]any) bool {
	controller := s.controllerOf(&unstructured.Unstructured{Object: object})
	if controller == nil {
		return false
	}
	schema, err := crd.Compiled(controller.CRD, controller.Parent.Version()) // once
	complete := runtime.DeepCopyJSON(object)
	if err != nil || len(schema.Prune(complete)) > 0 {
		return false
	}
	schema.Default(complete)
	return len(schema.Validate(context.Background(), complete)) == 0
}

// edits are the edits of a scenario, grouped by the field of the spec that they
// change, because one field may have a thousand times as many fields below it
// as another.
type edits struct {
	fields []string
	of     map[string][]Edit
	good   *lru.Cache // of patches to bool, once one was played
}

// stored returns the custom resource of the scenario without the fields that the API server
// drops. An error says why it would be refused.
func (s *Scenario) stored(ctx context.Context) (simulate.Object, error) {
	parent, err := s.Parent()
	if err != nil {
		return nil, err
	}
	controller := s.controllerOf(parent)
	if len(controller.CRD) == 0 {
		return parent, nil
	}
	schema, err := crd.Compiled(controller.CRD, controller.Parent.Version())
	if err != nil {
		return nil, err
	}
	schema.Prune(parent.Object)
	if _, errs := schema.Admit(context.WithoutCancel(ctx), runtime.DeepCopyJSON(parent.Object), nil); len(errs) > 0 {
		return nil, fmt.Errorf("%s is refused: %w", cmp.Or(s.Name, "the custom resource"), errs.ToAggregate())
	}
	return parent, nil
}

// prepare groups the edits.
func (s *Scenario) prepare(ctx context.Context) error {
	if s.edits != nil {
		return nil
	}
	list, err := s.Edits(ctx)
	if err != nil {
		return err
	}
	s.edits = &edits{of: map[string][]Edit{}, good: lru.New(10 * mostFresh)}
	for _, edit := range list {
		field, _, _ := strings.Cut(strings.TrimPrefix(edit.Path, "spec."), ".")
		if s.edits.of[field] == nil {
			s.edits.fields = append(s.edits.fields, field)
		}
		s.edits.of[field] = append(s.edits.of[field], edit)
	}
	slices.Sort(s.edits.fields)
	return nil
}

// pickEdit returns an edit that is admitted and, without faults, played without
// any refusal. A refused edit is found without random schedules.
func (s *Scenario) pickEdit(random *rand.Rand) (Edit, bool) {
	for range 20 {
		if len(s.edits.fields) == 0 {
			break
		}
		list := s.edits.of[s.edits.fields[random.IntN(len(s.edits.fields))]]
		edit := list[random.IntN(len(list))]
		if s.isGood(edit) {
			return edit, true
		}
	}
	return Edit{}, false
}

func (s *Scenario) isGood(edit Edit) bool {
	key := encode(edit.Patch())
	if good, known := s.edits.good.Get(key); known {
		return good.(bool)
	}
	good := s.isUsable(edit.Object())
	s.edits.good.Add(key, good)
	return good
}

// isUsable reports whether a custom resource is admitted and, without faults,
// comes to rest without any refusal.
func (s *Scenario) isUsable(object map[string]any) bool {
	world := s.newWorld(false)
	for _, text := range s.WithParent(object) {
		if world.Apply(text) != nil {
			return false
		}
	}
	parents := world.Parents()
	if len(parents) == 0 {
		return false
	}
	fresh := s.freshRest(world, parents[0])
	return fresh != nil && !fresh.isBad
}

// WithParent returns the objects of the scenario with another custom resource.
func (s *Scenario) WithParent(object map[string]any) [][]byte {
	parent, err := s.Parent()
	if err != nil {
		return nil
	}
	var objects [][]byte
	for _, text := range s.Objects {
		if other, err := simulate.ParseObject(text); err == nil && simulate.RefOf(other) == simulate.RefOf(parent) {
			text = []byte(encode(object))
		}
		objects = append(objects, text)
	}
	return objects
}

// PlayEdit plays a custom resource without faults: created with an edit or, if
// live, edited after it has come to rest.
func (s *Scenario) PlayEdit(edit Edit, live bool) *Run {
	if live {
		parent, err := s.Parent()
		if err == nil {
			schedule, _ := ParseSchedule("calm 60")
			return s.Play(append(schedule, editOf(parent, edit.Patch())))
		}
	}
	changed := *s
	changed.Objects = s.WithParent(edit.Object())
	return changed.Play(nil)
}
