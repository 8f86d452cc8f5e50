// Package objects reads manifests, so that those of one way to install can be
// compared with those of another.
package objects

import (
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"
)

// Object is any object of Kubernetes.
type Object map[string]any

// Parse reads a YAML stream. The keys are kind/namespace/name; two objects that have
// one key are an error.
func Parse(stream []byte) (map[string]Object, error) {
	all := map[string]Object{}
	for document := range strings.SplitSeq("\n"+string(stream), "\n---") {
		var object Object
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			return nil, err
		}
		if len(object) == 0 { // nothing, or a comment
			continue
		}
		if _, found := all[object.key()]; found {
			return nil, fmt.Errorf("%s is there twice", object.key())
		}
		all[object.key()] = object
	}
	return all, nil
}

// Kind returns the kind.
func (o Object) Kind() string {
	kind, _ := o["kind"].(string)
	return kind
}

// Metadata returns the metadata, nil where there is none.
func (o Object) Metadata() map[string]any { return at(o, "metadata") }

// Container returns the first container of a workload, nil where there is none.
func (o Object) Container() map[string]any {
	containers, _ := at(o, "spec", "template", "spec")["containers"].([]any)
	if len(containers) == 0 {
		return nil
	}
	container, _ := containers[0].(map[string]any)
	return container
}

func (o Object) key() string {
	namespace, _ := o.Metadata()["namespace"].(string)
	name, _ := o.Metadata()["name"].(string)
	return o.Kind() + "/" + namespace + "/" + name
}

func at(from map[string]any, path ...string) map[string]any {
	for _, name := range path {
		from, _ = from[name].(map[string]any)
	}
	return from
}
