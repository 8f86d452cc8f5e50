package picture

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/operetta-dev/operetta/internal/lab/player"
)

const (
	// maxSingle is how many objects have a lane each; among more, those without a state go
	// to the lane of their component.
	maxSingle = 16
	// maxLanes bounds a picture.
	maxLanes = 40
)

// nameOf names the custom resources.
func nameOf(lanes []*lane) string {
	var names []string
	for _, l := range lanes {
		if l.isParent {
			names = append(names, l.name)
		}
	}
	const most = 3
	if more := len(names) - most; more > 0 {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, ", ")
}

// outcomeOf says how they ended.
func outcomeOf(world *player.World) string {
	outcomes := world.Outcomes()
	ready := 0
	for _, o := range outcomes {
		if o.Ready == "True" {
			ready++
		}
	}
	switch steps := world.Steps; {
	case len(outcomes) == 0:
		return fmt.Sprintf("gone after %s", steps[len(steps)-1].Time.Sub(steps[0].Time).Round(time.Second))
	case len(outcomes) > 1:
		return fmt.Sprintf("%d of %d are Ready", ready, len(outcomes))
	}
	o := outcomes[0]
	after := o.After.Round(time.Second)
	switch {
	case o.Failure != "":
		return "its sync fails"
	case ready == 1:
		return fmt.Sprintf("Ready after %s", after)
	}
	return fmt.Sprintf("not Ready after %s: %s", after, o.Reason)
}

// arrange orders the lanes: each custom resource, its conditions, its children by component, and
// at the end what belongs to nobody. It returns how many it has left out.
func arrange(all []*lane) (lanes []*lane, omitted int) {
	children := 0
	for _, l := range all {
		if !l.isParent && l.condition == "" {
			children++
		}
		l.component = cmp.Or(l.component, l.ref.Name)
		if l.condition == "" && l.hasState() && l.bars[0].level == plain {
			l.bars[0].level = working // it has none yet
		}
	}
	if children > maxSingle {
		all = fold(all)
	}
	for _, parent := range all {
		if !parent.isParent {
			continue
		}
		lanes = append(lanes, parent)
		for _, l := range all {
			if l.ref == parent.ref && l.condition != "" && (l.condition == "Ready" || l.changes() || l.bars[0].from > parent.bars[0].from) {
				lanes = append(lanes, l)
			}
		}
		lanes = append(lanes, byComponent(all, parent.ref)...)
	}
	lanes = append(lanes, byComponent(all, kube.Ref{})...)
	omitted = max(0, len(lanes)-maxLanes)
	return lanes[:len(lanes)-omitted], omitted
}

// byComponent returns the children of a custom resource, those of a component together, in the
// order in which the first of each has come.
func byComponent(all []*lane, parent kube.Ref) (lanes []*lane) {
	first := map[string]int{}
	for i, l := range all {
		if _, found := first[l.component]; !found {
			first[l.component] = i
		}
		if !l.isParent && l.condition == "" && l.parent == parent {
			lanes = append(lanes, l)
		}
	}
	slices.SortStableFunc(lanes, func(a, b *lane) int { return first[a.component] - first[b.component] })
	return lanes
}

// fold takes objects that have no state into the lane of an object of their component which has
// lived as long.
func fold(all []*lane) []*lane {
	return slices.DeleteFunc(slices.Clone(all), func(l *lane) bool {
		if l.isParent || l.condition != "" || l.hasState() {
			return false
		}
		for _, other := range all {
			if other.condition == "" && !other.isParent && other.parent == l.parent && other.component == l.component && other.hasState() && slices.Equal(other.marks, l.marks) {
				other.with = append(other.with, l.name)
				return true
			}
		}
		return false
	})
}
