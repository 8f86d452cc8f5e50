package metacontroller

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Difference tells how what is observed differs from what is asked for now.
// Its children are named as in Deployment/web, in the order in which the hook
// asks for them.
type Difference struct {
	// Missing are children that are not observed.
	Missing []string
	// Outdated are children that carry the hash of something else that was
	// asked for, or whose own controller has not yet looked at their newest
	// generation, or that are being deleted.
	Outdated []string
	// NotUpdated are those of the Outdated that an update is to make what is asked
	// for: children of an InPlace kind that carry another hash.
	NotUpdated []string
	// Taken are those of the Missing that are not asked for, because another
	// controller has an object of that name.
	Taken []Taken

	parent string // as kubectl events takes it, with its namespace
}

// Add adds what another comparison for the same parent has found.
func (d *Difference) Add(other Difference) {
	d.Missing = append(d.Missing, other.Missing...)
	d.Outdated = append(d.Outdated, other.Outdated...)
	d.NotUpdated = append(d.NotUpdated, other.NotUpdated...)
	d.Taken = append(d.Taken, other.Taken...)
	d.parent = cmp.Or(d.parent, other.parent)
}

// asked returns those of the Missing that are asked for.
func (d *Difference) asked() []string {
	if len(d.Taken) == 0 {
		return d.Missing
	}
	return slices.DeleteFunc(slices.Clone(d.Missing), func(ref string) bool {
		return slices.ContainsFunc(d.Taken, func(taken Taken) bool { return taken.Ref == ref })
	})
}

// blocked tells which children do not come, and what to do about it.
func (d *Difference) blocked(isOver bool) string {
	var parts []string
	if len(d.Taken) > 0 {
		taken := make([]string, len(d.Taken))
		for i := range d.Taken {
			taken[i] = d.Taken[i].String()
		}
		parts = append(parts, listed(taken)+", and is not taken over: choose another name, or delete what has it")
	}
	if asked := d.asked(); isOver {
		parts = append(parts, listed(asked)+" does not appear: an object of that name that belongs to someone else may be in the way, "+
			"or the API server refuses it for a quota, an admission webhook or an invalid field; "+d.events())
	}
	return strings.Join(parts, "; ")
}

// events tells where the API server's refusals are to be read: Metacontroller
// reports them as events of the parent.
func (d *Difference) events() string {
	if d.parent == "" {
		return "the events of this object tell more"
	}
	return "`kubectl events " + d.parent + "` tells more"
}

// Compare stamps the children and looks for each among those observed. Children
// that [Keep] made are left out. The error is that of [Hash], or says that the
// call shall not go on.
func (o Observed) Compare(children []Object) (Difference, error) {
	diff := Difference{parent: o.parent}
	for _, child := range children {
		if _, ok := child.(*kept); ok {
			continue
		}
		apiVersion, kind := child.GetObjectKind().GroupVersionKind().ToAPIVersionAndKind()
		ref := kind + "/" + child.GetName()
		hash, size, err := stamped(child)
		if err != nil {
			return diff, fmt.Errorf("child %s: %w", ref, err)
		}
		if err := o.Children.run.compared(size); err != nil {
			return diff, err
		}
		snapshot, found := o.Children.Find(apiVersion, kind, child.GetName())
		switch {
		case !found:
			diff.Missing = append(diff.Missing, ref)
			if taken, isTaken := o.taken.find(apiVersion, kind, child.GetName()); isTaken {
				diff.Taken = append(diff.Taken, taken)
			}
		case snapshot.Terminating:
			diff.Outdated = append(diff.Outdated, ref)
		case snapshot.hash() != hash:
			diff.Outdated = append(diff.Outdated, ref)
			if o.inPlace[snapshot.Kind+"."+snapshot.APIVersion] {
				diff.NotUpdated = append(diff.NotUpdated, ref)
			}
		case snapshot.isUnseen():
			diff.Outdated = append(diff.Outdated, ref)
		}
	}
	return diff, nil
}

// hash returns the hash that an observed object carries.
func (s Snapshot) hash() string {
	hash, _ := text(lookup(s.raw, "metadata", "annotations", HashAnnotation))
	return hash
}

// isUnseen reports whether the object's own controller says that it has looked
// at an older generation. A kind that has no status.observedGeneration has
// nothing to say.
func (s Snapshot) isUnseen() bool {
	observed := lookup(s.raw, "status", "observedGeneration")
	if observed == nil {
		return false
	}
	var generation, seen int64
	if json.Unmarshal(observed, &seen) != nil ||
		json.Unmarshal(lookup(s.raw, "metadata", "generation"), &generation) != nil {
		return false
	}
	return seen < generation
}

// listed names up to three children and counts the rest.
func listed(refs []string) string {
	const most = 3
	if len(refs) <= most {
		return strings.Join(refs, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(refs[:most], ", "), len(refs)-most)
}
