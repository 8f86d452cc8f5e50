package diff

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/operetta-dev/operetta/internal/lab/kube"
)

// ParseReport reads a report that was printed as JSON.
func ParseReport(text []byte) (*Report, error) {
	var report Report
	if err := json.Unmarshal(text, &report); err != nil || report.Dump == "" {
		return nil, errors.New("is no report: write it with the older build, operetta diff DUMP -o json")
	}
	return &report, nil
}

// MarkDrift marks what a report of an older build has, too: that build would change it anyway. Both
// are to be about the same dump. Hidden values cannot be compared, and are no drift.
func (r *Report) MarkDrift(base *Report) error {
	if base.Dump != r.Dump {
		return errors.New("is a report on another dump: write it with the older build, from the dump that is compared now")
	}
	if base.Apply != r.Apply {
		return fmt.Errorf("is a report for %s, and this one is for %s", base.Apply, r.Apply)
	}
	parents := map[kube.Ref]Parent{}
	for _, parent := range base.Parents {
		parents[parent.Ref] = parent
	}
	for i := range r.Parents {
		if before, isThere := parents[r.Parents[i].Ref]; isThere {
			r.Parents[i].markDrift(before)
		}
	}
	return nil
}

func (p *Parent) markDrift(base Parent) {
	p.Drift = p.Refused+p.Failed != "" && p.Refused == base.Refused && p.Failed == base.Failed
	markFields(p.Status, base.Status)
	for i := range p.Objects {
		o := &p.Objects[i]
		at := slices.IndexFunc(base.Objects, func(other Object) bool { return other.Ref == o.Ref })
		if at < 0 {
			continue
		}
		other := base.Objects[at]
		areSame := markFields(o.Fields, other.Fields)
		o.Drift = areSame && o.Verdict == other.Verdict && o.Reason == other.Reason
		if o.Verdict == Rolls && !o.Drift && !slices.ContainsFunc(o.Fields, func(f Field) bool { return !f.Drift && isOfTemplate(f) }) {
			o.Verdict = Changed // it is the drift that rolls it
		}
	}
}

// markFields marks the fields that a base has, too, and reports whether these are all. What
// the base alone has would not be changed any more, which is what this build does differently.
func markFields(fields, base []Field) bool {
	areAll := len(fields) == len(base)
	for i := range fields {
		at := slices.IndexFunc(base, func(other Field) bool { return other.Path == fields[i].Path })
		fields[i].Drift = at >= 0 && isSame(fields[i], base[at])
		areAll = areAll && fields[i].Drift
	}
	return areAll
}

// isSame compares fields of which one was printed.
func isSame(a, b Field) bool {
	if a.Before == Hidden || a.After == Hidden {
		return false
	}
	a.Drift, b.Drift = false, false
	text, err := json.Marshal(a)
	other, otherErr := json.Marshal(b)
	return err == nil && otherErr == nil && string(text) == string(other)
}
