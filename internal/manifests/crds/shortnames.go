package crds

import (
	_ "embed" // the list of names
	"strings"
)

// shortNamesText has a short name and the plural of its kind in each line: those that
// kubectl takes for a kind of Kubernetes' own, as `kubectl api-resources` prints them. It
// never takes such a name for a custom resource. The end-to-end tests compare the list
// with that of a real API server.
//
//go:embed shortnames.txt
var shortNamesText string

// OwnerOf returns the plural of the kind of Kubernetes that has a short name.
func OwnerOf(shortName string) (plural string, isTaken bool) {
	for line := range strings.Lines(shortNamesText) {
		if name, plural, _ := strings.Cut(strings.TrimSpace(line), " "); name == shortName {
			return plural, true
		}
	}
	return "", false
}
