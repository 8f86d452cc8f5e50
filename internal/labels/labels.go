// Package labels makes the labels that every child carries.
package labels

import "github.com/operetta-dev/operetta/internal/names"

// App holds what the labels recommended by Kubernetes say, see
// https://kubernetes.io/docs/concepts/overview/working-with-objects/common-labels/.
type App struct {
	// Name is what the application is, Instance which one of its kind.
	Name, Instance string
	// Component is the part that the object plays in it, PartOf the larger
	// whole.
	Component, PartOf string
}

// Labels returns the labels in a map of their own. A value too long for a label
// is cut and ends in a hash.
func (a App) Labels() map[string]string {
	return map[string]string{
		"app.kubernetes.io/name":       names.Join(names.MaxLabel, a.Name),
		"app.kubernetes.io/instance":   names.Join(names.MaxLabel, a.Instance),
		"app.kubernetes.io/component":  names.Join(names.MaxLabel, a.Component),
		"app.kubernetes.io/part-of":    names.Join(names.MaxLabel, a.PartOf),
		"app.kubernetes.io/managed-by": "operetta",
	}
}
