package commands

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/cli"
)

const explored = "../../../hooks/testdata/explore/"

func TestExploreIsQuietWhereNothingIsWrong(t *testing.T) {
	code, out, _ := operetta(t, "", "explore", explored+"myjob.yaml", "--schedules", "3", "--apply", "dynamic-apply")
	require.Equal(t, cli.ExitDone, code)
	require.Contains(t, out, "myjob.yaml, document 1, dynamic-apply: schedules: 3, found: 0")
}

func TestExplorePlaysAScheduleThatBreaksALaw(t *testing.T) {
	path := filepath.Join(t.TempDir(), "schedule")
	require.NoError(t, os.WriteFile(path, []byte(`calm 40
edit Deployment/eureka {"metadata":{"finalizers":["example.com/never-removed"]}}
delete DataService/shop`), 0o600))
	code, out, err := operetta(t, "", "explore", explored+"dataservice.yaml", "--apply", "dynamic-apply", "--schedule", path)
	require.Equal(t, cli.ExitFailed, code)
	require.Contains(t, out, "! it converges: DataService default/shop is being deleted and does not go")
	require.Contains(t, out, "> DataService/shop  is being deleted")
	require.Contains(t, err, "operetta: explore has found broken invariants: see above")

	_, out, _ = operetta(t, "", "explore", explored+"dataservice.yaml", "--schedule", path)
	require.Contains(t, out, "= "+explored+"dataservice.yaml, document 1, dynamic-apply\n\n! it converges: ")
	require.Contains(t, out, "\n\nThe story is the same as with dynamic-apply.\n")
	require.Equal(t, 1, strings.Count(out, "> DataService/shop  is being deleted"), "one story for both strategies")
}

// TestExploreTakesWhatIsStored: each edit has a copy of the custom resource, also of what the API
// server would drop or refuse.
func TestExploreTakesWhatIsStored(t *testing.T) {
	with := func(fields string) string {
		return "{apiVersion: myjob.github.com/v1beta1, kind: MyJob, metadata: {name: a}, spec: {template: {spec: {containers: [{name: a, image: b" + fields + "}]}}}}"
	}
	code, _, says := operetta(t, with(", args: ["+strings.Repeat("a, ", 5000)+"a]"), "explore", "-", "--time", "1ms")
	require.Equal(t, cli.ExitFailed, code)
	require.Contains(t, says, "is refused: spec.template.spec.containers[0].args: Too many: 5001: must have at most 1000 items")

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	code, out, _ := operetta(t, with("}], nothing: "+strings.Repeat("{a: ", 3000)+"1"+strings.Repeat("}", 3000)+", initContainers: [{name: i, image: b"), "explore", "-", "--schedules", "1", "--apply", "dynamic-apply")
	runtime.ReadMemStats(&after)
	require.Equal(t, cli.ExitDone, code)
	require.Contains(t, out, "schedules: 1, found: 0")
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(2<<30))
}

// TestExploreEndsWithItsTime: to prepare a custom resource takes time, too.
func TestExploreEndsWithItsTime(t *testing.T) {
	many := strings.Builder{}
	for i := range 300 {
		fmt.Fprintf(&many, "---\n{apiVersion: model.github.com/v1, kind: ModelBox, metadata: {name: m%d}, spec: {image: a}}\n", i)
	}
	code, out, _ := operetta(t, many.String(), "explore", "-", "--time", "1ms")
	require.Equal(t, cli.ExitDone, code)
	require.Equal(t, 1, strings.Count(out, "schedules: "), out)
	require.Contains(t, out, "= no time for 599 of 600 custom resources and strategies: write a longer --time")
}

func TestExploreTellsMistakes(t *testing.T) {
	code, _, says := operetta(t, "", "explore", explored+"myjob.yaml", "--schedule", "/dev/zero")
	require.Equal(t, cli.ExitFailed, code)
	require.Contains(t, says, "--schedule: /dev/zero has more than 64 MiB: split it")
	for _, c := range []struct {
		args []string
		says string
	}{
		{nil, "explore takes at least one file"},
		{[]string{explored + "myjob.yaml", "--apply", "both-of-them"}, `--apply "both-of-them" is not supported: use dynamic-apply, server-side-apply or both`},
		{[]string{explored + "myjob.yaml", "--schedules", "0"}, "--schedules 0 has no end: write --time too"},
	} {
		code, _, err := operetta(t, "", append([]string{"explore"}, c.args...)...)
		require.Equal(t, cli.ExitUsage, code)
		require.Contains(t, err, c.says)
	}
}
