package commands

import (
	"github.com/spf13/cobra"

	"github.com/operetta-dev/operetta/internal/cli"
	"github.com/operetta-dev/operetta/internal/lab/write/generate"
	"github.com/operetta-dev/operetta/internal/lab/write/manifests"
)

func newGenerateCommand(p *program) *cobra.Command {
	var check bool
	project := generate.Project{Installation: manifests.Operetta(), Controllers: p.Controllers()}
	cmd := &cobra.Command{
		Use:   "generate",
		Short: "Write the CRDs, CompositeControllers and permissions below deploy/",
		Long: `Generate writes deploy/crds, deploy/controllers, deploy/rbac and deploy/argocd of a
project: the CRDs from the Go types of the custom resources, by controller-gen, and the
others from the declarations of the operators in this program. In README.md and in
docs/install.md it writes what stands between the lines <!-- kinds:begin --> and
<!-- kinds:end -->, and between the lines of uninstall, where there are any, and in
CONTRIBUTING.md between the lines of packages what the comments of the packages say. With
--shards it also writes deploy/overlays/sharded, which divides the custom resources among
several Metacontrollers. It needs the go command, which downloads controller-gen the first
time.

Run it from the source that it is to see: go run . generate. A Makefile is the place for
the flags of an installation, so that everybody generates the same.`,
		Example:     `  operetta generate --check`,
		Args:        cli.Exactly(0, "no arguments"),
		Annotations: map[string]string{cli.WithoutCRDs: "true"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := manifests.CheckShards(project.Shards); err != nil {
				return cli.Usagef("--shards %w", err)
			}
			if err := checkInstallation(project.Installation); err != nil {
				return err
			}
			files, err := project.Files(cmd.Context())
			if err != nil {
				return err
			}
			if check {
				return files.Check(project.Root, p.Out)
			}
			return files.Write(project.Root, p.Out)
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "write nothing, list what differs and exit with 1")
	cmd.Flags().StringVar(&project.Root, "root", ".", "the project's root, the `folder` of its go.mod")
	cmd.Flags().StringArrayVar(&project.Packages, "packages", []string{"./..."}, "where the Go types of the custom resources are; more than once for several")
	cmd.Flags().IntVar(&project.Shards, "shards", 0, "number of Metacontrollers in deploy/overlays/sharded, which is not written below two")
	addInstallation(cmd, &project.Installation)
	cmd.Flags().StringVar(&project.Installation.ManagedBy, "managed-by", project.Installation.ManagedBy, "label app.kubernetes.io/managed-by of the children, by which the README's uninstall waits for them")
	return cmd
}
