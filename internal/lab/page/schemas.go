package page

import (
	"github.com/operetta-dev/operetta/internal/crd"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Schemas are what the editor completes.
type Schemas struct {
	Kinds []Kind `json:"kinds"`
	// Strangers are objects of somebody else by kind, which want an apiVersion and a name.
	Strangers map[string]map[string]any `json:"strangers"`
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
	schemas := Schemas{Kinds: []Kind{}}
	for _, c := range controllers {
		kind := Kind{APIVersion: c.Parent.APIVersion, Kind: c.Parent.Kind, Schema: map[string]any{}}
		if len(c.CRD) > 0 {
			written, err := crd.Written(c.CRD, c.Parent.Version())
			if err != nil {
				return schemas, err
			}
			kind.Schema = written
		}
		schemas.Kinds = append(schemas.Kinds, kind)
	}
	return schemas, nil
}
