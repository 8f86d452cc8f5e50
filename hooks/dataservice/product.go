package dataservice

import (
	"cmp"
	"fmt"
	"slices"
)

// settings is what a spec says about a component, independent of its type
// there.
type settings struct {
	Runtime

	image       string
	kind        WorkloadKind
	storage     *Storage
	credentials *SecretRef
	thirdParty  *ThirdParty
}

func (m *Middleware) settings() *settings {
	if m == nil {
		return nil
	}
	return &settings{Runtime{Workload: m.Workload}, m.Image, m.Kind, m.Storage, m.CredentialsSecretRef, m.ThirdParty}
}

func (s *Service) settings() *settings {
	if s == nil {
		return nil
	}
	return &settings{Runtime: s.Runtime, image: s.Image}
}

func (r *Registry) settings() *settings {
	if r == nil {
		return nil
	}
	return &settings{Runtime: r.Runtime, image: r.Image, thirdParty: r.ThirdParty}
}

// unit is a component of a spec: the row of the table with the settings of the
// spec applied.
type unit struct {
	component
	said settings
}

// runsHere reports whether it runs in the cluster.
func (u *unit) runsHere() bool { return u.said.thirdParty == nil }

// wantedConfigs returns its ConfigMaps: those of the table, or one if only the
// spec has files for it.
func (u *unit) wantedConfigs() []config {
	if len(u.configs) == 0 && len(u.said.Config) > 0 {
		return []config{{path: configDir}}
	}
	return u.configs
}

// product is everything that a spec asks for, in the order of the table.
type product struct {
	ds     *DataService
	policy Policy
	table  []component
	units  []*unit
	// stages is the stage of each component of the table, including those that
	// the spec leaves out.
	stages map[string]int
}

// owners returns the components by the names of their objects: those of the spec and,
// for components that have been removed from it, those of the status and the defaults.
// A label would tell it, too, but anyone who may edit an object can write one.
func (p *product) owners() map[string]string {
	owners := map[string]string{}
	add := func(row component, name string) {
		owners[name] = row.key
		for _, config := range row.configs {
			owners[name+config.suffix] = row.key
		}
	}
	for _, row := range p.table {
		add(row, row.name)
	}
	for _, row := range p.table {
		if name := p.remembered(row.key); name != "" {
			add(row, name)
		}
	}
	for _, u := range p.units {
		add(u.component, u.name)
	}
	return owners
}

// remembered returns the name of a component in the status, or "".
func (p *product) remembered(key string) string {
	for _, told := range p.ds.Status.Components {
		if told.Component == key {
			return told.Name
		}
	}
	return ""
}

// unit returns the component of that key, or nil if the spec leaves it out.
func (p *product) unit(key string) *unit {
	i := slices.IndexFunc(p.units, func(u *unit) bool { return u.key == key })
	if i < 0 {
		return nil
	}
	return p.units[i]
}

// resolve applies a spec to a table. It returns an error where a component refers to
// one that is left out.
func (p Policy) resolve(ds *DataService) (*product, error) { return resolve(ds, p, p.table()) }

func resolve(ds *DataService, policy Policy, table []component) (*product, error) {
	p := &product{ds: ds, policy: policy, table: table, stages: stages(table)}
	for _, row := range table {
		said := row.from(&ds.Spec)
		if said == nil {
			continue
		}
		u := &unit{component: row, said: *said}
		u.name = cmp.Or(string(said.Name), row.name)
		u.port = cmp.Or(said.Port, row.port)
		u.kind = cmp.Or(said.kind, row.kind)
		u.image = cmp.Or(said.image, row.image)
		p.units = append(p.units, u)
	}
	for _, u := range p.units {
		for _, needed := range u.needs {
			if p.unit(needed) == nil {
				return p, fmt.Errorf("%s needs %s: write spec.%s, as third-party if it runs elsewhere", u.key, needed, needed)
			}
		}
	}
	return p, nil
}

// stages returns how many stages start before each component.
func stages(table []component) map[string]int {
	stages := map[string]int{}
	for _, row := range table {
		stage := 0
		for _, before := range row.after {
			stage = max(stage, stages[before]+1)
		}
		stages[row.key] = stage
	}
	return stages
}
