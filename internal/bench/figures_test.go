package bench

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/stretchr/testify/require"
)

// figure is a line of what make bench prints.
type figure struct {
	what, this, beside string
	// value is what is wanted to be at least or at most that, whichever is not zero, and
	// goal where that is still to be reached.
	value, least, most, goal float64
}

// ratio is a figure of this that is a part or a multiple of another one.
func ratio(what, this, beside string, value float64) figure {
	return figure{what: what, this: this, beside: beside, value: value}
}

// cells are those of the table.
func (f figure) cells() string {
	text := func(format string, value float64) string {
		if value == 0 {
			return "-"
		}
		return fmt.Sprintf(format, value)
	}
	ratio, wanted, verdict := "-", "-", ""
	if f.beside != "-" {
		ratio = fmt.Sprintf("%.2f", f.value)
	}
	switch {
	case f.least > 0:
		wanted, verdict = fmt.Sprintf(">= %.4g", f.least), missed(f.value < f.least)
	case f.most > 0:
		wanted, verdict = fmt.Sprintf("<= %.4g", f.most), missed(f.value > f.most)
	}
	return strings.Join([]string{f.what, f.this, f.beside, ratio, wanted, text("%.4g", f.goal), verdict}, "\t")
}

func missed(is bool) string {
	if is {
		return "missed"
	}
	return "met"
}

// table prints figures below a headline.
func table(headline string, figures []figure) string {
	var text strings.Builder
	fmt.Fprintf(&text, "# %s\n", headline)
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "what\tOperetta\tbeside\tratio\twanted\tgoal\t")
	for _, f := range figures {
		fmt.Fprintln(w, f.cells())
	}
	_ = w.Flush() // a strings.Builder takes everything
	return regexp.MustCompile(`(?m) +$`).ReplaceAllString(text.String(), "")
}

// thousands prints a whole number as 1,234,567.
func thousands(value float64) string {
	text := fmt.Sprintf("%.0f", value)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// megabytes prints a number of them with two digits or more.
func megabytes(value float64) string {
	if value < 10 {
		return fmt.Sprintf("%.1f MB", value)
	}
	return fmt.Sprintf("%.0f MB", value)
}

// brief prints a time with three digits.
func brief(d time.Duration) string {
	for unit := time.Nanosecond; unit < time.Second; unit *= 10 {
		if d < 1000*unit {
			return d.Round(unit).String()
		}
	}
	return d.Round(10 * time.Millisecond).String()
}

func median(values []float64) float64 {
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}

const (
	keptFiles = "../../docs/"
	page      = "../../docs/performance.md"
)

var keep = flag.String("keep", "", "file with what make bench, bench-cluster or bench-calls printed, for the file of the same name in docs/ and docs/performance.md")

// section is what one of them printed, up to the next.
func section(command string) *regexp.Regexp {
	return regexp.MustCompile(`(?m)^# make ` + command + `:.*\n(?:[^#` + "`" + `\n].*\n|\n)*`)
}

// TestPage: docs/performance.md has the figures that are kept beside it. With -keep it writes both.
func TestPage(t *testing.T) {
	t.Parallel()
	shown, err := os.ReadFile(page)
	require.NoError(t, err)
	for _, command := range []string{"bench", "bench-cluster", "bench-calls"} {
		file := keptFiles + command + ".txt"
		if *keep != "" {
			printed, err := os.ReadFile(*keep)
			require.NoError(t, err)
			if measured := section(command).Find(printed); measured != nil {
				shown = section(command).ReplaceAllLiteral(shown, measured)
				require.NoError(t, os.WriteFile(file, measured, 0o600))
				require.NoError(t, os.WriteFile(page, shown, 0o600))
			}
		}
		kept, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NotEmpty(t, kept, command)
		require.Equal(t, string(kept), string(section(command).Find(shown)), "make %s KEEP=1 writes both", command)
	}
}

// TestFigures: what is missed is said so, and numbers can be read.
func TestFigures(t *testing.T) {
	t.Parallel()
	require.Equal(t, `# make bench: here
what      Operetta  beside       ratio  wanted  goal
requests  1,234     floor 2,468  0.50   >= 1    1.25  missed
memory    9.5 MB    -            -      <= 60   -     met
start     1.23ms    -            -      -       -
`, table("make bench: here", []figure{
		{"requests", thousands(1234), "floor " + thousands(2468), 0.5, 1, 0, 1.25},
		{"memory", megabytes(9.51), "-", 9.51, 0, 60, 0},
		ratio("start", brief(1_234_567), "-", 0),
	}))
	require.InDelta(t, 2.5, median([]float64{4, 1, 2, 3}), 0)
	require.Equal(t, "1,234,567", thousands(1234567))
}
