// Package declaration finds mistakes in the declarations of operators.
package declaration

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/operetta-dev/operetta/internal/crd"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Check finds mistakes in the declarations of a program's operators that would
// otherwise show only against Metacontroller or the API server. The error has a
// line for each mistake, which says what to write instead.
func Check(controllers ...metacontroller.Controller) error {
	var all []error
	kinds, shortNames := map[string]string{}, map[string]string{}
	for _, c := range controllers {
		for _, err := range append(mistakes(c), mistakesInScope(c, controllers)...) {
			all = append(all, fmt.Errorf("%s: %w", c.Parent.Kind, err))
		}
		key := c.Parent.Plural + "." + c.Parent.Group()
		if other, twice := kinds[c.Name()]; twice {
			all = append(all, fmt.Errorf("%s: %s and %s have one name, which routes and files have from the kind: give one of the kinds another", c.Parent.Kind, other, key))
		}
		kinds[c.Name()] = key
		for _, name := range crd.NamesIn(c.CRD.Text()).ShortNames {
			if other, twice := shortNames[name]; twice {
				all = append(all, fmt.Errorf("%s: %s has the short name %s, too: give one of the kinds another", c.Parent.Kind, other, name))
			}
			shortNames[name] = c.Parent.Kind
		}
	}
	return errors.Join(all...)
}

func mistakes(c metacontroller.Controller) []error {
	var all []error
	wrong := func(format string, args ...any) { all = append(all, fmt.Errorf(format, args...)) }
	all = append(all, mistakesOfKind(c.Parent)...)
	all = append(all, mistakesInCRD(c)...)
	if !strings.Contains(c.Parent.Group(), ".") {
		wrong("Parent.APIVersion %q has no group with a domain: write one such as example.com/v1", c.Parent.APIVersion)
	}
	if !c.Sync.IsSet() {
		wrong("Sync is missing: write Sync: metacontroller.Sync(sync)")
	}
	seen := map[string]bool{}
	for _, child := range c.Children {
		all = append(all, mistakesOfKind(child.Resource)...)
		switch {
		case child.Update != metacontroller.OnDelete && child.Update != metacontroller.InPlace:
			wrong("child %s: Update is %q: write metacontroller.OnDelete for what is never changed, such as a Pod or a Job, or metacontroller.InPlace", child.Kind, child.Update)
		case child.DecodeAs != nil && child.DecodeAs.Kind() != reflect.Struct:
			wrong("child %s: DecodeAs is %s: write a struct", child.Kind, child.DecodeAs)
		}
		if seen[child.Key()] {
			wrong("child %s stands twice: leave one out", child.Key())
		}
		seen[child.Key()] = true
		if child.SharedName && !c.Customize.IsSet() {
			wrong("child %s shares its name (SharedName), and there is no Customize hook that selects the objects of its name: write one, with metacontroller.ByName", child.Kind)
		}
	}
	for _, related := range c.Related {
		all = append(all, mistakesOfKind(related.Resource)...)
	}
	if len(c.Related) > 0 && !c.Customize.IsSet() {
		wrong("Related is set, and there is no Customize hook that selects any: write one, or leave Related out")
	}
	if c.RelatedInAllNamespaces && len(c.Related) == 0 {
		wrong("RelatedInAllNamespaces is set, and there are no kinds that it could be about: set Related, or leave RelatedInAllNamespaces out")
	}
	if c.OrderedTeardown && !c.Finalize.IsSet() {
		wrong("the field OrderedTeardown is set, and there is no Finalize hook for the order: write one, or leave OrderedTeardown out")
	}
	return all
}

// mistakesInScope returns which children cannot be in the scope of their parent, as far as
// both are known: those of kinds of Kubernetes and of these controllers are.
func mistakesInScope(c metacontroller.Controller, controllers []metacontroller.Controller) []error {
	const cluster, namespaced = apiextensionsv1.ClusterScoped, apiextensionsv1.NamespaceScoped
	var all []error
	parent := crd.ScopeIn(c.CRD.Text())
	for _, child := range c.Children {
		scope := crd.ScopeOf(child.Group(), child.Kind)
		for _, other := range controllers {
			if other.Parent.Group() == child.Group() && other.Parent.Kind == child.Kind {
				scope = crd.ScopeIn(other.CRD.Text())
			}
		}
		switch {
		case scope == cluster && parent == namespaced:
			all = append(all, fmt.Errorf("child %s is cluster-scoped and the parent is not: Metacontroller would never show it to the hook, nor anything delete it. "+
				"Write a kind that lives in a namespace, or make the parent cluster-scoped: scope: Cluster in its CRD", child.Kind))
		case scope == namespaced && parent == cluster:
			all = append(all, fmt.Errorf("child %s lives in a namespace and the parent does not: a hook asks for children in the parent's namespace only. "+
				"Write scope: Namespaced in its CRD", child.Kind))
		}
	}
	return all
}

// mistakesInCRD returns what is wrong with the names in the
// CustomResourceDefinition. It reads only what is cheap to read, because it
// runs whenever the program starts.
func mistakesInCRD(c metacontroller.Controller) []error {
	var all []error
	names := crd.NamesIn(c.CRD.Text())
	if names.Kind != "" && names.Kind != c.Parent.Kind || names.Plural != "" && names.Plural != c.Parent.Plural {
		all = append(all, fmt.Errorf("the CRD defines the kind %s with the plural %s: write the CRD of %s with the plural %s",
			names.Kind, names.Plural, c.Parent.Kind, c.Parent.Plural))
	}
	for _, name := range names.ShortNames {
		if owner, isTaken := crd.OwnerOfShortName(name); isTaken {
			all = append(all, fmt.Errorf("the CRD has the short name %s, which belongs to %s: write another", name, owner))
		}
	}
	return all
}

var (
	kindPattern    = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,62}$`)
	versionPattern = regexp.MustCompile(`^v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?$`)
)

func mistakesOfKind(r metacontroller.Resource) []error {
	if !kindPattern.MatchString(r.Kind) {
		return []error{fmt.Errorf("the Kind %q is no name of a kind: write it as in Deployment", r.Kind)}
	}
	var all []error
	group := r.Group()
	if !versionPattern.MatchString(r.Version()) || strings.HasPrefix(r.APIVersion, "/") || group != "" && len(validation.IsDNS1123Subdomain(group)) > 0 {
		all = append(all, fmt.Errorf("%s: APIVersion %q is no group and version: write it as in apps/v1", r.Kind, r.APIVersion))
	}
	if plural := PluralOf(r.Kind); r.Plural != plural {
		all = append(all, fmt.Errorf("%s: Plural is %q: write %q", r.Kind, r.Plural, plural))
	}
	return all
}

var (
	endsInVowelAndY = regexp.MustCompile(`[aeiou]y$`)
	endsInHiss      = regexp.MustCompile(`(x|z|ch|sh)$`)
)

// PluralOf returns the name of a kind in URLs and in RBAC rules, in lower case
// and in the plural, which [Check] requires as [metacontroller.Resource.Plural]. The guess of
// apimachinery does not know all English words.
func PluralOf(kind string) string {
	switch lower := strings.ToLower(kind); {
	case endsInVowelAndY.MatchString(lower):
		return lower + "s"
	case endsInHiss.MatchString(lower):
		return lower + "es"
	}
	plural, _ := meta.UnsafeGuessKindToResource(apischema.GroupVersionKind{Kind: kind})
	return plural.Resource
}
