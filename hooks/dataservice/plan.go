package dataservice

import (
	"fmt"
	"slices"

	"github.com/operetta-dev/operetta/metacontroller"
)

// plan is the desired children, and the state of each component.
type plan struct {
	*product

	observed observed
	refs     map[string]bool // of all observed children, built when first needed
	owners   owners
	parts    []*part
	children []metacontroller.Object
	wanted   map[string]bool // the references of the children that are not just kept
	differs  metacontroller.Difference
}

// part is the state of a component.
type part struct {
	*unit

	workload *observedWorkload // nil where it is not observed
	differs  metacontroller.Difference
	waitsFor []string // the names of the components that its creation waits for
	refused  string   // why it cannot be applied
	rival    string   // a workload of another kind that must be deleted first
	nodePort string   // the node port that it cannot have yet, and why
	isReady  bool     // for the components that wait for it; node ports do not count
	old      []string // children of an older spec that are kept for it
}

// isHeld reports whether its creation waits for others.
func (p *part) isHeld() bool { return len(p.waitsFor) > 0 }

// isComplete reports whether it is ready with everything that the spec asks
// for.
func (p *part) isComplete() bool { return p.isReady && p.nodePort == "" }

// decide makes the plan in the order of the table, so that a component comes
// after those that it waits for.
func decide(p *product, observed observed, request metacontroller.Observed) (*plan, error) {
	plan := &plan{product: p, observed: observed, owners: p.owners()}
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
		part, err := resolved.compare(request)
		if err != nil {
			return nil, err
		}
		if part.refused == "" { // otherwise its observed children are kept unchanged
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

// resolved is a component with its desired objects, as far as the observed ones
// allow them.
type resolved struct {
	part

	all   []metacontroller.Object // in the spec
	asked []metacontroller.Object // those that can be applied now
}

// resolve returns the objects of a component, and what holds some of them back.
func (p *plan) resolve(u *unit) (resolved, error) {
	made, err := p.objects(u)
	if err != nil {
		return resolved{}, err
	}
	workload := p.observed.workload(u.kind, u.name)
	nodePort := yieldNodePorts(made.service, p.observed)
	keepPolicy(made.workload, workload)
	if err := keepReplicas(u, made.workload, workload); err != nil {
		return resolved{}, err
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

// claim refuses two objects of the same kind and name.
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

// compare returns the state of the component.
func (r resolved) compare(request metacontroller.Observed) (*part, error) {
	part := r.part
	if part.refused != "" {
		return &part, nil
	}
	var err error
	if part.differs, err = request.Compare(r.asked); err != nil {
		return nil, err
	}
	part.isReady = part.rival == "" && len(part.differs.Missing) == 0 && len(part.differs.Outdated) == 0 && part.workload.isReady()
	return &part, nil
}

// gate returns the names of the components that a component waits for, unless
// it has been started.
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

// hasStarted reports whether any object of a component exists, under any name.
// A name that has moved from one component to another only counts together with
// the label.
func (p *plan) hasStarted(u *unit) bool {
	return slices.ContainsFunc(p.observed.children, func(child observedChild) bool { return p.owners.isOf(child, u.key) })
}

// refOf returns the reference of an object for messages.
func refOf(object metacontroller.Object) string {
	return object.GetObjectKind().GroupVersionKind().Kind + "/" + object.GetName()
}

// keepOld keeps children of an older spec, under another name or kind, until
// the component is ready as the spec asks for now, and so is everything that
// depends on it: until then others may still use the old ones. Children of no
// component in the spec are deleted; children of an unknown component are
// deleted when all are ready. They are kept even if a waiting component wants
// their name.
func (p *plan) keepOld() {
	p.wanted = map[string]bool{}
	for _, object := range p.children {
		p.wanted[refOf(object)] = true
	}
	for _, child := range p.observed.children {
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

// isUsed reports whether something may still use an object that is no longer in
// the spec.
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

// isScaledAway reports whether somebody else has scaled a component to zero, by
// the scale subresource. It counts as ready then, but does not replace the old
// one.
func (p *part) isScaledAway() bool {
	if p.workload == nil {
		return false
	}
	return p.workload.rollout().Wanted == 0 && (p.said.replica == nil || *p.said.replica != 0)
}

// formerNames returns the names of an older spec that objects of a component
// still have. Without them only a label would show to which component they
// belong.
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

// isThere reports whether any of these objects is observed and no longer
// wanted.
func (p *plan) isThere(refs []string) bool {
	if p.refs == nil { // there may be thousands of children and of former names
		p.refs = make(map[string]bool, len(p.observed.children))
		for _, child := range p.observed.children {
			p.refs[child.Ref()] = true
		}
	}
	return slices.ContainsFunc(refs, func(ref string) bool { return p.refs[ref] && !p.wanted[ref] })
}
