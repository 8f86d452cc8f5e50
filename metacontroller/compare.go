package metacontroller

import (
	"cmp"
	"encoding/json"
	"fmt"
)

// Difference is how the observed children differ from those that the hook asks
// for now. Children are named as in Deployment/web, in the hook's order.
type Difference struct {
	// Missing are children that are not observed.
	Missing []string
	// Outdated are children that carry the hash of an older desired form, are
	// TooLarge or have an OtherSelector, or whose status.observedGeneration is
	// behind their metadata.generation, or that are being deleted.
	Outdated []string
	// Deleting are those of the Outdated that are being deleted.
	Deleting []string
	// NotUpdated are those of the Outdated that Metacontroller is to update:
	// children of an InPlace kind that carry another hash, and those that are TooLarge
	// or have an OtherSelector.
	NotUpdated []string
	// TooLarge are those of the NotUpdated that are not updated at all, because
	// others have added more than 256 KiB to them, or so many values that the API server
	// could say very much of them, whatever hash they carry. They are sent as they are.
	TooLarge []string
	// OtherSelector are those of the NotUpdated that are not updated at all, because
	// they are workloads with another selector, which cannot be changed: others have
	// made them, whatever hash they carry. They are sent as they are.
	OtherSelector []string
	// Drifted are children of an InPlace kind that carry the hash of what is asked for, and
	// differ from it in a field, which is named as in "Deployment/web in
	// spec.template.spec.containers[0].image". It is for a moment so when something else has
	// changed them, and remains so when the API server refuses the update, when an admission
	// webhook changes them each time, or when the order of variables or init containers is
	// another one, which Metacontroller does not change under dynamic-apply.
	Drifted []string
	// Taken are those of the Missing that are left out of the answer, because
	// another controller owns an object of that name.
	Taken []Taken

	// EventFlags are the flags with which `kubectl events` shows the events of
	// the parent, where Metacontroller reports what the API server has refused.
	EventFlags string
}

// Add adds the result of another comparison for the same parent.
func (d *Difference) Add(other Difference) {
	d.Missing = append(d.Missing, other.Missing...)
	d.Outdated = append(d.Outdated, other.Outdated...)
	d.Deleting = append(d.Deleting, other.Deleting...)
	d.NotUpdated = append(d.NotUpdated, other.NotUpdated...)
	d.TooLarge = append(d.TooLarge, other.TooLarge...)
	d.OtherSelector = append(d.OtherSelector, other.OtherSelector...)
	d.Drifted = append(d.Drifted, other.Drifted...)
	d.Taken = append(d.Taken, other.Taken...)
	d.EventFlags = cmp.Or(d.EventFlags, other.EventFlags)
}

// Compare stamps the children and looks for each among those observed. Children
// that [Keep] made are left out. The error is that of [Hash], or that of a call
// that was canceled or is out of its limits.
func (o Observed) Compare(children []Object) (Difference, error) {
	diff := Difference{EventFlags: o.parent}
	for _, child := range children {
		if _, ok := child.(*kept); ok {
			continue
		}
		apiVersion, kind := complete(child)
		ref := kind + "/" + child.GetName()
		hash, wire, err := stamped(child)
		if err != nil {
			return diff, fmt.Errorf("child %s: %w", ref, err)
		}
		if err := o.Children.run.compared(len(wire)); err != nil {
			return diff, err
		}
		snapshot, found := o.Children.Find(apiVersion, kind, child.GetName())
		isTooLarge, hasOther, err := o.isNeverUpdated(snapshot, child)
		if err != nil {
			return diff, fmt.Errorf("child %s: %w", ref, err)
		}
		switch {
		case !found:
			diff.Missing = append(diff.Missing, ref)
			if taken, isTaken := o.taken.find(apiVersion, kind, child.GetName()); isTaken {
				diff.Taken = append(diff.Taken, taken)
			}
		case snapshot.Terminating:
			diff.Outdated = append(diff.Outdated, ref)
			diff.Deleting = append(diff.Deleting, ref)
		case isTooLarge, hasOther:
			diff.Outdated = append(diff.Outdated, ref)
			diff.NotUpdated = append(diff.NotUpdated, ref)
			if isTooLarge {
				diff.TooLarge = append(diff.TooLarge, ref)
			} else {
				diff.OtherSelector = append(diff.OtherSelector, ref)
			}
		case snapshot.hash() != hash:
			diff.Outdated = append(diff.Outdated, ref)
			if o.inPlace[snapshot.Kind+"."+snapshot.APIVersion] {
				diff.NotUpdated = append(diff.NotUpdated, ref)
			}
		case snapshot.isGenerationBehind():
			diff.Outdated = append(diff.Outdated, ref)
		case o.inPlace[snapshot.Kind+"."+snapshot.APIVersion]:
			if wire == nil { // it was stamped before
				if wire, err = appendObject(make([]byte, 0, 2048), child); err != nil {
					return diff, fmt.Errorf("child %s: %w", ref, err)
				}
			}
			if path := drift(snapshot.raw, wire); path != "" {
				diff.Drifted = append(diff.Drifted, ref+" in "+path)
			}
		}
	}
	return diff, nil
}

// isNeverUpdated reports whether an observed child is sent as it is because of its size,
// see [Difference.TooLarge], or because of its selector, see [Difference.OtherSelector].
func (o Observed) isNeverUpdated(observed Snapshot, desired Object) (isTooLarge, hasOther bool, err error) {
	if !o.inPlace[observed.Kind+"."+observed.APIVersion] {
		return false, false, nil
	}
	if mayBeTooLarge(observed.raw) {
		wire, err := appendObject(make([]byte, 0, 2048), desired)
		if err != nil || isTooLargeToUpdate(observed.raw, wire) {
			return true, false, err
		}
	}
	selector, err := selectorOf(desired)
	return false, hasOtherSelector(observed.raw, selector), err
}

// hash returns the hash that an observed object carries.
func (s Snapshot) hash() string {
	hash, _ := text(lookup(s.raw, "metadata", "annotations", HashAnnotation))
	return hash
}

// isGenerationBehind reports whether status.observedGeneration is behind
// metadata.generation. Kinds without status.observedGeneration are never
// unseen.
func (s Snapshot) isGenerationBehind() bool {
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
