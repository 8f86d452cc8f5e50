package scaffold

import (
	"errors"
	"fmt"
	"go/token"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/operetta-dev/operetta/internal/crd"
	"github.com/operetta-dev/operetta/internal/declaration"
)

// Kind are the names of a new kind.
type Kind struct {
	// Kind is its name, in UpperCamelCase.
	Kind string
	// Group and Version are those of its API. Without a group it has that of the
	// project's other kinds, if they have one.
	Group, Version string
	// ShortName is what kubectl takes for it. Without one it is made from the kind.
	ShortName string
	// Children are the kinds of its children, separated by commas: [DefaultChildren] where it is empty.
	Children string
}

// file is a file of a new kind and its template.
type file struct{ path, template string }

// files are the files of each kind. NAME stands for the kind in lower case, SYNC and CUSTOMIZE for the names
// of its cases.
var files = []file{
	{"hooks/NAME/types.go", "kind/types.go.tmpl"},
	{"hooks/NAME/NAME.go", "kind/kind.go.tmpl"},
	{"hooks/NAME/sync.go", "kind/sync.go.tmpl"},
	{"hooks/NAME/children.go", "kind/children.go.tmpl"},
	{"hooks/NAME/status.go", "kind/status.go.tmpl"},
	{"hooks/NAME/invariants/invariants.go", "kind/invariants.go.tmpl"},
	{"deploy/samples/NAME.yaml", "kind/sample.yaml.tmpl"},
	{"testdata/NAME/sync/SYNC.in.yaml", "kind/sync.yaml.tmpl"},
}

// Files of a kind that observes its main child, and of one with a customize hook.
var (
	observeFile   = file{"hooks/NAME/observe.go", "kind/observe.go.tmpl"}
	customizeFile = file{"testdata/NAME/customize/CUSTOMIZE.in.yaml", "kind/customize.yaml.tmpl"}
)

// customary are files that a kind gets if the project's other kinds have them.
var customary = []file{
	{"hooks/NAME/testdata/rules.yaml", "kind/rules.yaml.tmpl"},
	{"hooks/testdata/explore/NAME.yaml", "kind/explore.yaml.tmpl"},
	{"docs/NAME.md", "kind/page.md.tmpl"},
}

type data struct {
	choice

	Kind, Group, Version, ShortName                        string
	Name, Plural, A, Category, Module, ManagedBy, NameRule string
}

// NewKind returns the files that add a kind to a project: its package, a
// sample, cases, and its lines in the lists of operators. The error says what to write
// instead.
func NewKind(root string, kind Kind) (Plan, error) {
	p := newPlan(root)
	project, err := readProject(root)
	if err != nil {
		return p, err
	}
	if err := kind.complete(project); err != nil {
		return p, err
	}
	if err := project.listIn(p.changed, kind); err != nil {
		return p, err
	}
	return p, p.addKind(kind, project)
}

// listIn adds a kind to the lists of the project.
func (p project) listIn(files map[string][]byte, kind Kind) (err error) {
	for i, l := range lists {
		if files[l.path], err = l.with(p.lists[i], p.module, kind.name()); err != nil {
			return err
		}
	}
	return nil
}

// addKind adds the files of a kind.
func (p Plan) addKind(kind Kind, project project) error {
	chosen, err := childrenOf(kind.Children)
	if err != nil {
		return err
	}
	data := data{
		choice: chosen, ManagedBy: programOf(project.module),
		Kind: kind.Kind, Group: kind.Group, Version: kind.Version, ShortName: kind.ShortName,
		Name: kind.name(), Plural: declaration.PluralOf(kind.Kind), A: article(kind.Kind),
		Category: project.category, Module: project.module,
		NameRule: fmt.Sprintf("metadata.name is also %s: use at most %d lower-case letters, digits and hyphens, beginning with a letter and ending with a letter or digit", chosen.named(), chosen.Longest()),
	}
	all := slices.Concat(files, slices.DeleteFunc(slices.Clone(customary), project.lacks))
	if chosen.Runs() {
		all = append(all, observeFile)
	}
	if chosen.CustomizeCase != "" {
		all = append(all, customizeFile)
	}
	named := strings.NewReplacer("NAME", kind.name(), "SYNC", chosen.SyncCase, "CUSTOMIZE", chosen.CustomizeCase)
	for _, f := range all {
		if err := p.render(named.Replace(f.path), f.template, data); err != nil {
			return err
		}
	}
	return p.check()
}

