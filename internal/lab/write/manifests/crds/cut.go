package crds

import (
	"reflect"
	"slices"
	"strings"
)

// cutter walks a schema together with its Go type. It removes the descriptions
// of types of other modules, and lists our fields without one.
type cutter struct {
	module module   // ours
	silent []string // paths of our fields without a description
}

// walk goes on below a schema of type t. The schema's own description belongs
// to the field or list that has it, and is not touched.
func (c *cutter) walk(schema map[string]any, t reflect.Type, path string) {
	if schema == nil { // a field of any content, whose type may have itself as its element
		return
	}
	switch t = pointedTo(t); t.Kind() {
	case reflect.Struct:
		if !c.isOurs(t) {
			below(schema, mute)
			return
		}
		c.fields(member(schema, "properties"), t, path)
	case reflect.Slice, reflect.Array:
		c.element(member(schema, "items"), t.Elem(), path+"[]")
	case reflect.Map:
		c.element(member(schema, "additionalProperties"), t.Elem(), path+"{}")
	default: // has nothing below
	}
}

// element walks the schema of the items of a list or map, whose description is
// that of their type.
func (c *cutter) element(schema map[string]any, t reflect.Type, path string) {
	if !c.isOurs(t) {
		delete(schema, "description")
	}
	c.walk(schema, t, path)
}

func (c *cutter) fields(properties map[string]any, t reflect.Type, path string) {
	for i := range t.NumField() {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" && field.Anonymous {
			c.inline(properties, field.Type, path)
			continue
		}
		schema := member(properties, name)
		if schema == nil || path == "" && name == "metadata" {
			continue // the API server has its own text for an object's metadata
		}
		at := strings.TrimPrefix(path+"."+name, ".")
		if text, _ := schema["description"].(string); text == "" {
			c.silent = append(c.silent, at)
		}
		c.walk(schema, field.Type, at)
	}
}

// inline goes on with the fields of an embedded struct, which stand beside
// those of the struct that embeds it.
func (c *cutter) inline(properties map[string]any, t reflect.Type, path string) {
	t = pointedTo(t)
	if t.Kind() != reflect.Struct { // a map can be embedded, too
		return
	}
	if c.isOurs(t) {
		c.fields(properties, t, path)
		return
	}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if schema := member(properties, name); schema != nil {
			mute(schema)
		}
	}
}

// isOurs reports whether a type, or what it points to, is declared in our
// module. Types without a name are.
func (c *cutter) isOurs(t reflect.Type) bool {
	return c.module.declares(pointedTo(t))
}

// completeMetadata gives each embedded metadata below a schema what controller-gen leaves out:
// creationTimestamp, which templates that were printed by kubectl have as null, and the list type of
// finalizers, for a server-side apply of two equal ones fails.
func completeMetadata(schema map[string]any) {
	fields := member(member(member(schema, "properties"), "metadata"), "properties")
	if finalizers := member(fields, "finalizers"); finalizers != nil && fields["annotations"] != nil { // of metav1, not of somebody else
		fields["creationTimestamp"] = map[string]any{"type": "string", "format": "date-time"}
		finalizers["x-kubernetes-list-type"] = "set"
	}
	below(schema, completeMetadata)
}

// completePorts gives the protocol of each container's port the values that Kubernetes knows, which
// controller-gen leaves out. An empty one is TCP.
func completePorts(schema map[string]any) {
	if keys, _ := schema["x-kubernetes-list-map-keys"].([]any); slices.Equal(keys, []any{"containerPort", "protocol"}) {
		if protocol := member(member(member(schema, "items"), "properties"), "protocol"); protocol["enum"] == nil {
			protocol["enum"] = []any{"TCP", "UDP", "SCTP", ""}
		}
	}
	below(schema, completePorts)
}

// pointedTo returns the type that a pointer leads to, or the type itself.
func pointedTo(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// mute removes the descriptions of a schema and everything below it.
func mute(schema map[string]any) {
	delete(schema, "description")
	below(schema, mute)
}

// below calls visit with each direct subschema. It distinguishes schemas from
// fields with the name of a keyword.
func below(schema map[string]any, visit func(map[string]any)) {
	for _, keyword := range []string{"items", "additionalProperties", "not"} {
		if inner := member(schema, keyword); inner != nil {
			visit(inner)
		}
	}
	for name := range member(schema, "properties") {
		visit(member(member(schema, "properties"), name))
	}
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := schema[keyword].([]any)
		for _, inner := range list {
			if inner, ok := inner.(map[string]any); ok {
				visit(inner)
			}
		}
	}
}

// member returns a member that is an object, or nil.
func member(object map[string]any, name string) map[string]any {
	inner, _ := object[name].(map[string]any)
	return inner
}
