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

// NamesIn returns spec.names of a definition in YAML without parsing the rest,
// which is much longer. It returns empty names if the format is another, such
// as JSON.
func NamesIn(text []byte) Names {
	var spec struct {
		Names Names `json:"names"`
	}
	if err := yaml.Unmarshal(specMember(text, "names"), &spec); err != nil {
		return Names{} // errors are reported when the whole definition is read
	}
	return spec.Names
}

// IsClusterIn reports whether spec.scope of a definition in YAML is Cluster. Like
// [NamesIn] it does not parse the rest, and takes no other format.
func IsClusterIn(text []byte) bool {
	var spec struct {
		Scope apiextensionsv1.ResourceScope `json:"scope"`
	}
	return yaml.Unmarshal(specMember(text, "scope"), &spec) == nil && spec.Scope == apiextensionsv1.ClusterScoped
}

// specMember returns the lines of a member of spec in a YAML document.
func specMember(text []byte, name string) []byte {
	var lines []byte
	indent, isSpec := -1, false
	for line := range bytes.Lines(text) {
		bare := bytes.TrimLeft(line, " ")
		if len(bytes.TrimSpace(bare)) == 0 || bare[0] == '#' {
			continue
		}
		depth := len(line) - len(bare)
		switch {
		case lines != nil && depth <= indent:
			return lines
		case lines != nil:
			lines = append(lines, line...)
		case depth == 0:
			isSpec, indent = bytes.HasPrefix(line, []byte("spec:")), -1
		case isSpec && indent < 0, isSpec && depth == indent:
			indent = depth // of the members of spec
			if bytes.HasPrefix(bare, []byte(name+":")) {
				lines = append(lines, line...)
			}
		}
	}
	return lines
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
	return clusterKinds()[schema.GroupKind{Group: group, Kind: kind}]
}

// IsKubernetesGroup reports whether an API group is one of Kubernetes: without a domain,
// or below k8s.io.
func IsKubernetesGroup(group string) bool {
	return !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io")
}
