package explore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/lru"

	"github.com/operetta-dev/operetta/internal/crd"
)

// schemaOf returns the schema of a custom resource, or nil where its kind has none or no operator.
func (s *Scenario) schemaOf(object kube.Object) (*crd.Schema, error) {
	controller := s.controllerOf(object)
	if controller == nil {
		return nil, nil //nolint:nilnil // nothing is known of it
	}
	schema, err := controller.Schema()
	if err != nil || schema == nil {
		return nil, err
	}
	return schema.Remembering(), nil
}

// Admits reports whether the CRD admits a custom resource as a new one.
func (s *Scenario) Admits(object map[string]any) bool {
	schema, err := s.schemaOf(&unstructured.Unstructured{Object: object})
	if err != nil || schema == nil {
		return false
	}
	complete := runtime.DeepCopyJSON(object)
	unknown := schema.Prune(complete)
	schema.Default(complete)
	return len(unknown) == 0 && len(schema.Validate(context.Background(), complete)) == 0
}

// stored returns the custom resource of the scenario without the fields that the API server
// drops. An error says why it would be refused.
func (s *Scenario) stored(ctx context.Context) (kube.Object, error) {
	parent, err := s.Parent()
	if err != nil {
		return nil, err
	}
	schema, err := s.schemaOf(parent)
	if err != nil || schema == nil {
		return parent, err
	}
	schema.Prune(parent.Object)
	if _, errs := schema.Admit(context.WithoutCancel(ctx), runtime.DeepCopyJSON(parent.Object), nil); len(errs) > 0 {
		return nil, fmt.Errorf("%s is refused: %w", cmp.Or(s.Name, "the custom resource"), errs.ToAggregate())
	}
	return parent, nil
}

// edits are the edits of a scenario, grouped by the field of the spec that they
// change, because one field may have a thousand times as many fields below it
// as another.
type edits struct {
	fields []string
	of     map[string][]Edit
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
	s.fresh, s.edits = lru.New(mostFresh), &edits{of: map[string][]Edit{}}
	for _, edit := range list {
		field, _, _ := strings.Cut(strings.TrimPrefix(edit.Path, "spec."), ".")
		s.edits.of[field] = append(s.edits.of[field], edit)
	}
	s.edits.fields = slices.Sorted(maps.Keys(s.edits.of))
	return nil
}

// pickEdit returns an edit that is admitted and, without faults, comes to rest without any refusal.
// A refused edit is found without random schedules.
func (s *Scenario) pickEdit(random *rand.Rand) (Edit, bool) {
	for range 20 {
		if len(s.edits.fields) == 0 {
			break
		}
		list := s.edits.of[s.edits.fields[random.IntN(len(s.edits.fields))]]
		edit := list[random.IntN(len(list))]
		if s.isUsable(edit.Object()) {
			return edit, true
		}
	}
	return Edit{}, false
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
		if other, err := kube.ParseObject(text); err == nil && kube.RefOf(other) == kube.RefOf(parent) {
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
