package scaffold

import (
	"errors"
	"fmt"
	"go/version"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/operetta-dev/operetta/deploy"
	"github.com/operetta-dev/operetta/internal/lab/write/manifests"
)

// Module are the names and versions of a new module.
type Module struct {
	// Path is its path, as in example.com/acme/operators.
	Path string
	// Version is the version of Operetta that it requires. Without one, and without a Clone, go
	// get adds it to go.mod.
	Version string
	// Clone is the folder with Operetta's source where there is no version that go can download.
	Clone string
	// Kubernetes is the version of Kubernetes' modules that Operetta is built with.
	Kubernetes string
	// Toolchain is the version of Go that its image is built with, as in 1.26.8.
	Toolchain string
}

// moduleFiles are the files of a new module with their templates.
var moduleFiles = []file{
	{".dockerignore", "module/dockerignore.tmpl"},
	{".gitignore", "module/gitignore.tmpl"},
	{"Dockerfile", "module/Dockerfile.tmpl"},
	{"Makefile", "module/Makefile.tmpl"},
	{"README.md", "module/README.md.tmpl"},
	{"cmd/server/main.go", "module/server.go.tmpl"},
	{"deploy/controllers/kustomization.yaml", "module/kustomization.yaml.tmpl"},
	{"deploy/crds/kustomization.yaml", "module/kustomization.yaml.tmpl"},
	{"deploy/embed.go", "module/embed.go.tmpl"},
	{"deploy/rbac/kustomization.yaml", "module/kustomization.yaml.tmpl"},
	{"go.mod", "module/go.mod.tmpl"},
	{"hooks/hooks.go", "module/hooks.go.tmpl"},
	{"hooks/hooks_test.go", "module/hooks_test.go.tmpl"},
	{"hooks/invariants/invariants.go", "module/invariants.go.tmpl"},
	{"main.go", "module/main.go.tmpl"},
}

// e2eFiles test a module that was started from a clone, which has what runs a control plane.
var e2eFiles = []file{
	{"e2e/e2e_test.go", "module/e2e_test.go.tmpl"},
	{"e2e/go.mod", "module/e2e.mod.tmpl"},
}

type moduleData struct {
	Module, Program, Image, Version, Clone, Kubernetes, Go, Toolchain, Header string
}

// modulePathPattern matches module paths that are also valid names of images.
var modulePathPattern = regexp.MustCompile(`^[a-z0-9]+([-.][a-z0-9]+)*(/[a-z0-9]+([-._][a-z0-9]+)*)+$`)

// Operetta is the path of the module that a new one requires.
const Operetta = "github.com/operetta-dev/operetta"

// NewModule returns the files of a new module with one kind, in a folder that
// is new or empty. The error says what to write instead.
func NewModule(root string, module Module, kind Kind) (Plan, error) {
	p := newPlan(root)
	host, _, _ := strings.Cut(module.Path, "/")
	if !modulePathPattern.MatchString(module.Path) || !strings.Contains(host, ".") {
		return p, fmt.Errorf("%q is no path of a module: write a domain and a path in lower case, as in --module example.com/acme/operators", module.Path)
	}
	if module.Path == Operetta {
		return p, fmt.Errorf("%s is the module that a new one requires: write a path of yours", module.Path)
	}
	program := programOf(module.Path)
	if len(program) > longestProgram || '0' <= program[0] && program[0] <= '9' {
		return p, fmt.Errorf("the module's name becomes the name of a namespace: write at most %d characters after %s/, beginning with a letter", longestProgram, host)
	}
	entries, err := os.ReadDir(root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return p, fmt.Errorf("looking into the folder of the new module: %w", err)
	}
	for _, entry := range entries {
		if entry.Name() != ".git" {
			return p, fmt.Errorf("%s is not empty, it has %s: write a folder that is new", root, entry.Name())
		}
	}
	data := moduleData{
		Module: module.Path, Program: program, Image: module.Path, Version: module.Version, Clone: module.Clone, Kubernetes: module.Kubernetes,
		Go: strings.TrimPrefix(version.Lang("go"+module.Toolchain), "go") + ".0", Toolchain: module.Toolchain, Header: manifests.Header,
	}
	all := moduleFiles
	if module.Clone != "" {
		all = slices.Concat(all, e2eFiles)
	}
	for _, f := range all {
		if err := p.render(f.path, f.template, data); err != nil {
			return p, err
		}
	}
	if err := p.addServer(data); err != nil {
		return p, err
	}
	return p, p.addFirstKind(module, kind)
}

// programOf returns the name of the program of a module, which is that of its installation, too.
func programOf(module string) string {
	if module == Operetta {
		return "operetta"
	}
	if _, rest, isLong := strings.Cut(module, "/"); isLong {
		module = rest
	}
	return strings.NewReplacer("/", "-", ".", "-", "_", "-").Replace(module)
}

// longestProgram leaves room for -system in the name of a namespace.
const longestProgram = 40

// addFirstKind adds a kind to the files of a module that are not written yet.
func (p Plan) addFirstKind(module Module, kind Kind) error {
	project := project{root: p.root, module: module.Path, category: path.Base(module.Path), group: groupOf(module.Path)}
	if err := kind.complete(project); err != nil {
		return err
	}
	for _, l := range lists {
		project.lists = append(project.lists, p.created[l.path])
	}
	if err := project.listIn(p.created, kind); err != nil {
		return err
	}
	return p.addKind(kind, project)
}

// addServer adds the namespace, the server and the kustomization of deploy/,
// which are those of this repository with other names.
func (p Plan) addServer(data moduleData) error {
	tag := regexp.MustCompile(`newTag: \S+`)
	renamed := strings.NewReplacer("ghcr.io/operetta-dev/operetta", data.Image, "operetta", data.Program)
	err := fs.WalkDir(deploy.Server, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(deploy.Server, name)
		p.created["deploy/"+name] = tag.ReplaceAll([]byte(renamed.Replace(string(text))), []byte("newTag: v0.1.0"))
		return err
	})
	if err != nil {
		return fmt.Errorf("reading the manifests of the server: %w", err)
	}
	return nil
}

// groupOf returns the API group of a module's kinds: that of example.com/acme/operators
// is acme.example.com.
func groupOf(module string) string {
	parts := strings.Split(module, "/")
	return strings.ReplaceAll(parts[1], "_", "-") + "." + parts[0]
}
