package page

import (
	"strings"

	"github.com/operetta-dev/operetta/internal/crd"
	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Schemas are what the editor completes.
type Schemas struct {
	Kinds []Kind `json:"kinds"`
	// Actions are those for which the page has a button.
	Actions []ActionKind `json:"actions"`
}

// ActionKind is what may be done to an object.
type ActionKind struct {
	Name string `json:"name"`
	// Does says what happens then.
	Does string `json:"does"`
	// Group is who or what does it, and Word says it in a word or three.
	Group string `json:"group"`
	Word  string `json:"word"`
	// Of is parent where it is done to custom resources, pods where it is done to Pods and what controls some,
	// kind where it concerns all objects of a kind, and object otherwise.
	Of string `json:"of"`
	// Kinds are the only ones of its objects, if there are any.
	Kinds []string `json:"kinds,omitempty"`
	// Details are the ways in which it may be done.
	Details []Detail `json:"details,omitempty"`
}

// Detail is one of them.
type Detail struct {
	Name string `json:"name"`
	Does string `json:"does"`
	// OfPods is set where only Pods, and what controls some, can have it.
	OfPods bool     `json:"ofPods,omitempty"`
	Kinds  []string `json:"kinds,omitempty"`
}

// actions returns those with a button. That of edit asks for more.
func actions() (list []ActionKind) {
	for _, k := range player.ActionKinds() {
		if !k.IsFlag || k.Name == "edit" {
			continue
		}
		of := "object"
		switch {
		case k.OfParents:
			of = "parent"
		case k.OfPods:
			of = "pods"
		case !strings.Contains(k.Form, "/"):
			of = "kind"
		}
		action := ActionKind{Name: k.Name, Does: k.Does, Group: k.Group, Word: k.Word, Of: of, Kinds: k.Kinds}
		for _, detail := range k.Details {
			action.Details = append(action.Details, Detail(detail))
		}
		list = append(list, action)
	}
	return list
}

// Kind is a kind of custom resource.
type Kind struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Schema is that of its CustomResourceDefinition.
	Schema map[string]any `json:"schema"`
}

// SchemasOf returns the schemas of operators.
func SchemasOf(controllers []metacontroller.Controller) (Schemas, error) {
	schemas := Schemas{Kinds: []Kind{}, Actions: actions()}
	for _, c := range controllers {
		kind := Kind{APIVersion: c.Parent.APIVersion, Kind: c.Parent.Kind, Schema: map[string]any{}}
		if c.CRD != nil {
			written, err := crd.Written(c.CRD.Text(), c.Parent.Version())
			if err != nil {
				return schemas, err
			}
			kind.Schema = written
		}
		schemas.Kinds = append(schemas.Kinds, kind)
	}
	return schemas, nil
}
