package dataservice

import (
	"fmt"
	"slices"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// plan is what is asked for, and how far each component is.
type plan struct {
	*product

	there    observed
	refs     map[string]bool // of all that is there, made when it is asked for
	owners   owners
	parts    []*part
	children []metacontroller.Object
	wanted   map[string]bool // the references of the children that are not only kept
	differs  metacontroller.Difference
}

// part is how far a component is.
type part struct {
	*unit

	workload *observedWorkload // nil where it is not observed
	differs  metacontroller.Difference
	waitsFor []string // the names of what holds back its creation
	refused  string   // why nothing can be asked for
	rival    string   // what of another kind has to go before its workload comes
	nodePort string   // the node port that it has to do without, and why
	isReady  bool     // for those that come after it; node ports are for others
	old      []string // what of an older spec is kept for it
}

// isHeld reports whether its creation waits for others.
func (p *part) isHeld() bool { return len(p.waitsFor) > 0 }

// isComplete reports whether it is ready with all that the spec asks for.
func (p *part) isComplete() bool { return p.isReady && p.nodePort == "" }

// decide makes the plan: in the order of the table, so that all that a component
// waits for is in the plan before it.
func decide(p *product, there observed, seen metacontroller.Observed) (*plan, error) {
	plan := &plan{product: p, there: there, owners: p.owners()}
	taken := map[string]bool{}
	for _, u := range p.units {
		if !u.runsHere() {
			plan.parts = append(plan.parts, &part{unit: u, isReady: true})
			continue
		}
		resolved, err := plan.resolve(u)
		if err != nil {
			return nil, err
		}
		if err := resolved.claim(taken); err != nil {
			return nil, err
		}
		part, err := resolved.compare(seen)
		if err != nil {
			return nil, err
		}
		if part.refused == "" { // otherwise what is there of it stays as it is
			part.waitsFor = plan.gate(u)
			if !part.isHeld() {
				plan.children = append(plan.children, resolved.asked...)
				plan.differs.Add(part.differs)
			}
		}
		plan.parts = append(plan.parts, part)
	}
	plan.keepOld()
	return plan, nil
}

// resolved is a component with its objects, as far as what is observed lets it have
// them.
type resolved struct {
	part

	all   []metacontroller.Object // that the spec asks for
	asked []metacontroller.Object // those of them that can be asked for now
}

// resolve returns the objects of a component, and what keeps some of them away.
func (p *plan) resolve(u *unit) (resolved, error) {
	made, err := p.objects(u)
	if err != nil {
		return resolved{}, err
	}
	workload := p.there.workload(u.kind, u.name)
	nodePort := yieldNodePorts(made.service, p.there)
	keepPolicy(made.workload, workload)
	if u.said.replica == nil && workload != nil {
		if err := operator.PreserveReplicas(made.workload, workload.Snapshot, workload.Spec.Replicas); err != nil {
			return resolved{}, err
		}
	}
	all := made.all()
	refused, err := tooLarge(u, all)
	if err != nil {
		return resolved{}, err
	}
	rival, asked := p.rival(u, workload), all
	if rival != "" && workload == nil {
		asked = slices.DeleteFunc(slices.Clone(all), func(object metacontroller.Object) bool { return object == made.workload })
	}
	return resolved{part{unit: u, workload: workload, rival: rival, nodePort: nodePort, refused: refused}, all, asked}, nil
}

// claim refuses two objects of one name.
func (r resolved) claim(taken map[string]bool) error {
	for _, object := range r.all {
		ref := refOf(object)
		if taken[ref] {
			return fmt.Errorf("two components ask for %s: give one of them another name", ref)
		}
		taken[ref] = true
	}
	return nil
}

// compare returns how far the component is.
func (r resolved) compare(seen metacontroller.Observed) (*part, error) {
	part := r.part
	if part.refused != "" {
		return &part, nil
	}
	var err error
	if part.differs, err = seen.Compare(r.asked); err != nil {
		return nil, err
	}
	part.isReady = part.rival == "" && len(part.differs.Missing) == 0 && len(part.differs.Outdated) == 0 && part.workload.isReady()
	return &part, nil
}

// gate returns the names of the components that one waits for that has not been started.
func (p *plan) gate(u *unit) []string {
	if p.hasStarted(u) {
		return nil
	}
	var names []string
	for _, before := range u.after {
		if other := p.part(before); other != nil && !other.isReady {
			names = append(names, other.name)
		}
	}
	return names
}

func (p *plan) part(key string) *part {
	i := slices.IndexFunc(p.parts, func(part *part) bool { return part.key == key })
	if i < 0 {
		return nil
	}
	return p.parts[i]
}

// hasStarted reports whether anything is there of a component, under whatever
// name. A name that has gone from one component to another tells it together with
// the label only.
func (p *plan) hasStarted(u *unit) bool {
	return slices.ContainsFunc(p.there.children, func(child observedChild) bool { return p.owners.isOf(child, u.key) })
}

// refOf returns the reference by which a message names an object.
func refOf(object metacontroller.Object) string {
	return object.GetObjectKind().GroupVersionKind().Kind + "/" + object.GetName()
}

// keepOld keeps what an older spec asked for under another name or kind, until
// the component is ready as it is wanted now, and so is all that depends on it:
// until then others may still use the old one. What belongs to no component of
// the spec goes; where it cannot be told what an object belongs to, it goes when
// all are ready. A component that waits may want the name of something old: that
// is no reason for the old one to go early.
func (p *plan) keepOld() {
	p.wanted = map[string]bool{}
	for _, object := range p.children {
		p.wanted[refOf(object)] = true
	}
	for _, child := range p.there.children {
		if p.wanted[child.Ref()] || child.Terminating || !p.isUsed(child) {
			continue
		}
		p.children = append(p.children, metacontroller.Keep(child.Snapshot))
		for _, key := range p.owners.of(child) {
			if part := p.part(key); part != nil {
				part.old = append(part.old, child.Ref())
			}
		}
	}
}

// isUsed reports whether something may still use an object that is not wanted
// any more.
func (p *plan) isUsed(child observedChild) bool {
	keys := p.owners.of(child)
	if slices.ContainsFunc(p.parts, func(part *part) bool { return isRival(child, part.unit) && part.refused == "" }) {
		return false
	}
	return slices.ContainsFunc(p.parts, func(part *part) bool {
		return (len(keys) == 0 || slices.Contains(keys, part.key)) && !p.isReplaced(part)
	})
}

// isReplaced reports whether nothing uses the old objects of a component any
// more.
func (p *plan) isReplaced(part *part) bool {
	if !part.isReady || part.isHeld() || part.isScaledAway() {
		return false
	}
	for _, other := range p.parts {
		if slices.Contains(other.after, part.key) && !other.isReady {
			return false
		}
	}
	return true
}

// isScaledAway reports whether a component has no Pods though its spec does not say
// so: who may scale its workload can do that, and it is ready then, but nobody
// serves in the place of the old one.
func (p *part) isScaledAway() bool {
	if p.workload == nil {
		return false
	}
	return p.workload.rollout().Wanted == 0 && (p.said.replica == nil || *p.said.replica != 0)
}

// formerNames returns the names of an older spec that objects of a component
// still have. Without them nothing but a label would tell what these belong to.
func (p *plan) formerNames(part *part) []string {
	var former []string
	for _, status := range p.remembered() {
		if status.Component != part.key {
			continue
		}
		for _, name := range status.names() {
			if name != "" && name != part.name && !slices.Contains(former, name) && p.isThere(refsOf(part.component, name)) {
				former = append(former, name)
			}
		}
	}
	return former
}

// isThere reports whether any of these objects is observed and is not wanted.
func (p *plan) isThere(refs []string) bool {
	if p.refs == nil { // there may be thousands of children, and of former names
		p.refs = make(map[string]bool, len(p.there.children))
		for _, child := range p.there.children {
			p.refs[child.Ref()] = true
		}
	}
	return slices.ContainsFunc(refs, func(ref string) bool { return p.refs[ref] && !p.wanted[ref] })
}
