package dataservice

import (
	"slices"

	"github.com/operetta-dev/operetta/metacontroller"
)

// owners tells which components an observed object may belong to. It goes by the
// object's name, which nobody can change, as the spec and the status tell the
// names of components. Whoever may edit an object can write any label on it, so
// a label is believed only where the name agrees.
type owners struct {
	table []component
	// told are the components by the references of their objects, with the names
	// that they have in the spec and had in older ones. Default are those with the
	// names of the table, which tell less: a spec may have given such a name to
	// another component.
	told, byDefault map[string][]string
}

// owners returns what the spec and the status of a product tell. The status is
// the one of the request, so nothing is forgotten before it has been written.
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

// mostFormerNames is how many former names of a component are read, the newest. Each is
// unpacked into the references of all kinds, and a component has a few.
const mostFormerNames = 500

// remembered returns what the status tells of components. The API server stores each once.
func (p *product) remembered() []ComponentStatus {
	return p.ds.Status.Components[:min(len(p.ds.Status.Components), len(p.table))]
}

// names returns the names that a component had, the newest last.
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

// of returns the keys of the components that an object may belong to. They are
// more than one where a name has gone from one component to another, and none
// where nothing knows the name. A label can add a component to those that have
// the name by default, never take one away.
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

// isOf reports whether an object belongs to a component and, as far as can be
// told, to no other.
func (o owners) isOf(child observedChild, key string) bool {
	keys := o.of(child)
	return slices.Contains(keys, key) && (len(keys) == 1 || child.label == key)
}
