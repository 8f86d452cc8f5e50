package commands

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/operetta-dev/operetta/internal/cli"
	"github.com/operetta-dev/operetta/internal/lab/write/manifests"
	"github.com/operetta-dev/operetta/metacontroller"
)

func newManifestsCommand(p *program) *cobra.Command {
	var hookURL string
	var rbac bool
	var shards int
	var choose func() error
	in := manifests.Operetta()
	cmd := &cobra.Command{
		Use:   "manifests",
		Short: "Print the CompositeControllers, or with --rbac the ClusterRoles",
		Long: `Manifests prints a CompositeController for each operator, or for those in --kinds,
as a YAML stream. Its hooks are called through the Service of --service in --namespace or, with
--hook-url, at a server that runs anywhere else. The names of the cluster-scoped
objects begin with --prefix. The name of a CompositeController is part of the finalizer
on its custom resources: leave it as it is once there are any.

With --rbac it prints instead what Metacontroller must be allowed to do for
these operators: a ClusterRole for each, bound to the ServiceAccount in
--metacontroller-namespace.

With --shards it prints as many CompositeControllers for each operator, of which each
takes a part of the custom resources, by their label operetta.dev/shard, and is for a
Metacontroller of its own. docs/operations.md says how to run them.`,
		Example: `  operetta manifests --hook-url http://172.17.0.1:8080 | kubectl apply -f -`,
		Args:    cli.Exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := choose(); err != nil {
				return err
			}
			elsewhere := cmd.Flags().Changed("hook-url")
			if rbac && elsewhere {
				return cli.Usagef("--rbac and --hook-url go with different manifests: leave one out")
			}
			if rbac && cmd.Flags().Changed("shards") {
				return cli.Usagef("--rbac and --shards go with different manifests: leave one out, for all shards have the same permissions")
			}
			if err := manifests.CheckShards(shards); err != nil {
				return cli.Usagef("--shards %w", err)
			}
			if err := checkInstallation(in); err != nil {
				return err
			}
			if rbac {
				return printEach(p, in.MetacontrollerRole)
			}
			if elsewhere {
				var err error
				if hookURL, err = manifests.ParseHookURL(hookURL); err != nil {
					return cli.Usagef("--hook-url %w", err)
				}
			}
			return printEach(p, func(c metacontroller.Controller) ([]byte, error) {
				return in.CompositeControllers(c, hookURL, shards)
			})
		},
	}
	cmd.Flags().StringVar(&hookURL, "hook-url", "", "address of the server, as in http://host:port, instead of its Service")
	cmd.Flags().IntVar(&shards, "shards", 1, "number of Metacontrollers that divide the custom resources")
	choose = cli.AddKinds(cmd, p.Program)
	addInstallation(cmd, &in)
	cmd.Flags().BoolVar(&rbac, "rbac", false, "print the permissions of Metacontroller instead")
	return cmd
}

// addInstallation adds the flags that configure an installation.
func addInstallation(cmd *cobra.Command, in *manifests.Installation) {
	cmd.Flags().StringVar(&in.Prefix, "prefix", in.Prefix, "what the names of cluster-scoped objects begin with")
	cmd.Flags().StringVar(&in.Namespace, "namespace", in.Namespace, "namespace of the server")
	cmd.Flags().StringVar(&in.Service, "service", in.Service, "name of the server's Service, which listens on port 80")
	cmd.Flags().StringVar(&in.Metacontroller, "metacontroller-namespace", in.Metacontroller, "namespace of Metacontroller, and the name of its ServiceAccount there")
}

// checkInstallation refuses what cannot be in a name of an object.
func checkInstallation(in manifests.Installation) error {
	for _, flag := range []struct{ name, value, as string }{
		{"prefix", in.Prefix, in.Prefix + "a"}, {"namespace", in.Namespace, in.Namespace},
		{"service", in.Service, in.Service}, {"metacontroller-namespace", in.Metacontroller, in.Metacontroller},
	} {
		if len(validation.IsDNS1123Label(flag.as)) > 0 {
			return cli.Usagef("--%s %q cannot be in the name of an object: use lower-case letters, digits and hyphens, and no hyphen first", flag.name, flag.value)
		}
	}
	return nil
}

// printEach prints a YAML stream with one document for each operator.
func printEach(p *program, print func(metacontroller.Controller) ([]byte, error)) error {
	documents := make([][]byte, len(p.Controllers()))
	for i, controller := range p.Controllers() {
		var err error
		if documents[i], err = print(controller); err != nil {
			return fmt.Errorf("%s: %w", controller.Name(), err)
		}
	}
	_, err := bytes.NewReader(manifests.Stream(documents...)).WriteTo(p.Out)
	return err
}
