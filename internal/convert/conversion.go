package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// fields are the members of an object.
type fields = map[string]any

// conversion makes a custom resource of an object, whose members are taken away as they find
// their place.
type conversion struct {
	source       string
	from, object fields
	told         []string // what is "lost: " and "refused: "
}

// convert returns what is made of an object.
func convert(m manifest, all found) []*conversion {
	switch m.content["kind"] {
	case "Task", "ClusterTask":
		return []*conversion{task(m)}
	case "Deployment":
		return []*conversion{deployment(m, all), workload(m)}
	default:
		return []*conversion{workload(m)}
	}
}

func begin(m manifest, apiVersion, kind string) *conversion {
	metadata, spec := fields{}, fields{}
	c := &conversion{
		from:   runtime.DeepCopyJSON(m.content),
		object: fields{"apiVersion": apiVersion, "kind": kind, "metadata": metadata, "spec": spec},
	}
	from := at(c.from, "metadata")
	if prefix, ok := from["generateName"].(string); ok && from["name"] == nil {
		from["name"] = strings.TrimSuffix(prefix, "-")
	}
	c.source = fmt.Sprintf("%s, %s %v", m.file, m.content["kind"], from["name"])
	move(metadata, from, "name namespace labels annotations")
	drop(from, "generateName")
	drop(c.from, "apiVersion kind status")
	return c
}

// loses notes what is left of an object.
func (c *conversion) loses(path string, rest any) {
	switch inner := rest.(type) {
	case nil:
	case fields:
		for _, name := range slices.Sorted(maps.Keys(inner)) {
			c.loses(strings.TrimPrefix(path+"."+name, "."), inner[name])
		}
	default:
		c.told = append(c.told, "lost: "+path)
	}
}

// move takes members of an object that are not null, under their own names or, written
// old:new, others.
func move(to, from fields, names string) {
	for name := range strings.FieldsSeq(names) {
		name, other, isOther := strings.Cut(name, ":")
		if value := from[name]; value != nil && isOther {
			to[other] = value
		} else if value != nil {
			to[name] = value
		}
		delete(from, name)
	}
}

// drop takes away what means nothing to a custom resource.
func drop(from fields, names string) {
	for name := range strings.FieldsSeq(names) {
		delete(from, name)
	}
}

// at returns the object at a path, which is empty where there is none.
func at(object fields, path string) fields {
	if path == "" {
		return object
	}
	for name := range strings.SplitSeq(path, ".") {
		inner, ok := object[name].(fields)
		if !ok {
			return fields{}
		}
		object = inner
	}
	return object
}

// list returns the objects of a list at a path.
func list(object fields, path string) (objects []fields) {
	folder, name, isBelow := strings.Cut(path, ".")
	if isBelow {
		return list(at(object, folder), name)
	}
	items, _ := object[path].([]any)
	for _, item := range items {
		if inner, ok := item.(fields); ok {
			objects = append(objects, inner)
		}
	}
	return objects
}

// add adds objects to a list.
func add(to fields, name string, objects ...fields) {
	items, _ := to[name].([]any)
	for _, object := range objects {
		items = append(items, object)
	}
	if len(items) > 0 {
		to[name] = items
	}
}
