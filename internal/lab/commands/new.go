package commands

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operetta-dev/operetta/internal/cli"
	"github.com/operetta-dev/operetta/internal/lab/write/scaffold"
	"github.com/operetta-dev/operetta/internal/printable"
)

// newFlags are the flags of new.
type newFlags struct {
	module, root string
	kind         scaffold.Kind
}

func newNewCommand(p *program) *cobra.Command {
	var flags newFlags
	cmd := &cobra.Command{
		Use:   "new KIND | --module PATH DIR",
		Short: "Add a kind to this project, or start a module of operators",
		Long: `New adds a kind that works to the project in the current folder: the children of
--children, with conditions, a sample and goldens, to be changed into what is wanted. It
writes its package below hooks/, and a line into hooks/hooks.go and
hooks/invariants/invariants.go.

With --module it starts a module in a folder that is new or empty: a program with one
kind (--kind), its tests, a Makefile, a Dockerfile and what kubectl apply -k deploy/
installs. Its API group follows from the module's path, unless --group says another.

No file is written over, and none is written when anything is refused. It ends with the
commands to run next.`,
		Example: `  operetta new RedisCache --group cache.example.com --children StatefulSet,Service
  operetta new --module example.com/acme/operators operators`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 1:
				return nil
			case flags.module != "":
				return cli.Usagef("new --module takes one folder, which is new or empty")
			}
			return cli.Usagef("new takes one kind, as in new RedisCache --group cache.example.com")
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if flags.module != "" {
				if cmd.Flags().Changed("root") {
					return cli.Usagef("--root goes with a kind: with --module the folder is the argument")
				}
				return p.newModule(args[0], flags)
			}
			if cmd.Flags().Changed("kind") {
				return cli.Usagef("--kind goes with --module: without it the kind is the argument")
			}
			flags.kind.Kind = args[0]
			return p.newKind(flags)
		},
	}
	cmd.Flags().StringVar(&flags.module, "module", "", "start a module of this `path`, such as example.com/acme/operators")
	cmd.Flags().StringVar(&flags.root, "root", ".", "the project's root, the `folder` of its go.mod")
	cmd.Flags().StringVar(&flags.kind.Kind, "kind", "WebApp", "the first kind of a new module, in UpperCamelCase")
	cmd.Flags().StringVar(&flags.kind.Group, "group", "", "API group of the kind, such as cache.example.com; without it, the group of the project's other kinds, if they have the same")
	cmd.Flags().StringVar(&flags.kind.Version, "version", "v1alpha1", "version of its API")
	cmd.Flags().StringVar(&flags.kind.Children, "children", scaffold.DefaultChildren, "the `kinds` of its children: "+scaffold.Choices())
	cmd.Flags().StringVar(&flags.kind.ShortName, "short-name", "", "what kubectl takes for the kind; without it, one is made from the kind")
	return cmd
}

func (p *program) newKind(flags newFlags) error {
	plan, err := scaffold.NewKind(flags.root, flags.kind)
	if err != nil {
		return err
	}
	if err := p.writePlan(plan); err != nil {
		return err
	}
	name := strings.ToLower(flags.kind.Kind)
	if _, err := os.Stat(filepath.Join(flags.root, "Makefile")); err == nil {
		p.next(flags.root, "make generate", "make golden", "git diff", "make test")
		return nil
	}
	p.next(flags.root, p.Name()+" generate", "go test ./hooks -update", "go test ./...", p.Name()+" simulate deploy/samples/"+name+".yaml")
	return nil
}

func (p *program) newModule(dir string, flags newFlags) error {
	module := scaffold.Module{Path: flags.module, Toolchain: strings.TrimPrefix(runtime.Version(), "go")}
	module.Version, module.Clone, module.Kubernetes = framework()
	plan, err := scaffold.NewModule(dir, module, flags.kind)
	if err != nil {
		return err
	}
	if err := p.writePlan(plan); err != nil {
		return err
	}
	commands := []string{"go mod tidy", "make generate golden", "make test demo"}
	if module.Version == "" && module.Clone == "" {
		commands = append([]string{"go get " + scaffold.Operetta + "@latest"}, commands...)
	}
	p.next(dir, commands...)
	return nil
}

// writePlan writes files, and prints which.
func (p *program) writePlan(plan scaffold.Plan) error {
	done, err := plan.Write()
	for _, line := range done {
		fmt.Fprintln(printable.NewWriter(p.Out), line)
	}
	return err
}

// next prints the commands to run in a folder.
func (p *program) next(dir string, commands ...string) {
	if dir = filepath.Clean(dir); dir != "." {
		commands = slices.Insert(commands, 0, "cd "+dir)
	}
	fmt.Fprintf(printable.NewWriter(p.Out), "\nNext:\n  %s\n", strings.Join(commands, "\n  "))
}

// framework returns the version of Operetta that the program was built from, where go can download
// it, or else the folder of the source, and the version of Kubernetes' modules. A program that was
// built in a clone may be stamped with a commit that nobody else has.
func framework() (version, clone, kubernetes string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", "", ""
	}
	for _, module := range append([]*debug.Module{&info.Main}, info.Deps...) {
		isStamped := module.Replace == nil && module.Version != "(devel)" && !strings.Contains(module.Version, "+")
		switch {
		case module.Path == "k8s.io/api":
			kubernetes = module.Version
		case module.Path != scaffold.Operetta:
		case module.Replace == nil && module.Sum != "": // it was downloaded
			version = module.Version
		default:
			if clone = findClone(); clone == "" && isStamped {
				version = module.Version
			}
		}
	}
	return version, clone, kubernetes
}

// findClone returns the folder of Operetta's source that this file was compiled in, or that the
// working folder or the program is in, or "".
func findClone() string {
	_, source, _, _ := runtime.Caller(0)
	working, _ := os.Getwd()
	program, _ := os.Executable()
	for _, path := range []string{source, working, program} {
		for dir := path; filepath.IsAbs(dir) && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
			if err == nil && strings.HasPrefix(string(text), "module "+scaffold.Operetta+"\n") {
				return dir
			}
		}
	}
	return ""
}
