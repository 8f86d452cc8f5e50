package manifests

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operetta-dev/operetta/metacontroller"
)

// AdmissionRules returns the resourceRules of a ValidatingAdmissionPolicy that judges what is
// created and updated of the kinds of the operators' children and, if asked for, of their custom
// resources. They are indented as they stand in the policy.
func AdmissionRules(controllers []metacontroller.Controller, withParents bool) []byte {
	var resources []metacontroller.Resource
	for _, c := range controllers {
		if withParents {
			resources = append(resources, c.Parent)
		}
		for _, child := range c.Children {
			resources = append(resources, child.Resource)
		}
	}
	plurals := pluralsByGroup(resources)
	var rules bytes.Buffer
	for _, group := range slices.Sorted(maps.Keys(plurals)) {
		name := group
		if name == "" {
			name = `""`
		}
		fmt.Fprintf(&rules, "    - apiGroups: [%s]\n      apiVersions: [\"*\"]\n      operations: [CREATE, UPDATE]\n      resources: [%s]\n", name, strings.Join(plurals[group], ", "))
	}
	return rules.Bytes()
}
