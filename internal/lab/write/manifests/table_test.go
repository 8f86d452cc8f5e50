package manifests

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/metacontroller"
)

func TestUninstallTakesAwayWhatIsInstalled(t *testing.T) {
	controllers := []metacontroller.Controller{full()}
	require.Contains(t, string(Operetta().Uninstall(controllers, []string{"deploy/metacontroller/", "deploy/"})),
		"  configmaps,jobs.batch,services\nkubectl delete --ignore-not-found -k deploy/\nkubectl delete --ignore-not-found -k deploy/metacontroller/\n```\n")
	require.NotContains(t, string(Operetta().Uninstall(controllers, []string{"deploy/"})), "-k deploy/metacontroller/")
}

func TestTheTableOfKindsLinksTheirPages(t *testing.T) {
	c := full()
	table := string(KindsTable([]Row{{Controller: c}, {Controller: c, Page: "docs/a.md"}}))
	require.Contains(t, table, "\n| "+c.Parent.Kind+" | `")
	require.Contains(t, table, "\n| ["+c.Parent.Kind+"](docs/a.md) | `")
}