func (k Kind) name() string { return strings.ToLower(k.Kind) }

func article(kind string) string {
	if strings.ContainsRune("AEIO", rune(kind[0])) {
		return "An"
	}
	return "A"
}

var (
	kindPattern    = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*$`)
	versionPattern = regexp.MustCompile(`^v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?$`)
	shortPattern   = regexp.MustCompile(`^[a-z][a-z0-9]*$`)
)

// occupied are names in lower case that a kind's package cannot have, because
// it imports another of that name, the go command ignores its folder, no import can have it,
// it has a file of that name, or it declares that name.
var occupied = strings.Fields("deploy hooks init internal main metacontroller operator simulation testdata vendor types sync observe children status invariants controller spec")

// complete checks the names of the kind, and fills in missing ones.
func (k *Kind) complete(project project) error {
	switch {
	case !kindPattern.MatchString(k.Kind) || len(k.Kind) > 63:
		return fmt.Errorf("%q is no name of a kind: write it in UpperCamelCase, as in RedisCache", k.Kind)
	case token.IsKeyword(k.name()) || slices.Contains(occupied, k.name()):
		return fmt.Errorf("no package can be called %s for the kind %s: choose another kind, such as My%s", k.name(), k.Kind, k.Kind)
	case slices.Contains(project.kinds, k.name()):
		return fmt.Errorf("the kind %s is there already, in hooks/%s: choose another, or edit that", k.Kind, k.name())
	}
	if k.Group == "" {
		k.Group = project.group
	}
	switch {
	case k.Group == "":
		return errors.New("the API group is missing: write one with --group, in a domain of yours, such as --group cache.example.com")
	case !strings.Contains(k.Group, ".") || len(validation.IsDNS1123Subdomain(k.Group)) > 0:
		return fmt.Errorf("%q is no API group of yours: write a name in a domain of yours, such as --group cache.example.com", k.Group)
	case apihelpers.IsProtectedCommunityGroup(k.Group):
		return fmt.Errorf("%q is a group of the Kubernetes community, whose kinds need an approval there: write a name in a domain of yours, such as --group cache.example.com", k.Group)
	case !versionPattern.MatchString(k.Version):
		return fmt.Errorf("%q is no version: write one such as --version v1alpha1 or --version v1", k.Version)
	}
	if k.ShortName == "" {
		k.ShortName = k.freeShortName(project)
	}
	if owner, isTaken := crd.OwnerOfShortName(k.ShortName); isTaken {
		return fmt.Errorf("the short name %s belongs to %s: write another with --short-name", k.ShortName, owner)
	}
	if !shortPattern.MatchString(k.ShortName) {
		return fmt.Errorf("%q is no short name: write lower-case letters and digits with --short-name", k.ShortName)
	}
	if slices.Contains(project.shortNames, k.ShortName) {
		return fmt.Errorf("another kind in hooks/ has the short name %s: write another with --short-name", k.ShortName)
	}
	return nil
}

// freeShortName returns an unused short name: the capitals of the kind, with
// more letters of its first word if necessary.
func (k Kind) freeShortName(project project) string {
	capitals := ""
	for _, r := range k.Kind[1:] {
		if 'A' <= r && r <= 'Z' {
			capitals += string(r)
		}
	}
	for length := 1; length < len(k.Kind); length++ {
		name := strings.ToLower(k.Kind[:length] + capitals)
		_, isTaken := crd.OwnerOfShortName(name)
		if len(name) > 1 && !isTaken && !slices.Contains(project.shortNames, name) {
			return name
		}
	}
	return k.name()
}
