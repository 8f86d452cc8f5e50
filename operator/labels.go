package operator

import "cmp"

// App are the values of the labels that Kubernetes recommends, see
// https://kubernetes.io/docs/concepts/overview/working-with-objects/common-labels/.
type App struct {
	// Name is what the application is, Instance which one of its kind.
	Name, Instance string
	// Component is the part that the object plays in it, PartOf the larger
	// whole.
	Component, PartOf string
	// ManagedBy names the operators whose child it is: operetta where it is empty.
	ManagedBy string
}

// Labels returns the labels in a new map. A value that is too long for a label
// is cut and ends in a hash.
func (a App) Labels() map[string]string {
	return map[string]string{
		"app.kubernetes.io/name":       JoinName(MaxLabel, a.Name),
		"app.kubernetes.io/instance":   JoinName(MaxLabel, a.Instance),
		"app.kubernetes.io/component":  JoinName(MaxLabel, a.Component),
		"app.kubernetes.io/part-of":    JoinName(MaxLabel, a.PartOf),
		"app.kubernetes.io/managed-by": JoinName(MaxLabel, cmp.Or(a.ManagedBy, "operetta")),
	}
}
