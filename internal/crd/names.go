package crd

import (
	_ "embed" // the list of names
	"strings"

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
	var lines []string
	indent, isSpec := -1, false
	for line := range strings.Lines(string(text)) {
		bare := strings.TrimLeft(line, " ")
		if bare == "\n" || strings.HasPrefix(bare, "#") {
			continue
		}
		depth := len(line) - len(bare)
		switch {
		case len(lines) > 0 && depth <= indent:
			return namesOf(lines)
		case len(lines) > 0:
			lines = append(lines, line)
		case depth == 0:
			isSpec, indent = strings.HasPrefix(line, "spec:"), -1
		case isSpec && indent < 0, isSpec && depth == indent:
			indent = depth // of the members of spec
			if strings.HasPrefix(bare, "names:") {
				lines = append(lines, line)
			}
		}
	}
	return namesOf(lines)
}

func namesOf(lines []string) Names {
	var spec struct {
		Names Names `json:"names"`
	}
	if err := yaml.Unmarshal([]byte(strings.Join(lines, "")), &spec); err != nil {
		return Names{} // errors are reported when the whole definition is read
	}
	return spec.Names
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
