package metacontroller

import (
	"encoding/json"
	"fmt"
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
}

// Compare stamps the children and looks for each among those observed. Children
// that [Keep] made are left out. The error is that of [Hash].
func (o Observed) Compare(children []Object) (Difference, error) {
	var diff Difference
	for _, child := range children {
		if _, ok := child.(*kept); ok {
			continue
		}
		apiVersion, kind := child.GetObjectKind().GroupVersionKind().ToAPIVersionAndKind()
		ref := kind + "/" + child.GetName()
		hash, err := stamped(child)
		if err != nil {
			return diff, fmt.Errorf("child %s: %w", ref, err)
		}
		snapshot, found := o.Children.Find(apiVersion, kind, child.GetName())
		switch {
		case !found:
			diff.Missing = append(diff.Missing, ref)
		case snapshot.Terminating || snapshot.hash() != hash || snapshot.isUnseen():
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
