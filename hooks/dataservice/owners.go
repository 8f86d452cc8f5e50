package dataservice

import (
	"slices"

	"github.com/operetta-dev/operetta/metacontroller"
)

// owners finds the components to which an observed object may belong. It uses
// the object's name, which is immutable, and the names of components in the
// spec and the status. Anyone who may edit an object can change its labels, so
// a label is only trusted if it agrees with the name.
type owners struct {
	table []component
	// told are the components by the references of their objects, with their
	// names in the spec and earlier ones. byDefault uses the default names,
	// which are weaker: a spec may have given such a name to another component.
	told, byDefault map[string][]string
}

// owners returns the names in the spec and the status of a product. The status
// is the one of the request, so nothing is dropped before it has been written.
func (p *product) owners() owners {
	o := owners{p.table, map[string][]string{}, map[string][]string{}}
	for _, u := range p.units {
		o.told = add(o.told, u.component, u.name)
	}
	for _, status := range p.remembered() {
		for _, row := range p.table {
			if row.key != status.Component {
				continue
			}
			for _, name := range status.names() {
				o.told = add(o.told, row, name)
			}
		}
	}
	for _, row := range p.table {
		o.byDefault = add(o.byDefault, row, row.name)
	}
	return o
}

// mostFormerNames is how many former names of a component are read, the newest
// ones. Each becomes references of all kinds; a component has only a few.
const mostFormerNames = 500

// remembered returns the components in the status. The API server stores each
// once.
func (p *product) remembered() []ComponentStatus {
	return p.ds.Status.Components[:min(len(p.ds.Status.Components), len(p.table))]
}

// names returns the current and former names of a component, the newest last.
func (s ComponentStatus) names() []string {
	return append(slices.Clone(s.FormerNames[max(0, len(s.FormerNames)-mostFormerNames):]), s.Name)
}

// add adds a component under all references that its objects have with a name.
func add(known map[string][]string, row component, name string) map[string][]string {
	for _, ref := range refsOf(row, name) {
		if name != "" && !slices.Contains(known[ref], row.key) {
			known[ref] = append(known[ref], row.key)
		}
	}
	return known
}

// refsOf returns the references of all objects that a component can have with a
// name, of whatever kind.
func refsOf(row component, name string) []string {
	var refs []string
	for _, kind := range []metacontroller.Resource{metacontroller.Deployment, metacontroller.StatefulSet, metacontroller.DaemonSet, metacontroller.Service, metacontroller.ConfigMap} {
		refs = append(refs, kind.Kind+"/"+name)
	}
	for _, config := range row.configs {
		refs = append(refs, metacontroller.ConfigMap.Kind+"/"+name+config.suffix)
	}
	return refs
}

// of returns the keys of the components to which an object may belong: several
// if a name has moved from one component to another, none if the name is
// unknown. A label can add a component to those with the name by default, never
// remove one.
func (o owners) of(child observedChild) []string {
	if keys := o.told[child.Ref()]; len(keys) > 0 {
		return keys
	}
	keys := o.byDefault[child.Ref()]
	if len(keys) > 0 && o.knows(child.label) && !slices.Contains(keys, child.label) {
		keys = append(slices.Clone(keys), child.label)
	}
	return keys
}

// knows reports whether a key is one of the table.
func (o owners) knows(key string) bool {
	return slices.ContainsFunc(o.table, func(row component) bool { return row.key == key })
}

// isOf reports whether an object belongs to a component and, as far as is
// known, to no other.
func (o owners) isOf(child observedChild, key string) bool {
	keys := o.of(child)
	return slices.Contains(keys, key) && (len(keys) == 1 || child.label == key)
}
