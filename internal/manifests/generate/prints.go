package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/internal/manifests"
	"github.com/operetta-dev/operetta/internal/manifests/crds"
	"github.com/operetta-dev/operetta/metacontroller"
)

// folders are those that hold one generated file for each kind and a
// kustomization.yaml that lists them.
var folders = [...]string{"deploy/crds", "deploy/controllers", "deploy/rbac"}

// prints returns everything that is generated.
func prints(ctx context.Context, root string, controllers []metacontroller.Controller) (tree, error) {
	definitions, err := crds.Generate(ctx, root, controllers)
	if err != nil {
		return nil, err
	}
	files := tree{}
	rows := make([]manifests.Row, len(controllers))
	names := make([]string, len(controllers))
	for i, c := range controllers {
		if err := files.addKind(c, definitions[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name(), err)
		}
		rows[i] = manifests.Row{Controller: c, ShortNames: definitions[i].ShortNames}
		names[i] = c.Name() + ".yaml"
	}
	for _, folder := range folders {
		if err := files.addKustomization(folder, names); err != nil {
			return nil, err
		}
	}
	health, err := manifests.ArgoCDHealth(controllers)
	if err != nil {
		return nil, err
	}
	files.add("deploy/argocd/argocd-cm.yaml", health)
	return files, files.addReadme(root,
		section{"kinds", manifests.KindsTable(rows)},
		section{"uninstall", manifests.Uninstall(controllers)})
}

func (t tree) addKind(c metacontroller.Controller, definition crds.CRD) error {
	in := manifests.Operetta()
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

func (t tree) addKustomization(folder string, resources []string) error {
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

// section is a part of the README that is generated. It stands between two lines.
type section struct {
	name    string
	content []byte
}

func (s section) begin() []byte { return []byte("<!-- " + s.name + ":begin -->\n") }
func (s section) end() []byte   { return []byte("<!-- " + s.name + ":end -->\n") }

// addReadme adds the README with the sections in their places, if it has a place
// for them.
func (t tree) addReadme(root string, sections ...section) error {
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the README: %w", err)
	}
	for _, s := range sections {
		before, rest, begins := bytes.Cut(text, s.begin())
		_, after, ends := bytes.Cut(rest, s.end())
		switch {
		case !begins && !bytes.Contains(text, s.end()):
			continue
		case !begins || !ends:
			return fmt.Errorf("README.md has only one of the two lines that enclose the section %s, or in the wrong order", s.name)
		}
		text = bytes.Join([][]byte{before, s.begin(), s.content, s.end(), after}, nil)
		t["README.md"] = text
	}
	return nil
}
