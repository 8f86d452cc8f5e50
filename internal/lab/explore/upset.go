package explore

import (
	"maps"
	"slices"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/metacontroller"
)

// upsets are what people and nodes do, each with how often of 24 times.
var upsets = []struct {
	share int
	do    func(*chance) bool
}{
	{8, (*chance).edit},
	{1, (*chance).revert},
	{2, (*chance).deleteParent},
	{3, func(c *chance) bool { return c.doTo(c.pick(c.isNear), "delete", "") }},
	{1, (*chance).editChild},
	{2, (*chance).failPod},
	{1, (*chance).refuse},
	{2, (*chance).takeName},
	{2, (*chance).releaseName},
	{2, func(c *chance) bool { return c.do(player.Action{Do: "mend"}) }},
}

// disturb performs an action of people or nodes.
func (c *chance) disturb() {
	for range 4 { // until one is possible
		roll := c.IntN(24)
		for _, upset := range upsets {
			if roll -= upset.share; roll < 0 {
				if upset.do(c) {
					return
				}
				break
			}
		}
	}
}

// doTo performs an action on an object, if there is one.
func (c *chance) doTo(object kube.Object, do, detail string) bool {
	return object != nil && c.do(player.Action{Do: do, Target: kube.RefOf(object).String(), Detail: detail})
}

// parent returns the custom resource, and none that is the child of another one.
func (c *chance) parent() kube.Object {
	return c.pick(func(object kube.Object) bool {
		return c.run.World.IsOfParent(object) && !c.run.World.IsChild(object)
	})
}

// edit edits the custom resource, sometimes in two fields at once.
func (c *chance) edit() bool {
	parent := c.parent()
	if parent == nil {
		return false
	}
	edit, found := c.run.scenario.pickEdit(c.Rand)
	if !found {
		return false
	}
	patch := edit.Patch()
	if c.IntN(4) == 0 {
		if other, found := c.run.scenario.pickEdit(c.Rand); found {
			patch = kube.MergePatch(patch, other.Patch())
		}
	}
	content := kube.MergePatch(parent.Object, patch)
	if !c.run.scenario.Admits(asWritten(&unstructured.Unstructured{Object: content})) {
		return false
	}
	return c.change(parent, patch)
}

// change edits the custom resource, whose spec may come back later.
func (c *chance) change(parent kube.Object, patch map[string]any) bool {
	if spec, ok := parent.Object["spec"].(map[string]any); ok {
		c.before = append(c.before, spec)
	}
	return c.do(editOf(parent, patch))
}

func editOf(parent kube.Object, patch map[string]any) player.Action {
	return player.Action{Do: "edit", Target: kube.RefOf(parent).String(), Detail: encode(patch)}
}

// revert restores an earlier spec of the custom resource.
func (c *chance) revert() bool {
	parent := c.parent()
	if parent == nil || len(c.before) == 0 {
		return false
	}
	is, _ := parent.Object["spec"].(map[string]any)
	patch := patchOf(is, c.before[c.IntN(len(c.before))])
	if len(patch) == 0 {
		return false
	}
	return c.change(parent, map[string]any{"spec": patch})
}

// deleteParent deletes the custom resource, and mostly creates it again.
func (c *chance) deleteParent() bool {
	parent := c.parent()
	if parent == nil {
		return c.create()
	}
	cascade := []string{"", "", "", "foreground", "orphan"}[c.IntN(5)]
	done := c.doTo(parent, "delete", cascade)
	c.randomActions(c.IntN(30))
	c.create()
	return done
}

func (c *chance) create() bool {
	object, err := c.run.scenario.Parent()
	if err != nil {
		return false
	}
	content := object.Object
	if c.IntN(3) == 0 {
		if edit, found := c.run.scenario.pickEdit(c.Rand); found {
			content = edit.Object()
		}
	}
	return c.do(player.Action{Do: "create", Detail: encode(content)})
}

// isNear reports whether an object is a child, or a Pod of one.
func (c *chance) isNear(object kube.Object) bool {
	return c.run.World.IsChild(object) || kube.RefOf(object).Is(metacontroller.Pod)
}

// editChild changes or removes a label that the hook has set. Under server-side
// apply that is not repaired for kinds with a generation.
func (c *chance) editChild() bool {
	child := c.pick(c.run.World.IsChild)
	if child == nil {
		return false
	}
	var keys []string
	for _, key := range slices.Sorted(maps.Keys(child.GetLabels())) {
		if c.run.scenario.Apply != player.ServerSideApply || key == "controller-uid" {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return false
	}
	var value any
	if c.IntN(2) == 0 {
		value = "edited"
	}
	patch := map[string]any{"metadata": map[string]any{"labels": map[string]any{keys[c.IntN(len(keys))]: value}}}
	return c.doTo(child, "edit", encode(patch))
}

// failPod makes a Pod or a workload fail, evicts its Pods or loses their node, or changes the load of an autoscaler.
func (c *chance) failPod() bool {
	if c.measure() {
		return true
	}
	object := c.pick(c.isNear)
	if object == nil {
		return false
	}
	do := []string{player.Fail, player.Fail, player.Hold, player.Evict, player.LoseNode}[c.IntN(5)]
	return c.doTo(object, do, c.detail(do, object))
}

// refuse refuses to create objects of a kind.
func (c *chance) refuse() bool {
	object := c.pick(c.isNear)
	if object == nil {
		return false
	}
	do := []string{"quota", "refuse"}[c.IntN(2)]
	return c.do(player.Action{Do: do, Target: object.GetKind(), Detail: c.detail(do, object)})
}

// detail returns one of the ways in which an action may be done to an object, or none.
func (c *chance) detail(do string, object kube.Object) string {
	ways := []string{""}
	_, makesPods, _ := unstructured.NestedMap(object.Object, "spec", "template")
	for _, kind := range player.ActionKinds() {
		for _, way := range kind.Details {
			isOther := way.Kinds != nil && !slices.Contains(way.Kinds, object.GetKind())
			isOther = isOther || way.OfPods && !makesPods && !kube.RefOf(object).Is(metacontroller.Pod)
			if kind.Name == do && !isOther {
				ways = append(ways, way.Name)
			}
		}
	}
	return ways[c.IntN(len(ways))]
}
