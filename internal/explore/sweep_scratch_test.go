package explore_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/explore"
	"github.com/operetta-dev/operetta/internal/simulate"
)

func TestSweepScratch(t *testing.T) {
	for _, name := range strings.Fields(os.Getenv("S")) {
		s := scen(t, name, simulate.DynamicApply)
		edits, err := s.Edits()
		require.NoError(t, err)
		start := time.Now()
		admitted := 0
		laws := map[string]int{}
		for i, e := range edits {
			if !s.Admits(e.Object) {
				continue
			}
			admitted++
			for _, live := range []bool{false, true} {
				run := s.PlayEdit(e, live)
				if run.Broken != nil {
					d := run.Broken.Detail
					if len(d) > 260 {
						d = d[:260]
					}
					sig := fmt.Sprintf("%s live=%t %s", run.Broken.Law, live, digits.ReplaceAllString(d, "#"))
					if laws[sig]++; laws[sig] == 1 {
						fmt.Printf("EDIT %s %s live=%t %s\n   %s: %s\n", name, e.Path, live, enc(e.Patch), run.Broken.Law, d)
					}
					break
				}
			}
			if i%500 == 0 {
				fmt.Println(name, i, "of", len(edits), "admitted", admitted, time.Since(start))
			}
		}
		fmt.Println(name, "edits", len(edits), "admitted", admitted, "findings", len(laws), time.Since(start))
	}
}

func enc(v any) string { return strings.TrimSpace(fmt.Sprint(v)) }

var _ = context.Background
var _ = explore.Edits
