// Package crds prints CustomResourceDefinitions from the Go types of the
// operators and the kubebuilder markers on them.
//
// controller-gen does the printing. What is done here is to hold the result
// against what the Controller declares, and to cut the text of the embedded
// types of Kubernetes: a PodTemplateSpec with it is 316,874 bytes long, and
// kubectl apply keeps a copy of the object in an annotation, of which there may
// be 262,144.
package crds

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/internal/crd"
	"github.com/operetta-dev/operetta/internal/lab/write/manifests"
	"github.com/operetta-dev/operetta/metacontroller"
)

// controllerGen is the newest release built with the Kubernetes types of
// go.mod: a newer one would print unknown fields.
const controllerGen = "sigs.k8s.io/controller-tools/cmd/controller-gen@v0.21.0"

// CRD is the CustomResourceDefinition of one operator.
type CRD struct {
	// ShortNames are kubectl's short names of the kind.
	ShortNames []string
	// HasScale is set where there is a scale subresource.
	HasScale bool
	// YAML is the whole definition.
	YAML []byte
}

// Generate prints the CRD of each Controller, in their order, from the types in some
// packages of the module in dir, in the go command's form (./...). Of a kind whose type
// another module declares it is the CRD that the Controller carries. It runs the go
// command, which downloads controller-gen where it is not in the module cache. A schema or a rule
// that cannot be compiled is an error; package operettatest asks the whole validation of the API server.
func Generate(ctx context.Context, dir string, packages []string, controllers []metacontroller.Controller) ([]CRD, error) {
	module, err := moduleOf(dir)
	if err != nil {
		return nil, err
	}
	printed, err := run(ctx, dir, packages)
	if err != nil {
		return nil, err
	}
	list := make([]CRD, len(controllers))
	for i, c := range controllers {
		if list[i], err = module.definition(c, printed); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name(), err)
		}
		if _, err = crd.Load(list[i].YAML, c.Parent.Version()); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name(), err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(printed)) {
		return nil, fmt.Errorf("%s has the type of a resource that no Controller declares: %s",
			strings.Join(packages, " "), strings.TrimSuffix(name, ".yaml"))
	}
	return list, nil
}

// definition returns the CRD of a Controller, and removes it from the printed
// ones.
func (m module) definition(c metacontroller.Controller, printed map[string][]byte) (CRD, error) {
	if !m.declares(c.ParentType()) {
		if c.CRD == nil {
			return CRD{}, fmt.Errorf("its type is declared in %s, and the Controller carries no CRD: set the field CRD there", c.ParentType().PkgPath())
		}
		text := bytes.TrimPrefix(c.CRD.Text(), []byte(manifests.Header))
		definition, err := check(c, text)
		definition.YAML = text
		return definition, err
	}
	name := fmt.Sprintf("%s_%s.yaml", c.Parent.Group(), c.Parent.Plural)
	text, ok := printed[name]
	if !ok {
		return CRD{}, fmt.Errorf("no type has the markers of a resource %s of the group %s", c.Parent.Plural, c.Parent.Group())
	}
	delete(printed, name)
	return m.finish(c, text)
}

// run returns what controller-gen prints, by file name.
func run(ctx context.Context, dir string, packages []string) (map[string][]byte, error) {
	out, err := os.MkdirTemp("", "operetta-crds-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for controller-gen: %w", err)
	}
	defer func() { _ = os.RemoveAll(out) }()
	args := []string{"run", controllerGen, "crd:generateEmbeddedObjectMeta=true", "output:crd:dir=" + out}
	for _, pattern := range packages {
		args = append(args, "paths="+pattern)
	}
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir = dir
	if output, err := command.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("controller-gen: %w\n%s", err, bytes.TrimSpace(output))
	}
	files, err := fs.Glob(os.DirFS(out), "*.yaml")
	if err != nil {
		return nil, fmt.Errorf("listing what controller-gen printed: %w", err)
	}
	printed := map[string][]byte{}
	for _, file := range files {
		if printed[file], err = os.ReadFile(filepath.Join(out, file)); err != nil {
			return nil, fmt.Errorf("reading what controller-gen printed: %w", err)
		}
	}
	return printed, nil
}

// finish checks a definition against the declaration and cuts its text.
func (m module) finish(c metacontroller.Controller, text []byte) (CRD, error) {
	definition, err := check(c, text)
	if err == nil {
		definition.YAML, err = m.cut(c, text)
		definition.YAML = append([]byte(limits), definition.YAML...)
	}
	return definition, err
}

// check checks a definition against the declaration.
func check(c metacontroller.Controller, text []byte) (CRD, error) {
	var definition apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(text, &definition); err != nil {
		return CRD{}, fmt.Errorf("reading what controller-gen printed: %w", err)
	}
	spec := definition.Spec
	if len(spec.Versions) != 1 {
		return CRD{}, fmt.Errorf("%d versions are marked: there is one Go type, and so one version", len(spec.Versions))
	}
	version := spec.Versions[0]
	if apiVersion := c.Parent.Group() + "/" + version.Name; spec.Names.Kind != c.Parent.Kind || apiVersion != c.Parent.APIVersion {
		return CRD{}, fmt.Errorf("the markers say %s %s, the Controller declares %s %s",
			apiVersion, spec.Names.Kind, c.Parent.APIVersion, c.Parent.Kind)
	}
	if version.Subresources == nil || version.Subresources.Status == nil {
		return CRD{}, fmt.Errorf("there is no status subresource, and without it Metacontroller does not start: add the marker")
	}
	for _, name := range spec.Names.ShortNames {
		if owner, isTaken := crd.OwnerOfShortName(name); isTaken {
			return CRD{}, fmt.Errorf("the short name %s belongs to %s: write another in the marker", name, owner)
		}
	}
	return CRD{ShortNames: spec.Names.ShortNames, HasScale: version.Subresources.Scale != nil}, nil
}

// cut removes the descriptions of foreign types from a definition, and adds
// missing limits.
func (m module) cut(c metacontroller.Controller, text []byte) ([]byte, error) {
	var definition map[string]any
	if err := yaml.Unmarshal(text, &definition); err != nil {
		return nil, fmt.Errorf("reading what controller-gen printed: %w", err)
	}
	spec, _ := definition["spec"].(map[string]any)
	versions, _ := spec["versions"].([]any)
	version, _ := versions[0].(map[string]any)
	schema := member(member(version, "schema"), "openAPIV3Schema")
	boundValues(schema)
	cutter := cutter{module: m}
	cutter.walk(schema, c.ParentType(), "")
	if len(cutter.silent) > 0 {
		slices.Sort(cutter.silent)
		return nil, fmt.Errorf("kubectl explain would have nothing to say about %s: add comments to the fields",
			strings.Join(cutter.silent, ", "))
	}
	spec = member(member(schema, "properties"), "spec")
	completeMetadata(spec)
	completePorts(spec)
	bound(spec, "spec")
	cut, err := yaml.Marshal(definition)
	if err != nil {
		return nil, fmt.Errorf("printing the definition: %w", err)
	}
	return cut, nil
}
