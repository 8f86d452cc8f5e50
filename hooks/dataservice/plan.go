package dataservice

import (
	"slices"
	"time"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// plan is the desired children, and the state of each component.
type plan struct {
	*product

	request  metacontroller.Observed
	observed observed
	owners   map[string]string
	parts    []*part
	children []metacontroller.Object
	differs  metacontroller.Difference

	removed     []ComponentStatus // components that are taken out and have children, the first to go first
	isWaiting   bool              // whether one of these stays until another is gone
	resyncAfter time.Duration
}

// part is the state of a component.
type part struct {
	*unit

	workload *observedWorkload // nil where it is not observed
	differs  metacontroller.Difference
	waitsFor []string // the names of the components that its creation waits for
	// updatesAfter are the names of those that are updated before it, if it is to change.
	updatesAfter []string
	refused      refusal // why it cannot be applied
	rival        string  // what has to go first, see observed.rival
	isReady      bool
	old          []string // children of an older spec that are kept for it

	told         *operator.Told // of its Pods
	lacksPods    bool           // it has made no Pod for longer than it may
	untilLacking time.Duration  // how much longer it may, or zero
}

// isHeld reports whether its creation waits for others.
func (p *part) isHeld() bool { return len(p.waitsFor) > 0 }

// decide makes the plan in the order of the table, so that a component comes
// after those that it waits for.
func decide(p *product, observed observed, request metacontroller.Observed) (*plan, error) {
	plan := &plan{product: p, request: request, observed: observed, owners: p.owners()}
	for _, u := range p.units {
		part := &part{unit: u, isReady: true}
		if u.runsHere() {
			if err := plan.ask(part); err != nil {
				return nil, err
			}
		}
		plan.parts = append(plan.parts, part)
	}
	plan.keepOld()
	return plan, nil
}

// ask fills in the state of a component that runs here, and asks for its objects unless
// it waits. Of one that cannot be applied, what is observed is kept unchanged.
func (p *plan) ask(part *part) error {
	part.workload, part.isReady = p.observed.workload(part.kind, part.name), false
	workload, all, err := p.objects(part.unit)
	if err != nil {
		return err
	}
	keepPolicy(workload, part.workload)
	if err := keepReplicas(part.unit, workload, part.workload); err != nil {
		return err
	}
	rival := p.observed.rival(part.unit, part.workload)
	if rival == "" || part.workload != nil {
		all = append(all, workload)
	}
	if part.differs, err = p.request.Compare(all); err != nil {
		return err
	}
	if part.refused, err = part.refuse(workload, all); err != nil || part.refused.reason != "" {
		return err
	}
	part.rival = rival
	part.isReady = part.rival == "" && len(part.differs.Missing) == 0 && len(part.differs.Outdated) == 0 && part.workload.isReady()
	if part.waitsFor = p.gate(part.unit); !part.isHeld() {
		p.children = append(p.children, p.inOrder(part, all)...)
	}
	return nil
}

// gate returns the names of the components that a component waits for, unless
// it has been started.
func (p *plan) gate(u *unit) []string {
	hasStarted := slices.ContainsFunc(p.observed.children, func(child metacontroller.Snapshot) bool { return p.owners[child.Name] == u.key })
	if hasStarted {
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

// refOf returns the reference of an object for messages.
func refOf(object metacontroller.Object) string {
	return object.GetObjectKind().GroupVersionKind().Kind + "/" + object.GetName()
}

// keepOld keeps children of an older spec, of another kind or of a component that
// runs elsewhere now, until what took their place is ready, and so is everything
// that depends on it: until then others may still use the old ones. Children of components that
// are not in the spec any more are deleted in order; those of unknown names when all are ready.
func (p *plan) keepOld() {
	wanted := map[string]bool{}
	for _, object := range p.children {
		wanted[refOf(object)] = true
	}
	stays := p.removeInOrder()
	for _, child := range p.observed.children {
		if wanted[child.Ref()] || child.Terminating {
			continue
		}
		key, isKnown := p.owners[child.Name]
		switch part := p.part(key); {
		case part != nil && part.rival != child.Ref() && !p.isReplaced(part):
			part.old = append(part.old, child.Ref())
		case part == nil && stays[key]:
		case !isKnown && !p.isDone():
		default:
			continue
		}
		p.children = append(p.children, metacontroller.Keep(child))
	}
}

// isReplaced reports whether nothing uses the old objects of a component any
// more.
func (p *plan) isReplaced(old *part) bool {
	return old.isReady && !slices.ContainsFunc(p.parts, func(other *part) bool {
		return slices.Contains(other.after, old.key) && !other.isReady
	})
}

// isDone reports whether all components are ready.
func (p *plan) isDone() bool {
	return !slices.ContainsFunc(p.parts, func(part *part) bool { return !part.isReady })
}
