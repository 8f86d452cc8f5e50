// Package generate writes the files that follow from a project's operators. They are their
// CRDs, CompositeControllers and permissions below deploy/, and the sections of its README,
// of docs/install.md and of CONTRIBUTING.md that list them. The sources are the list of
// operators, the Go types of their custom resources and the comments of its packages.
package generate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/internal/declaration"
	"github.com/operetta-dev/operetta/internal/lab/write/manifests"
	"github.com/operetta-dev/operetta/internal/lab/write/manifests/crds"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Project is a project with generated files.
type Project struct {
	// Root is the folder of its go.mod.
	Root string
	// Packages are where the Go types of its custom resources are, in the go
	// command's form.
	Packages []string
	// Installation configures its manifests.
	Installation manifests.Installation
	// Shards is the number of Metacontrollers in deploy/overlays/sharded. Below two there
	// is no such folder.
	Shards int
	// Controllers are its operators.
	Controllers []metacontroller.Controller
}

// folders are those that hold one generated file for each kind and a
// kustomization.yaml that lists them.
var folders = [...]string{"deploy/crds", "deploy/controllers", "deploy/rbac"}

// Files returns everything that is generated. It runs the go command in the
// project's root, see [crds.Generate].
func (p Project) Files(ctx context.Context) (Tree, error) {
	definitions, err := crds.Generate(ctx, p.Root, p.Packages, p.Controllers)
	if err != nil {
		return nil, err
	}
	p.Controllers = slices.Clone(p.Controllers)
	for i := range p.Controllers {
		p.Controllers[i].CRD = metacontroller.NewCRD(definitions[i].YAML) // what the program carries is of the last time
	}
	if err := declaration.Check(p.Controllers...); err != nil {
		return nil, err
	}
	files := Tree{}
	rows := make([]manifests.Row, len(p.Controllers))
	names := make([]string, len(p.Controllers))
	for i, c := range p.Controllers {
		if err := files.addKind(p.Installation, c, definitions[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name(), err)
		}
		rows[i] = manifests.Row{Controller: c, ShortNames: definitions[i].ShortNames, Page: p.page(c)}
		names[i] = c.Name() + ".yaml"
	}
	for _, folder := range folders {
		if err := files.addKustomization(folder, names); err != nil {
			return nil, err
		}
	}
	health, err := manifests.ArgoCDHealth(p.Controllers)
	if err != nil {
		return nil, err
	}
	files.add("deploy/argocd/argocd-cm.yaml", health)
	if p.Shards > 1 {
		if err := files.addShards(p); err != nil {
			return nil, err
		}
	}
	for _, path := range []string{"README.md", "docs/install.md"} {
		if err := files.addSections(p.Root, path,
			section{"kinds", manifests.KindsTable(rows)},
			section{"uninstall", p.Installation.Uninstall(p.Controllers, p.installs())}); err != nil {
			return nil, err
		}
	}
	return files, files.addPackages(ctx, p.Root)
}

// page returns the path of the page about a kind that the README links, or "" if
// there is none.
func (p Project) page(c metacontroller.Controller) string {
	path := "docs/" + c.Name() + ".md"
	if _, err := os.Stat(filepath.Join(p.Root, path)); err != nil {
		return ""
	}
	return path
}

// installs returns the kustomizations that an installation applies, in
// order.
func (p Project) installs() []string {
	var found []string
	for _, folder := range []string{"deploy/metacontroller/", "deploy/"} {
		if _, err := os.Stat(filepath.Join(p.Root, folder, "kustomization.yaml")); err == nil {
			found = append(found, folder)
		}
	}
	return found
}

func (t Tree) addKind(in manifests.Installation, c metacontroller.Controller, definition crds.CRD) error {
	controller, err := in.CompositeController(c, "")
	if err != nil {
		return err
	}
	role, err := in.MetacontrollerRole(c)
	if err != nil {
		return err
	}
	users, err := in.UserRoles(c, definition.HasScale)
	if err != nil {
		return err
	}
	contents := [...][]byte{definition.YAML, controller, manifests.Stream(role, users)}
	for i, folder := range folders {
		t.add(folder+"/"+c.Name()+".yaml", contents[i])
	}
	return nil
}

func (t Tree) addKustomization(folder string, resources []string) error {
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": "kustomize.config.k8s.io/v1beta1",
		"kind":       "Kustomization",
		"resources":  resources,
	})
	if err != nil {
		return fmt.Errorf("printing %s/kustomization.yaml: %w", folder, err)
	}
	t.add(folder+"/kustomization.yaml", text)
	return nil
}

const shardsFolder = "deploy/overlays/sharded"

// addShards adds the overlay. It has the files of deploy/ once more, because a
// kustomization must not refer to a folder that it is in.
func (t Tree) addShards(p Project) error {
	for _, c := range p.Controllers { // kustomize adds to their names
		if _, err := p.Installation.CompositeControllers(c, "", p.Shards); err != nil {
			return err
		}
	}
	whole, err := os.ReadFile(filepath.Join(p.Root, "deploy/kustomization.yaml"))
	if err != nil {
		return fmt.Errorf("reading what is divided into shards: %w", err)
	}
	files, beside, err := p.Installation.Overlay(whole, p.Shards)
	if err != nil {
		return err
	}
	for _, name := range beside {
		if files[name], err = os.ReadFile(filepath.Join(p.Root, "deploy", name)); err != nil {
			return fmt.Errorf("reading what is divided into shards: %w", err)
		}
	}
	for path, content := range files {
		t.add(shardsFolder+"/"+path, content)
	}
	return nil
}

// section is a part of a file that is generated. It stands between two lines.
type section struct {
	name    string
	content []byte
}

// enclosed returns the two lines that enclose a section of a page or, as comments of its depth, of
// a manifest.
func (s section) enclosed(path string) (begin, end []byte) {
	form := "<!-- %s:%s -->\n"
	if filepath.Ext(path) == ".yaml" {
		form = "    # %s:%s\n"
	}
	return fmt.Appendf(nil, form, s.name, "begin"), fmt.Appendf(nil, form, s.name, "end")
}

// addSections adds a file with the sections in their places, if it exists and has a place
// for them.
func (t Tree) addSections(root, path string, sections ...section) error {
	text, err := os.ReadFile(filepath.Join(root, path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading what has generated sections: %w", err)
	}
	for _, s := range sections {
		begin, end := s.enclosed(path)
		before, rest, begins := bytes.Cut(text, begin)
		_, after, ends := bytes.Cut(rest, end)
		switch {
		case !begins && !bytes.Contains(text, end):
			continue
		case !begins || !ends:
			return fmt.Errorf("%s has only one of the two lines that enclose the section %s, or in the wrong order", path, s.name)
		}
		text = bytes.Join([][]byte{before, begin, s.content, end, after}, nil)
		t[path] = text
	}
	return nil
}
