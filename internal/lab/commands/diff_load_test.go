//go:build linux

package commands

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/internal/lab/dump/dumptest"
	"github.com/operetta-dev/operetta/internal/lab/player"
)

// TestDiffOfAFleet: 10,000 custom resources, with a Deployment, a Service and three Pods each, take
// less than 512 MiB. In their new namespaces all of them change.
func TestDiffOfAFleet(t *testing.T) {
	needsLoad(t)
	const parents, megabytes = 10_000, 512
	world := dumptest.Converged(t, player.Options{Controllers: hooks.All(), Call: player.Direct(hooks.All()...)}, sample)
	objects := slices.DeleteFunc(world.Objects(), func(object kube.Object) bool {
		return !slices.Contains([]string{"ModelBox", "Deployment", "Service", "Pod"}, object.GetKind())
	})
	text := string(dumptest.List(t, objects))

	command := exec.CommandContext(t.Context(), binary(t), "diff", "-o", "markdown")
	stdin, err := command.StdinPipe()
	require.NoError(t, err)
	var out, errOut bytes.Buffer
	command.Stdout, command.Stderr = &out, &errOut
	require.NoError(t, command.Start())
	for i := range parents {
		another := strings.ReplaceAll(text, `"default"`, fmt.Sprintf(`"team-%d"`, i))
		_, err := io.WriteString(stdin, strings.ReplaceAll(another, "00000000-0000", fmt.Sprintf("%08x-0000", i)))
		require.NoError(t, err)
	}
	require.NoError(t, stdin.Close())
	_ = command.Wait()
	require.Equal(t, 3, command.ProcessState.ExitCode(), errOut.String())
	require.Contains(t, out.String(), "10000 of 10000 custom resources would change")
	require.Less(t, out.Len(), 60_000)
	took, peak := command.ProcessState.UserTime()+command.ProcessState.SystemTime(), command.ProcessState.SysUsage().(*syscall.Rusage).Maxrss>>10
	t.Logf("%d MiB at most, %s of CPU", peak, took.Round(time.Millisecond))
	require.Less(t, peak, int64(megabytes))
}
