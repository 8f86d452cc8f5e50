package metacontroller

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/processor"
)

// TestTeardownGrowsAsTheDamaged: four times as many damaged objects cost less than
// seven times as much. They cost sixteen times as much where the function is asked
// again for each.
func TestTeardownGrowsAsTheDamaged(t *testing.T) {
	const n, most = 500, 7.0
	for name, short := range damagedTeardown(n) {
		t.Run(name, func(t *testing.T) {
			ask := func(body []byte) func() {
				return func() {
					_, err := readsAll().Call(FinalizeHook, noon, body)
					require.NoError(t, err)
				}
			}
			ratio, times, err := processor.Growth(most, ask(short), ask(damagedTeardown(4 * n)[name]))
			require.NoError(t, err)
			t.Logf("%.1f times as much: %s and %s", ratio, times[0], times[1])
			require.LessOrEqual(t, ratio, most)
		})
	}
}

// TestDriftGrowsAsTheEntries: four times as many variables, or keys of a ConfigMap, wanted and
// added by others before those, cost less than seven times as much.
func TestDriftGrowsAsTheEntries(t *testing.T) {
	const n, most = 1000, 7.0
	for name, form := range map[string]struct{ around, entry string }{
		"list entries": {`{"spec":{"volumes":[%s]}}`, `{"name":"%s%d","value":"x"}`},
		"keys":         {`{"data":{%s}}`, `"%s%06d":"x"`},
	} {
		t.Run(name, func(t *testing.T) {
			find := func(n int) func() {
				entries := func(prefix string) string {
					list := make([]string, n)
					for i := range list {
						list[i] = fmt.Sprintf(form.entry, prefix, i)
					}
					return strings.Join(list, ",")
				}
				wanted := fmt.Sprintf(form.around, entries("b"))
				observed := fmt.Sprintf(form.around, entries("a")+","+entries("b"))
				return func() { require.Empty(t, drift([]byte(observed), []byte(wanted))) }
			}
			ratio, times, err := processor.Growth(most, find(n), find(4*n))
			require.NoError(t, err)
			t.Logf("%.1f times as much: %s and %s", ratio, times[0], times[1])
			require.LessOrEqual(t, ratio, most)
		})
	}
}
