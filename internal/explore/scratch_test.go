package explore_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/internal/explore"
	"github.com/operetta-dev/operetta/internal/report"
	"github.com/operetta-dev/operetta/internal/simulate"
)

func scen(t testing.TB, path string, apply simulate.Strategy) *explore.Scenario {
	text, err := os.ReadFile(os.Getenv("DIR") + path + ".yaml")
	require.NoError(t, err)
	s := &explore.Scenario{Name: filepath.Base(path), Controllers: hooks.All(), Promises: hooks.Promises(), Apply: apply}
	for _, d := range strings.Split(string(text), "\n---\n") {
		j, err := yaml.YAMLToJSON([]byte(d))
		require.NoError(t, err)
		s.Objects = append(s.Objects, j)
	}
	return s
}

var digits = regexp.MustCompile(`[0-9a-f]*[0-9][0-9a-f]*`)

func TestScratch(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("N"))
	from, _ := strconv.Atoi(os.Getenv("FROM"))
	for _, name := range strings.Fields(os.Getenv("S")) {
		for _, apply := range []simulate.Strategy{simulate.DynamicApply, simulate.ServerSideApply} {
			s := scen(t, name, apply)
			parent, err := s.Parent()
			require.NoError(t, err)
			_ = parent
			start := time.Now()
			laws := map[string]int{}
			actions := 0
			for seed := from; seed < from+n; seed++ {
				run, schedule, err := s.Chance(uint64(seed))
				require.NoError(t, err)
				actions += len(schedule)
				if run.Broken != nil {
					sig := run.Broken.Law + " / " + digits.ReplaceAllString(run.Broken.Detail, "#")
					if len(sig) > 150 {
						sig = sig[:150]
					}
					laws[sig]++
					if laws[sig] <= 1 && len(laws) < 25 && os.Getenv("SHOW") != "" {
						r, min := s.Minimize(schedule, run.Broken.Law, 400)
						var b bytes.Buffer
						(&report.Printer{Out: &b}).Steps(r.World)
						fmt.Printf("=== %s seed %d\n%v\n--- min %d of %d\n%s\n%v\n%s\n", name, seed, run.Broken, len(min), len(schedule), min, r.Broken, b.String())
					}
				}
			}
			d := time.Since(start)
			fmt.Println(name, apply, n, "schedules", d, float64(n)/d.Seconds(), "per s", actions/max(1, n), "actions", laws)
		}
	}
}
