package dataservice

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// settings is what a spec says about a component, independent of its type
// there.
type settings struct {
	name        ComponentName
	kind        WorkloadKind
	image       string
	port        int32
	nodePort    int32
	ports       []Port
	replica     *int32
	env         map[string]string
	resources   *corev1.ResourceRequirements
	config      map[string]FileContent
	storage     *Storage
	credentials *SecretRef
	thirdParty  *ThirdParty
}

func (m *Middleware) settings() *settings {
	if m == nil {
		return nil
	}
	return &settings{
		name: m.Name, kind: m.Kind, image: m.Image, port: m.Port, replica: m.Replica, resources: m.Resources,
		storage: m.Storage, credentials: m.CredentialsSecretRef, thirdParty: m.ThirdParty,
	}
}

func (r *Runtime) settings() *settings {
	return &settings{
		name: r.Name, image: r.Image, port: r.Port, nodePort: r.NodePort, ports: r.Ports, replica: r.Replica,
		env: r.Env, resources: r.Resources, config: r.Config,
	}
}

func (s *Service) settings() *settings {
	if s == nil {
		return nil
	}
	return s.Runtime.settings()
}

func (r *Registry) settings() *settings {
	if r == nil {
		return nil
	}
	all := r.Runtime.settings()
	all.thirdParty = r.ThirdParty
	return all
}

// unit is a component of a spec: the row of the table with the settings of the
// spec applied.
type unit struct {
	component
	said settings

	stage int // how many stages start before it
}

// runsHere reports whether it runs in the cluster.
func (u *unit) runsHere() bool { return u.said.thirdParty == nil }

// wantedConfigs returns its ConfigMaps: those of the table, or one if only the
// spec has files for it.
func (u *unit) wantedConfigs() []config {
	if len(u.configs) == 0 && len(u.said.config) > 0 {
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

// unit returns the component of that key, or nil if the spec leaves it out.
func (p *product) unit(key string) *unit {
	i := slices.IndexFunc(p.units, func(u *unit) bool { return u.key == key })
	if i < 0 {
		return nil
	}
	return p.units[i]
}

// resolve applies a spec to a table. It returns an error for mistakes that the
// schema cannot check, or that were not validated.
func (p Policy) resolve(ds *DataService) (*product, error) { return resolve(ds, p, p.table()) }

func resolve(ds *DataService, policy Policy, table []component) (*product, error) {
	p := &product{ds: ds, policy: policy, table: table, stages: stages(table)}
	for _, row := range table {
		said := row.from(&ds.Spec)
		if said == nil {
			continue
		}
		u := &unit{component: row, said: *said, stage: p.stages[row.key]}
		u.name = cmp.Or(string(said.name), row.name)
		u.port = cmp.Or(said.port, row.port)
		u.kind = cmp.Or(said.kind, row.kind)
		u.image = cmp.Or(said.image, row.image)
		p.units = append(p.units, u)
	}
	return p, p.check()
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

// check refuses what could not run.
func (p *product) check() error {
	names := map[string]string{}
	for _, u := range p.units {
		for _, needed := range u.needs {
			if p.unit(needed) == nil {
				return fmt.Errorf("%s needs %s: write spec.%s, as third-party if it runs elsewhere", u.key, needed, needed)
			}
		}
		if !u.runsHere() {
			continue
		}
		switch other, taken := names[u.name]; {
		case taken:
			return fmt.Errorf("%s and %s both have the name %s: give one of them another", other, u.key, u.name)
		case u.kind == IsThirdParty:
			return fmt.Errorf("spec.%s.kind is ThirdParty: write spec.%s.thirdParty, where it runs", u.key, u.key)
		case u.kind != Deployment && u.kind != StatefulSet && u.kind != DaemonSet:
			return fmt.Errorf("spec.%s.kind is not supported: write Deployment, StatefulSet, DaemonSet or ThirdParty", u.key)
		case u.image == "":
			return fmt.Errorf("spec.%s.image is missing: write the image that it shall run", u.key)
		case u.said.storage != nil && u.kind != StatefulSet:
			return fmt.Errorf("spec.%s.storage needs kind StatefulSet: set kind, or remove storage", u.key)
		}
		names[u.name] = u.key
	}
	return nil
}
