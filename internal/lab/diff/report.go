package diff

import (
	"github.com/operetta-dev/operetta/internal/lab/kube"
)

// Verdict is what would happen to an object.
type Verdict string

// The verdicts, the gravest first.
const (
	Refused   Verdict = "refused"   // the API server would not take it
	Failed    Verdict = "failed"    // the hook could not compute an answer
	Recreated Verdict = "recreated" // it is deleted, and another one takes its place
	Rolls     Verdict = "rolls"     // it is changed in place, and its Pods are replaced
	Deleted   Verdict = "deleted"
	Changed   Verdict = "changed" // in place
	Created   Verdict = "created"
	NotSeen   Verdict = "notSeen" // the dump has no object of its kind
)

// verdicts are all of them in the order of reports.
var verdicts = []Verdict{Refused, Failed, Recreated, Rolls, Deleted, Changed, Created, NotSeen}

// Report is what a build would change in a dump.
type Report struct {
	// Dump tells one dump from another.
	Dump string `json:"dump"`
	// Apply is the apply strategy.
	Apply string `json:"apply"`
	// Compared is the number of custom resources that were asked about.
	Compared int `json:"compared"`
	// Rewritten is the number of objects that are written without a difference, but for annotations of
	// Metacontroller and Operetta, or in ignored paths.
	Rewritten int `json:"rewritten,omitempty"`
	// NotSeen are the kinds that operators of these custom resources declare, and the dump lacks.
	NotSeen []string `json:"notSeen,omitempty"`
	// Parents are the custom resources of which there is something to tell.
	Parents []Parent `json:"parents"`
}

// Parent is a custom resource.
type Parent struct {
	kube.Ref

	// Refused says why the API server, or this build, would not take it, and Failed why the hook could
	// not answer. Nothing of it would change then.
	Refused string `json:"refused,omitempty"`
	Failed  string `json:"failed,omitempty"`
	// NotCompared are kinds that the hook reads and the dump lacks: it would guess.
	NotCompared []string `json:"notCompared,omitempty"`
	// Drift is set where the base has the same Refused or Failed.
	Drift bool `json:"drift,omitempty"`
	// Objects are what would be written, in the order of kinds and names.
	Objects []Object `json:"objects,omitempty"`
	// Status is how the custom resource's own status, and its finalizers, would change.
	Status []Field `json:"status,omitempty"`
	// Ready is how its condition Ready would change, in one line.
	Ready string `json:"ready,omitempty"`
}

// Object is an object that would be another one.
type Object struct {
	kube.Ref

	Verdict Verdict `json:"verdict"`
	// As is the name of the object that replaces a recreated one, if it has another.
	As string `json:"as,omitempty"`
	// Reason is the API server's, of an object that it refuses.
	Reason string  `json:"reason,omitempty"`
	Fields []Field `json:"fields,omitempty"`
	// Drift is set where the base has the same verdict with the same fields.
	Drift bool `json:"drift,omitempty"`
}

// Outcome is the gravest that a report has to tell.
type Outcome int

// The outcomes, by gravity.
const (
	Nothing    Outcome = iota
	Incomplete         // something could not be compared, and nothing else would change
	Changes
	Refusals
)

// Outcome returns the gravest of what is no drift.
func (r *Report) Outcome() Outcome {
	outcome := Nothing
	for i := range r.Parents {
		outcome = max(outcome, r.Parents[i].outcome())
	}
	return outcome
}

func (p *Parent) outcome() Outcome {
	outcome := Nothing
	switch {
	case p.Drift:
	case p.Refused != "":
		outcome = Refusals
	case p.Failed != "" || len(p.NotCompared) > 0:
		outcome = Incomplete
	}
	for _, o := range p.Objects {
		if !o.Drift {
			outcome = max(outcome, o.outcome())
		}
	}
	for _, field := range p.Status {
		if !field.Drift {
			outcome = max(outcome, Changes)
		}
	}
	return outcome
}

func (o Object) outcome() Outcome {
	switch o.Verdict {
	case Refused:
		return Refusals
	case NotSeen, Failed:
		return Incomplete
	default:
		return Changes
	}
}
