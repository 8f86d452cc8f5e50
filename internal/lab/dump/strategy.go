package dump

import (
	"errors"
	"fmt"

	"github.com/operetta-dev/operetta/internal/lab/cluster/composite"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Strategy returns the apply strategy by which the children of the operators' custom resources were
// written: Metacontroller leaves an annotation, or its name in managedFields. A strategy that
// is wanted must have left its marks, or the dump lacks them. The error completes a
// sentence that begins with the name of the dump.
func (d *Dump) Strategy(controllers []metacontroller.Controller, wanted composite.Strategy) (composite.Strategy, error) {
	counts := map[composite.Strategy]int{}
	for _, c := range controllers {
		for _, parent := range d.ofKind(c.Parent.APIVersion, c.Parent.Kind) {
			for _, child := range d.byOwner[parent.uid] {
				if _, isDeclared := c.Child(child.ref.APIVersion, child.ref.Kind); isDeclared {
					counts[child.strategy]++
				}
			}
		}
	}
	annotated, managed, unmarked := counts[composite.DynamicApply], counts[composite.ServerSideApply], counts[""]
	switch {
	case wanted == composite.ServerSideApply && !d.isManaged && annotated+unmarked > 0,
		wanted == "" && annotated+managed == 0 && unmarked > 0:
		return "", errors.New("has no managedFields of Metacontroller, which server-side apply goes by: print it with kubectl get --show-managed-fields")
	case wanted != "":
		return wanted, nil
	case annotated > 0 && managed > 0:
		return "", fmt.Errorf("has children by dynamic-apply (%d) and by server-side-apply (%d): say with --apply which one Metacontroller uses now", annotated, managed)
	case managed > 0:
		return composite.ServerSideApply, nil
	}
	return composite.DynamicApply, nil
}
