package dataservice_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTeardownOfWhatCannotBeDecoded sees a DataService whose spec no hook can
// read go in the same order as any other, and its volumes stay: what the spec
// says of them cannot be told.
func TestTeardownOfWhatCannotBeDecoded(t *testing.T) {
	for _, apply := range strategies() {
		for name, damage := range map[string]func(map[string]any){
			"a component that is no object": set("web", []any{"damaged"}),
			"a number that is a text":       set("mysql.port", "damaged"),
		} {
			t.Run(name, func(t *testing.T) {
				s := tellUnchecked(t, apply)
				s.edit(set("mysql.storage.onDelete", "Delete"))
				damaged := s.sample(set("mysql.storage.onDelete", "Delete"), damage)
				s.apply(damaged)
				s.world.DeleteParents()
				require.Equal(t, slices.Concat(stages[4], inOrder(stages[3]), inOrder(stages[2]), stages[1], stages[0]), s.order())
				require.Empty(t, s.world.Outcomes(), "the DataService is gone")
				require.NotNil(t, s.get("PersistentVolumeClaim", "data-mysql-dataservice-0"))
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
	s.play()
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
