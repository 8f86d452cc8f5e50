package crd

import (
	"bytes"
	_ "embed" // the lists of names and kinds
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// Names are the names of a kind in its CustomResourceDefinition.
type Names struct {
	Kind       string   `json:"kind"`
	Plural     string   `json:"plural"`
	ShortNames []string `json:"shortNames"`
}

// head is the part of a definition's spec that is short.
type head struct {
	Names Names                         `json:"names"`
	Scope apiextensionsv1.ResourceScope `json:"scope"`
}

// NamesIn returns spec.names of a definition. It returns empty names if there are none or
// the text cannot be read: errors are reported when the whole definition is.
func NamesIn(text []byte) Names { return headIn(text).Names }

// ScopeIn returns spec.scope of a definition, or nothing if that is not known.
func ScopeIn(text []byte) apiextensionsv1.ResourceScope { return headIn(text).Scope }

// headIn returns the head of a definition. Of YAML as controller-gen writes it the versions, which
// are much longer and come last, are not parsed.
func headIn(text []byte) head {
	short, _, _ := bytes.Cut(text, []byte("\n  versions:\n"))
	for _, part := range [][]byte{short, text} {
		var whole struct {
			Spec head `json:"spec"`
		}
		if yaml.Unmarshal(bytes.TrimPrefix(part, []byte("\ufeff")), &whole) == nil && whole.Spec.Names.Kind != "" && whole.Spec.Scope != "" || len(part) == len(text) {
			return whole.Spec
		}
	}
	return head{}
}

// shortNamesText has a short name and the plural of its kind in each line:
// those of the built-in kinds, as `kubectl api-resources` prints them. kubectl
// never uses such a name for a custom resource. The end-to-end tests compare
// the list with a real API server.
//
//go:embed shortnames.txt
var shortNamesText string

// OwnerOfShortName returns the plural of the kind of Kubernetes that has a short name.
func OwnerOfShortName(shortName string) (plural string, isTaken bool) {
	for line := range strings.Lines(shortNamesText) {
		if name, plural, _ := strings.Cut(strings.TrimSpace(line), " "); name == shortName {
			return plural, true
		}
	}
	return "", false
}

// clusterKindsText has a built-in kind that is cluster-scoped in each line: its name
// and group, as `kubectl api-resources --namespaced=false` prints them, and those of
// k8s.io/api that are marked +genclient:nonNamespaced and not served by default. The
// end-to-end tests look for all that a real API server serves.
//
//go:embed clusterkinds.txt
var clusterKindsText string

var clusterKinds = sync.OnceValue(func() map[schema.GroupKind]bool {
	kinds := map[schema.GroupKind]bool{}
	for line := range strings.Lines(clusterKindsText) {
		kinds[schema.ParseGroupKind(strings.TrimSpace(line))] = true
	}
	return kinds
})

// IsClusterKind reports whether a kind is built into Kubernetes and
// cluster-scoped. The group of core kinds is empty.
func IsClusterKind(group, kind string) bool {
	return ScopeOf(group, kind) == apiextensionsv1.ClusterScoped
}

// ScopeOf returns the scope of a kind that is built into Kubernetes, and nothing for
// others. The group of core kinds is empty.
func ScopeOf(group, kind string) apiextensionsv1.ResourceScope {
	switch {
	case clusterKinds()[schema.GroupKind{Group: group, Kind: kind}]:
		return apiextensionsv1.ClusterScoped
	case !strings.Contains(group, ".") || builtInGroups()[group]: // the group of a CRD has a dot
		return apiextensionsv1.NamespaceScoped
	default:
		return ""
	}
}

// builtInGroups returns the built-in groups with a dot. Groups of CRDs may end in k8s.io,
// too, as that of GatewayClass.
var builtInGroups = sync.OnceValue(func() map[string]bool {
	groups := map[string]bool{"coordination.k8s.io": true, "discovery.k8s.io": true, "events.k8s.io": true} // these have no cluster-scoped kind
	for kind := range clusterKinds() {
		groups[kind.Group] = true
	}
	return groups
})
