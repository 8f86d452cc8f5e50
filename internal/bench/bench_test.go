package bench

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// rounds are those in which each contestant has a turn.
var rounds = flag.Int("rounds", 7, "rounds that are measured")

// turn is how long one of those that serve is measured.
const turn = 2 * time.Second

func TestMain(m *testing.M) {
	if address := os.Getenv(floorVariable); address != "" {
		fmt.Fprintln(os.Stderr, serveFloor(address))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// TestBench prints the table, and writes it to the file in OPERETTA_TEST_BENCH.
func TestBench(t *testing.T) {
	out := os.Getenv("OPERETTA_TEST_BENCH")
	if out == "" {
		t.Skip("it wants the machine for itself, for two minutes: make bench runs it")
	}
	path := build(t)
	figures := starts(t, path)
	figures = append(figures, served(t, path)...)
	figures = append(figures, calls(t)...)
	text := table(fmt.Sprintf("make bench: %d processors, %s; medians of %d rounds", runtime.NumCPU(), runtime.Version(), *rounds), figures)
	require.NoError(t, os.WriteFile(out, []byte(text), 0o600))
}

// starts measures the program itself, and how it starts.
func starts(t *testing.T, path string) []figure {
	t.Helper()
	file, err := os.Stat(path)
	require.NoError(t, err)
	size := float64(file.Size()) / 1e6
	var took, cost, idle []float64
	for range 5 {
		program := startProgram(t, path)
		took = append(took, program.took.Seconds())
		cost = append(cost, program.processor(t).Seconds())
		time.Sleep(time.Second)
		idle = append(idle, program.memory(t, "VmRSS"))
		program.end()
	}
	return []figure{
		{"program, stripped", megabytes(size), "-", size, 0, 32, 0},
		{"from exec to /readyz 200", fmt.Sprintf("%.2f s", median(took)), "-", median(took), 0, 1, 0},
		ratio("processor time until then", fmt.Sprintf("%.2f s", median(cost)), "-", 0),
		{"memory, idle, all kinds", megabytes(median(idle)), "-", median(idle), 0, 60, 0},
	}
}

// served measures the program that serves, beside the others.
func served(t *testing.T, path string) []figure {
	t.Helper()
	program, floor := startProgram(t, path), startFloor(t)
	others := []*contestant{floor}
	if node, err := exec.LookPath("node"); err == nil {
		others = append(others, startNode(t, node))
	}
	figures := race(t, read(t, "modelbox"), program, others...)
	figures = append(figures, race(t, read(t, "modelbox").updated(t), program, others...)...)
	peak := program.memory(t, "VmHWM")
	figures = append(figures, figure{"memory, peak of that", megabytes(peak), "-", peak, 0, 90, 0})
	return append(figures, race(t, read(t, "dataservice"), program, floor)...)
}

// wantedRates are what requests a second are to be, as a part of another's, and one day.
var wantedRates = map[string][2]float64{
	"ModelBox floor": {1, 1.25}, "ModelBox Node": {1.1, 1.4}, "DataService floor": {0.7, 0},
	"ModelBox updated, floor": {0.8, 0}, "ModelBox updated, Node": {1.1, 0},
}

// race has each answer a request in turns.
func race(t *testing.T, s sample, program *contestant, others ...*contestant) (figures []figure) {
	t.Helper()
	request := post(s.path(), s.body)
	all := append([]*contestant{program}, others...)
	rates, costs := make([][]float64, len(all)), make([][]float64, len(all))
	for round := range *rounds + 1 {
		for i, c := range all {
			before := c.processor(t)
			rate, err := load(c.address, request, turn)
			require.NoError(t, err, c.name)
			if round > 0 { // the first one warms up
				rates[i] = append(rates[i], rate)
				costs[i] = append(costs[i], (c.processor(t)-before).Seconds()*1e6/(rate*turn.Seconds()))
			}
		}
	}
	for i, c := range others {
		wanted := wantedRates[s.name+" "+c.name]
		rate, cost := quotients(rates[0], rates[i+1]), quotients(costs[0], costs[i+1])
		figures = append(figures,
			figure{fmt.Sprintf("requests/s, %s of %s", s.name, size(s)), thousands(median(rates[0])), c.name + " " + thousands(median(rates[i+1])), rate, wanted[0], 0, wanted[1]},
			ratio("processor time of one", fmt.Sprintf("%.0fµs", median(costs[0])), fmt.Sprintf("%s %.0fµs", c.name, median(costs[i+1])), cost))
	}
	return figures
}

// quotients returns the median of what one is of the other in the same round.
func quotients(of, by []float64) float64 {
	var all []float64
	for i := range of {
		all = append(all, of[i]/by[i])
	}
	return median(all)
}

func size(s sample) string {
	if len(s.body) < 1e6 {
		return fmt.Sprintf("%.1f KB", float64(len(s.body))/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(len(s.body))/1e6)
}

// calls measures Call beside json.Valid of the same bytes.
func calls(t *testing.T) (figures []figure) {
	t.Helper()
	var relative []float64 // of PodSets
	for _, s := range []sample{read(t, "modelbox"), read(t, "modelbox").updated(t), read(t, "dataservice"), podSet(t, 10), podSet(t, 1000), podSet(t, 5000)} {
		var took, valid []float64
		var allocations float64
		for round := range *rounds + 1 {
			call := repeated(func() { s.call(t) })
			validity := repeated(func() { require.True(t, json.Valid(s.body)) })
			if round > 0 {
				took, valid = append(took, float64(call.NsPerOp())), append(valid, float64(validity.NsPerOp()))
				allocations = float64(call.AllocsPerOp())
			}
		}
		f := ratio(fmt.Sprintf("Call, %s of %s", s.name, size(s)), brief(time.Duration(median(took))),
			"json.Valid "+brief(time.Duration(median(valid))), quotients(took, valid))
		count := ratio("allocations of that", thousands(allocations), "-", allocations)
		switch {
		case s.name == "ModelBox":
			f.most, count.most = 2.5, 250
		case strings.HasPrefix(s.name, "PodSet"):
			relative = append(relative, f.value)
			if len(s.body) > 1e6 {
				f.most = 1.5
			}
		}
		figures = append(figures, f, count)
	}
	// The bytes are alike, so that json.Valid takes as long for each: it stands for the machine's pace.
	flat := relative[2] / relative[1]
	return append(figures, figure{"time per byte, 5,000 Pods", "-", "1,000 Pods", flat, 0, 1.3, 0})
}

// repeated calls a function for as long as -benchtime says.
func repeated(do func()) testing.BenchmarkResult {
	return testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			do()
		}
	})
}
