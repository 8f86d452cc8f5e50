package explore

import (
	"slices"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/operetta-dev/operetta/internal/lab/player"
)

// takeName creates an object of somebody else with the name of a child. Mostly it has another
// controller: server-side apply would adopt an object without one.
func (c *chance) takeName() bool {
	names := c.wanted()
	if len(names) == 0 {
		return false
	}
	action := player.Action{Do: "take-name", Target: names[c.IntN(len(names))]}
	if c.run.scenario.Apply != player.ServerSideApply && c.IntN(2) == 0 {
		action.Detail = player.Ownerless
	}
	return c.do(action)
}

// releaseName deletes an object of somebody else that has the name of a child.
func (c *chance) releaseName() bool {
	object := c.pick(func(object kube.Object) bool {
		_, isRefused := c.run.refused[kube.RefOf(object)]
		return (isRefused || player.IsStrangers(object)) && c.run.World.IsForeign(object)
	})
	return c.doTo(object, "delete", "")
}

// wanted returns the names of the existing children and of those of a new custom resource, each with
// its kind, in order.
func (c *chance) wanted() []string {
	var names []string
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, parent := range c.run.World.Parents() {
		if fresh := c.run.scenario.freshRest(c.run.World, parent); fresh != nil {
			for _, name := range sortedKeys(fresh.children) {
				add(name)
			}
		}
		for _, child := range c.run.World.Owned(parent) {
			add(kube.RefOf(child).String())
		}
	}
	return names
}
