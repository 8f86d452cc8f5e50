package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// version is set at build time, with -ldflags
// "-X github.com/operetta-dev/operetta/internal/cli.version=v1.2.3".
var version string

func newVersionCommand(p *Program) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		GroupID: runGroup,
		Args:    Exactly(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(p.Out, versionLine(p.name))
			return err
		},
	}
}

// versionLine is what the command and the flag print.
func versionLine(name string) string {
	return fmt.Sprintf("%s %s (%s, %s/%s)", name, versionText(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// versionText returns what the program says that it is. The module's version is known where go
// install has built the program.
func versionText() string {
	info, _ := debug.ReadBuildInfo()
	if info == nil {
		info = &debug.BuildInfo{}
	}
	return cmp.Or(version, strings.TrimSuffix(info.Main.Version, "(devel)"), "devel")
}
