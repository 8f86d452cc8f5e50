package dataservice_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operettatest"
)

// TestTeardownOfWhatCannotBeDecoded sees a DataService whose spec no hook can
// read go in the same order as any other, and its volumes stay: what the spec
// says of them cannot be told.
func TestTeardownOfWhatCannotBeDecoded(t *testing.T) {
	for _, options := range strategies() {
		for i, damage := range []struct {
			name string
			edit func(map[string]any)
		}{
			{"a component that is no object", set("web", []any{"damaged"})},
			{"a number that is a text", set("mysql.port", "damaged")},
		} {
			if inner() && i > 0 {
				continue
			}
			t.Run(damage.name, func(t *testing.T) {
				options.SkipValidation = true // as an older schema may have
				s := tell(t, options)
				s.whole = true
				s.edit(set("mysql.storage.onDelete", "Delete"))
				damaged := s.sample(set("mysql.storage.onDelete", "Delete"), damage.edit)
				s.apply(damaged)
				s.world.Delete(product)
				require.Equal(t, slices.Concat(stages[4], inOrder(stages[3]), inOrder(stages[2]), stages[1], stages[0]), s.order())
				require.Empty(t, s.world.Parents(), "the DataService is gone")
				require.NotNil(t, s.world.Get("PersistentVolumeClaim/data-mysql-dataservice-0"))
			})
		}
	}
}

func inOrder(names []string) []string { return slices.Sorted(slices.Values(names)) }

// order plays to the end and returns the workloads in the order in which they
// went, those of one step by their names.
func (s *story) order() []string {
	var gone []string
	for range 100 {
		before := s.workloads()
		s.world.Step()
		for _, name := range before {
			if !slices.Contains(s.workloads(), name) {
				gone = append(gone, name)
			}
		}
	}
	s.world.Play()
	// Those of one stage may take more than one step.
	for _, stage := range stages {
		for i := range gone {
			if end := i + len(stage); end <= len(gone) && slices.Equal(inOrder(gone[i:end]), inOrder(stage)) {
				slices.Sort(gone[i:end])
			}
		}
	}
	return gone
}

// TestRefusedUpdateHoldsUpATeardownForAWhile is an attack: whoever may edit a
// StatefulSet has each update of it fail, so that it never takes over that its
// volumes go with it. They stay then, and the DataService goes.
func TestRefusedUpdateHoldsUpATeardownForAWhile(t *testing.T) {
	t.Parallel()
	for name, forged := range map[string]map[string]string{
		"unreadable":  {metacontroller.LastAppliedAnnotation: `{`},
		"no object":   {metacontroller.LastAppliedAnnotation: `7`},
		"a long text": {metacontroller.LastAppliedAnnotation: `{"metadata":{"annotations":{"long":""}}}`, "long": strings.Repeat("x", 200<<10)},
	} {
		t.Run(name, func(t *testing.T) {
			s := tell(t, operettatest.Options{})
			s.edit(set("mysql.storage.onDelete", "Delete"))
			mysql := s.world.Get("StatefulSet/mysql-dataservice").DeepCopy()
			mysql.SetAnnotations(forged)
			s.apply(mysql.Object)
			s.world.Delete(product)
			deleted, said := s.world.Now(), map[string]bool{}
			for s.world.Get("StatefulSet/mysql-dataservice") != nil {
				require.Less(t, s.world.Now().Sub(deleted), 10*time.Minute, "the StatefulSet is still there")
				s.world.Step()
				for _, parent := range s.world.Parents() {
					said[operettatest.ConditionOf(parent, "VolumesDeleted").Reason] = true
				}
			}
			require.Greater(t, s.world.Now().Sub(deleted), 5*time.Minute)
			s.world.Play()
			require.Empty(t, s.world.Parents(), "the DataService is gone")
			require.NotNil(t, s.world.Get("PersistentVolumeClaim/data-mysql-dataservice-0"))
			require.Equal(t, map[string]bool{"": true, "Asked": true, "GivenUp": true}, said)
		})
	}
}

// TestLastAppliedOfAnotherTypeHoldsNothingUp: Metacontroller takes such a value
// for none.
func TestLastAppliedOfAnotherTypeHoldsNothingUp(t *testing.T) {
	t.Parallel()
	for i, forged := range []string{`{"spec":7}`, `{"metadata":[]}`, `{"spec":{"template":"x"}}`, `null`} {
		if inner() && i%2 > 0 {
			continue
		}
		s := tell(t, operettatest.Options{})
		s.edit(set("mysql.storage.onDelete", "Delete"))
		mysql := s.world.Get("StatefulSet/mysql-dataservice").DeepCopy()
		mysql.SetAnnotations(map[string]string{metacontroller.LastAppliedAnnotation: forged})
		s.apply(mysql.Object)
		deleted := s.world.Now()
		s.world.Delete(product)
		s.world.Play()
		require.Less(t, s.world.Now().Sub(deleted), 5*time.Minute, forged)
		require.Nil(t, s.world.Get("PersistentVolumeClaim/data-mysql-dataservice-0"), forged)
	}
}
