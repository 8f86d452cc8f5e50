package simulate

import (
	"fmt"
	"strings"
)

func (w *World) unheard() string {
	const most = 4
	var parts []string
	for _, kind := range w.composite.PendingKinds() {
		words := map[Ref]string{}
		var refs []Ref
		for _, write := range w.composite.Pending(kind) {
			if words[write.Ref] == "" {
				refs = append(refs, write.Ref)
			}
			words[write.Ref] = staleness(w.composite.Heard(write.Ref), write.After)
		}
		for _, ref := range refs {
			parts = append(parts, ref.String()+" "+words[ref])
		}
	}
	if len(parts) > most {
		parts = append(parts[:most], fmt.Sprintf("and %d more", len(parts)-most))
	}
	return strings.Join(parts, ", ")
}

func staleness(known, now Object) string {
	switch {
	case now == nil:
		return "is gone"
	case known == nil:
		return "exists"
	case known.GetUID() != now.GetUID():
		return "is another one"
	case known.GetDeletionTimestamp() == nil && now.GetDeletionTimestamp() != nil:
		return "is being deleted"
	case known.GetGeneration() != now.GetGeneration():
		return "has another spec"
	}
	if progress := Progress(now); progress != "" && progress != Progress(known) {
		return "is " + progress
	}
	return "has changed"
}
