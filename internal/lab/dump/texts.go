package dump

import (
	"maps"
	"slices"
	"unique"
)

// same returns one of equal texts: names of kinds and labels stand in a dump thousands of times.
func same(text string) string { return unique.Make(text).Value() }

// pairs are the labels of an object: names, each with its value behind it. It is a
// [k8s.io/apimachinery/pkg/labels.Labels] that needs less memory than a map.
type pairs []string

func pairsOf(labels map[string]string) pairs {
	list := make(pairs, 0, 2*len(labels))
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		list = append(list, same(name), same(labels[name]))
	}
	return list
}

// Lookup returns the value of a label, and whether there is one.
func (p pairs) Lookup(name string) (value string, exists bool) {
	for i := 0; i < len(p); i += 2 {
		if p[i] == name {
			return p[i+1], true
		}
	}
	return "", false
}

// Has reports whether there is a label.
func (p pairs) Has(name string) bool {
	_, exists := p.Lookup(name)
	return exists
}

// Get returns the value of a label, or "".
func (p pairs) Get(name string) string {
	value, _ := p.Lookup(name)
	return value
}
