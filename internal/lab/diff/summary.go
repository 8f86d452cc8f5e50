package diff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Summary is a report in numbers: what it means for a fleet.
type Summary struct {
	// Compared is the number of custom resources, Touched that of those with anything but drift, and
	// Unknown that of those that could not be compared, at least not with each of their children.
	Compared, Touched, Unknown int
	// Lines are the objects by verdict and kind, Paths the changed fields.
	Lines []SummaryLine
	Paths []SummaryPath
	// Drift is the number of objects and custom resources about which the base says the same.
	Drift int
}

// SummaryLine counts objects of a verdict and a kind, and the custom resources that they are of.
type SummaryLine struct {
	Verdict          Verdict
	Kind             string
	Objects, Parents int
}

// SummaryPath counts the objects that change in a field.
type SummaryPath struct {
	Verdict    Verdict
	Kind, Path string
	Objects    int
}

// statusVerdict stands for a custom resource whose status changes.
const statusVerdict Verdict = "status"

// Summary counts.
func (r *Report) Summary() Summary {
	s := Summary{Compared: r.Compared}
	lines, paths := map[SummaryLine]*SummaryLine{}, map[SummaryPath]int{}
	for i := range r.Parents {
		p := &r.Parents[i]
		seen := map[SummaryLine]bool{}
		add := func(verdict Verdict, kind string) {
			key := SummaryLine{Verdict: verdict, Kind: kind}
			if lines[key] == nil {
				lines[key] = &SummaryLine{Verdict: verdict, Kind: kind}
			}
			lines[key].Objects++
			if !seen[key] {
				lines[key].Parents++
			}
			seen[key] = true
		}
		s.count(p, add, paths)
	}
	for _, line := range lines {
		s.Lines = append(s.Lines, *line)
	}
	slices.SortFunc(s.Lines, func(a, b SummaryLine) int {
		return cmp.Or(rank(a.Verdict)-rank(b.Verdict), strings.Compare(a.Kind, b.Kind))
	})
	for path, objects := range paths {
		path.Objects = objects
		s.Paths = append(s.Paths, path)
	}
	slices.SortFunc(s.Paths, func(a, b SummaryPath) int {
		return cmp.Or(rank(a.Verdict)-rank(b.Verdict), strings.Compare(a.Kind, b.Kind), b.Objects-a.Objects, strings.Compare(a.Path, b.Path))
	})
	return s
}

// count adds a custom resource.
func (s *Summary) count(p *Parent, add func(Verdict, string), paths map[SummaryPath]int) {
	switch {
	case p.Drift:
		s.Drift++
	case p.Refused != "":
		add(Refused, p.Kind)
	case p.Failed != "":
		add(Failed, p.Kind)
	}
	isUnknown := len(p.NotCompared) > 0
	for _, o := range p.Objects {
		if o.Drift {
			s.Drift++
			continue
		}
		add(o.Verdict, o.Kind)
		isUnknown = isUnknown || o.Verdict == NotSeen
		seen := map[SummaryPath]bool{}
		for _, field := range o.Fields {
			path := SummaryPath{Verdict: o.Verdict, Kind: o.Kind, Path: anyItem(field.Path)}
			if !field.Drift && !seen[path] {
				paths[path]++
			}
			seen[path] = true
		}
	}
	if slices.ContainsFunc(p.Status, func(f Field) bool { return !f.Drift }) {
		add(statusVerdict, p.Kind)
	}
	if isUnknown {
		s.Unknown++
	}
	if p.outcome() > Incomplete {
		s.Touched++
	}
}

// rank orders verdicts; the status comes last.
func rank(v Verdict) int {
	if at := slices.Index(verdicts, v); at >= 0 {
		return at
	}
	return len(verdicts)
}

// anyItem returns a path with [] for each name of an item, so that those of many objects are one.
func anyItem(path string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(path, "[")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteString("[]")
		_, path, _ = strings.Cut(rest, "]")
	}
}

// headline says in one sentence how much of a fleet is concerned.
func (s *Summary) headline() string {
	text := fmt.Sprintf("%d of %s would change", s.Touched, counted(s.Compared, "custom resource"))
	if s.Drift > 0 {
		text += fmt.Sprintf("; %s as the base says, too", counted(s.Drift, "difference"))
	}
	if s.Unknown > 0 {
		text += fmt.Sprintf("; %d could not be compared as a whole", s.Unknown)
	}
	return text
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
