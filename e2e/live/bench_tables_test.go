package live

import (
	"fmt"
	"regexp"
	"strings"
	"text/tabwriter"
)

// table prints rows, whose cells are separated by tabs, below a headline.
func table(headline string, rows []string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n", headline)
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, row)
	}
	_ = w.Flush() // a strings.Builder takes everything
	return regexp.MustCompile(`(?m) +$`).ReplaceAllString(text.String(), "")
}

// limits are what figures are wanted to be at most, and one day.
type limits struct{ wanted, goal []float64 }

// cells are those of the last three columns: what is wanted, the goal, and which of the values are not above the former.
func (l limits) cells(values ...float64) string {
	if l.wanted == nil {
		return "-\t-\t"
	}
	var wanted, goal, verdicts []string
	for i, value := range values {
		wanted = append(wanted, fmt.Sprintf("%.4g", l.wanted[i]))
		goal = append(goal, "-")
		if l.goal != nil {
			goal[i] = fmt.Sprintf("%.4g", l.goal[i])
		}
		verdict := "met"
		if value > l.wanted[i] {
			verdict = "missed"
		}
		verdicts = append(verdicts, verdict)
	}
	return "<= " + strings.Join(wanted, "; ") + "\t" + strings.Join(goal, "; ") + "\t" + strings.Join(verdicts, "; ")
}

// phases are those of a pass, with what is wanted of the largest number under Never and Always.
var phases = []struct {
	what string
	limits
}{
	{"all children exist after", limits{[]float64{1.6, 1.8}, []float64{1.3, 1.5}}},
	{"all are Ready after", limits{[]float64{1.6, 1.8}, []float64{1.3, 1.5}}},
	{"an update of all is Ready after", limits{[]float64{2.2, 3}, []float64{1.6, 2}}},
	{"all are deleted after", limits{[]float64{1.15, 1.3}, []float64{1.1, 1.2}}},
}

// mean of a value of some passes.
func mean(passes []pass, value func(pass) float64) (sum float64) {
	for _, p := range passes {
		sum += value(p) / float64(len(passes))
	}
	return sum
}

// wayTables are the tables about the passes of all contestants with two numbers of ModelBoxes.
func wayTables(few, most int, passes map[int]map[string][]pass) string {
	const header = "what\tNever\tratio\tAlways\tratio\tnative\twanted\tgoal\t"
	var text strings.Builder
	text.WriteString(table(fmt.Sprintf("# make bench-cluster: up to %d ModelBoxes of one Pod, %d of them twice\n\n%d ModelBoxes", most, few, few),
		append([]string{header}, wayRows(few, passes[few], false)...)))
	text.WriteString(table(fmt.Sprintf("\n%d ModelBoxes", most), append([]string{header}, wayRows(most, passes[most], true)...)))
	rows := []string{"what\tNever\tAlways\tnative"}
	for i, phase := range phases {
		row := phase.what
		for _, name := range []string{never, always, native} {
			value := func(p pass) float64 { return p.phases[i].Seconds() }
			row += fmt.Sprintf("\t%.2f", mean(passes[most][name], value)/mean(passes[few][name], value)*float64(few)/float64(most))
		}
		rows = append(rows, row)
	}
	text.WriteString(table(fmt.Sprintf("\nGrowth: time for one of %d by that for one of %d", most, few), rows))
	return text.String()
}

// wayRows are the rows about one number of ModelBoxes, beside what is wanted of the largest.
func wayRows(count int, passes map[string][]pass, areWanted bool) (rows []string) {
	line := func(what, format string, value func(pass) float64, wanted limits, of func(value, ratio float64) float64) {
		n, a, b := mean(passes[never], value), mean(passes[always], value), mean(passes[native], value)
		if !areWanted {
			wanted = limits{}
		}
		rows = append(rows, fmt.Sprintf("%s\t"+format+"\t%.2f\t"+format+"\t%.2f\t"+format+"\t%s", what, n, n/b, a, a/b, b, wanted.cells(of(n, n/b), of(a, a/b))))
	}
	itself, ratio := func(value, _ float64) float64 { return value }, func(_, ratio float64) float64 { return ratio }
	for i, phase := range phases {
		line(phase.what, "%.1f s", func(p pass) float64 { return p.phases[i].Seconds() }, phase.limits, ratio)
	}
	line("writes of the status of one, created", "%.2f", func(p pass) float64 { return p.creation }, limits{[]float64{2.5, 2.5}, nil}, itself)
	line("writes of the status of one, updated", "%.2f", func(p pass) float64 { return p.updates }, limits{[]float64{3.5, 3.5}, nil}, itself)
	line("processor time for 100, all programs", "%.2f s", func(p pass) (sum float64) {
		for _, used := range p.processor {
			sum += used.Seconds() / float64(count) * 100
		}
		return sum
	}, limits{}, itself)
	line("memory at the peak, all programs", "%.0f MB", func(p pass) (sum float64) {
		for _, used := range p.memory {
			sum += used
		}
		return sum
	}, limits{}, itself)
	alone := func(what, format string, value func(pass) float64) {
		rows = append(rows, fmt.Sprintf("%s\t"+format+"\t-\t"+format+"\t-\t-\t-\t-\t", what, mean(passes[never], value), mean(passes[always], value)))
	}
	alone("of the processor time Metacontroller", "%.2f s", func(p pass) float64 { return p.processor[1].Seconds() / float64(count) * 100 })
	alone("of the memory Metacontroller", "%.0f MB", func(p pass) float64 { return p.memory[1] })
	alone("requests of Metacontroller for one", "%.1f", func(p pass) float64 { return p.requests })
	return rows
}
