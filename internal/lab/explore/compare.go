package explore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/simulation"
)

// unlike is how a custom resource at rest is unlike a new one, with the declaration that would
// allow it.
type unlike struct {
	text    string
	allowed simulation.History
}

// tell returns differences, and what to declare if they are right.
func tell(list []unlike) string {
	var texts, remedies []string
	for _, one := range list {
		texts = append(texts, one.text)
		if remedy := literal(one.allowed); !slices.Contains(remedies, remedy) {
			remedies = append(remedies, remedy)
		}
	}
	return strings.Join(texts, ", ") + "; correct the hook, or, where the difference is meant, declare in Invariants.History: " + strings.Join(remedies, ", ")
}

// literal returns a History as an author writes it.
func literal(h simulation.History) string {
	text := fmt.Sprintf("{Kind: %q", h.Kind)
	for _, flag := range []struct {
		name string
		set  bool
	}{{"Names", h.Names}, {"More", h.More}, {"Fewer", h.Fewer}} {
		if flag.set {
			text += ", " + flag.name + ": true"
		}
	}
	if len(h.Fields) > 0 {
		text += fmt.Sprintf(", Fields: []string{%q}", h.Fields[0])
	}
	return text + `, Reason: "..."}`
}

// differences returns how children differ from those of a fresh world, except
// for what may depend on the history.
func (r *rest) differences(fresh *rest, history []simulation.History) (list []unlike) {
	matched := map[string]bool{}
	for _, name := range sortedKeys(r.children, fresh.children) {
		is, wanted, kind := r.children[name], fresh.children[name], kindOf(name)
		h := historyOf(history, kind)
		switch {
		case h.Names && is == nil: // below
		case h.Names:
			other := findEqual(is, fresh, h, matched)
			matched[other] = true
			if other == "" && !h.More {
				list = append(list, unlike{name + " is none that a new one would have" + fields(is, fresh, h), simulation.History{Kind: kind, More: true}})
			}
		case is == nil && !h.Fewer:
			list = append(list, unlike{name + " is missing", simulation.History{Kind: kind, Fewer: true}})
		case wanted == nil && !h.More:
			list = append(list, unlike{name + " is left over", simulation.History{Kind: kind, More: true}})
		case is != nil && wanted != nil:
			for _, d := range difference(is, wanted, h) {
				list = append(list, unlike{name + " " + sides(d), simulation.History{Kind: kind, Fields: []string{d.Path}}})
			}
		}
	}
	for _, name := range sortedKeys(fresh.children) {
		if h := historyOf(history, kindOf(name)); h.Names && !h.Fewer && !matched[name] {
			list = append(list, unlike{"one like " + name + " is missing", simulation.History{Kind: kindOf(name), Fewer: true}})
		}
	}
	return list
}

// sides returns a difference between a new child and this one.
func sides(d kube.Difference) string {
	wanted, is := d.Short()
	return fmt.Sprintf("has %s %s, and a new one would have %s", d.Path, is, wanted)
}

// isBeyond reports whether only a new custom resource has to wait for a name
// that is taken: this one has children of other names, or has run to
// completion.
func (r *rest) isBeyond(fresh *rest, history []simulation.History, kind string) bool {
	hasOthers := func(name string) bool { return historyOf(history, kindOf(name)).Names }
	return r.hasEnded() && len(fresh.taken) > 0 && (mayEnd(history, kind) || r.ready == "True" && slices.ContainsFunc(fresh.taken, hasOthers))
}

// findEqual returns the name of an equal child of a fresh world that is not
// matched yet, or "".
func findEqual(is map[string]any, fresh *rest, h simulation.History, matched map[string]bool) string {
	for _, name := range sortedKeys(fresh.children) {
		if !matched[name] && fresh.children[name]["kind"] == is["kind"] && len(difference(is, fresh.children[name], h)) == 0 {
			return name
		}
	}
	return ""
}

// fields returns the fields in which a child differs from the first of its kind.
func fields(is map[string]any, fresh *rest, h simulation.History) string {
	for _, name := range sortedKeys(fresh.children) {
		if fresh.children[name]["kind"] == is["kind"] {
			var texts []string
			for _, d := range difference(is, fresh.children[name], h) {
				texts = append(texts, sides(d))
			}
			if len(texts) > 0 {
				return " (it " + strings.Join(texts, ", ") + ")"
			}
			break
		}
	}
	return ""
}

// difference returns the fields in which two children differ.
func difference(is, wanted map[string]any, h simulation.History) []kube.Difference {
	list := kube.Comparison{}.Objects(&unstructured.Unstructured{Object: wanted}, &unstructured.Unstructured{Object: is})
	return slices.DeleteFunc(list, func(d kube.Difference) bool {
		return slices.ContainsFunc(h.Fields, func(field string) bool { return strings.HasPrefix(d.Path, field) })
	})
}

// historyOf joins the History entries of a kind.
func historyOf(list []simulation.History, kind string) simulation.History {
	joined := simulation.History{Kind: kind}
	for _, h := range list {
		if h.Kind == kind {
			joined.Names = joined.Names || h.Names
			joined.More = joined.More || h.More
			joined.Fewer = joined.Fewer || h.Fewer
			joined.Fields = append(joined.Fields, h.Fields...)
		}
	}
	return joined
}

func kindOf(name string) string {
	kind, _, _ := strings.Cut(name, "/")
	return kind
}

// unfinished returns which children are not ready enough for Ready=True of
// their custom resource.
func unfinished(children []kube.Object) []string {
	var list []string
	for _, child := range children {
		if child.GetDeletionTimestamp() != nil {
			continue // a missing child shows in a comparison
		}
		rollout, isWorkload := kube.RolloutOf(child)
		name := kube.RefOf(child).String()
		switch {
		case !isWorkload:
		case rollout.ObservedGeneration != rollout.Generation:
			list = append(list, name+" has a spec that its controller has not seen")
		case rollout.Ready < rollout.Wanted, rollout.Updated < rollout.Wanted, rollout.Available < rollout.Ready:
			list = append(list, name+" is "+kube.Progress(child))
		case rollout.Existing > rollout.Wanted:
			list = append(list, fmt.Sprintf("%s has %d Pods of %d", name, rollout.Existing, rollout.Wanted))
		}
	}
	return list
}
